//! Where the records of a story stand, in the order in which they were committed: runs of records that follow each other in one journal.

use std::collections::BTreeMap;

use windlass_domain::execution::Expense;
use windlass_domain::{ExecutionId, Seq, Wall};
use windlass_store::Position;

use crate::follow::Journal;

/// Records in a run at most: so many are read in vain by whoever begins in its midst.
const RUN: u64 = 64;

/// What is known of a story.
#[derive(Default)]
pub struct Index {
    journals: Vec<Known>,
    numbers: BTreeMap<Journal, usize>,
    runs: Vec<Run>,
    /// Where things were delivered.
    deliveries: Vec<Place>,
    /// What was used and when, in that order.
    expenses: Vec<Spent>,
    /// Every record of the story up to here is known.
    upto: Position,
}

struct Known {
    journal: Journal,
    /// 0 for one that was named, and of which nothing is written yet.
    head: Seq,
    /// Of its first record.
    began: Position,
}

struct Run {
    journal: usize,
    first: Seq,
    records: u64,
    last: Position,
}

/// Where a record stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub position: Position,
    pub journal: Journal,
    pub seq: Seq,
}

/// What a record says was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spent {
    pub position: Position,
    pub at: Wall,
    pub expense: Expense,
}

/// What of new records is more than where they stand.
#[derive(Default)]
pub struct Remarkable {
    pub deliveries: Vec<Place>,
    pub expenses: Vec<Spent>,
}

/// Records that follow each other in one journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    pub journal: Journal,
    /// Behind this one.
    pub after: Seq,
    pub records: u64,
}

impl Index {
    pub const fn upto(&self) -> Position {
        self.upto
    }

    /// How far each journal is known; the root alone where nothing is.
    pub fn heads(&self, root: Journal) -> Vec<(Journal, Seq)> {
        match self.journals.is_empty() {
            true => vec![(root, Seq(0))],
            false => self.journals.iter().map(|known| (known.journal, known.head)).collect(),
        }
    }

    /// A journal that may have records by now, or later.
    pub fn name(&mut self, journal: Journal) {
        let number = self.journals.len();
        if *self.numbers.entry(journal).or_insert(number) == number {
            self.journals.push(Known { journal, head: Seq(0), began: Position(0) });
        }
    }

    /// All that there is in named journals between what was known and `upto`, in any order.
    pub fn add(&mut self, mut news: Vec<Place>, remarkable: Remarkable, upto: Position) {
        news.sort_unstable();
        for place in news {
            self.add_one(place);
        }
        let Remarkable { deliveries, expenses } = remarkable;
        self.deliveries.extend(deliveries);
        self.deliveries.sort_unstable();
        self.expenses.extend(expenses);
        self.expenses.sort_unstable_by_key(|spent| spent.position);
        self.upto = upto;
    }

    fn add_one(&mut self, place: Place) {
        let Place { position, journal, seq } = place;
        self.name(journal);
        let number = self.numbers[&journal];
        let known = &mut self.journals[number];
        if known.head == Seq(0) {
            known.began = position;
        }
        known.head = seq;
        match self.runs.last_mut() {
            Some(run) if run.journal == number && run.records < RUN => {
                run.records += 1;
                run.last = position;
            }
            _ => self.runs.push(Run { journal: number, first: seq, records: 1, last: position }),
        }
    }

    pub const fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Whether it is certain that more than so many records are known after a position.
    pub fn has_more_than(&self, most: usize, after: Position) -> bool {
        let mut known = 0;
        // Of the first it is not known how many come before.
        self.runs[self.first_run(after)..].iter().skip(1).any(|run| {
            known += run.records;
            known > most as u64
        })
    }

    /// Where to read so many records after a position, and with them up to a run that come before it.
    pub fn stretches(&self, most: usize, after: Position) -> Vec<Stretch> {
        let (mut stretches, mut records): (Vec<Stretch>, u64) = (Vec::new(), 0);
        let mut begun = None;
        for run in &self.runs[self.first_run(after)..] {
            match stretches.last_mut() {
                Some(last) if begun == Some(run.journal) => last.records += run.records,
                _ => {
                    let journal = self.journals[run.journal].journal;
                    stretches.push(Stretch { journal, after: Seq(run.first.0 - 1), records: run.records });
                }
            }
            begun = Some(run.journal);
            records += run.records;
            if records > most as u64 + RUN {
                break;
            }
        }
        stretches
    }

    fn first_run(&self, after: Position) -> usize {
        self.runs.partition_point(|run| run.last <= after)
    }

    /// By the positions at which they began, and in that order.
    pub fn executions(&self) -> Vec<(Position, ExecutionId)> {
        let began = |known: &Known| match known.journal {
            Journal::Execution(execution) if known.head > Seq(0) => Some((known.began, execution)),
            Journal::Execution(_) | Journal::Task(_) | Journal::Graph(_) => None,
        };
        let mut executions: Vec<_> = self.journals.iter().filter_map(began).collect();
        executions.sort_unstable();
        executions
    }

    pub fn deliveries(&self, after: Position) -> &[Place] {
        &self.deliveries[self.deliveries.partition_point(|place| place.position <= after)..]
    }

    pub fn expenses(&self) -> &[Spent] {
        &self.expenses
    }

    /// About what it takes in memory.
    pub fn weight(&self) -> usize {
        const MAPPED: usize = 64;
        (size_of::<Known>() + MAPPED) * self.journals.len()
            + size_of::<Run>() * self.runs.len()
            + size_of::<Place>() * self.deliveries.len()
            + size_of::<Spent>() * self.expenses.len()
    }
}

#[cfg(test)]
mod tests {
    use windlass_domain::{TaskId, Wall};

    use super::*;

    /// Two journals take turns, three records each time.
    fn places(records: u64) -> Vec<Place> {
        let journal = |turn: u64| match turn % 2 {
            0 => Journal::Task(TaskId::new(Wall::default(), 1)),
            _ => Journal::Execution(ExecutionId::new(Wall::default(), 2)),
        };
        let place = |n: u64| {
            let seq = Seq(n / 6 * 3 + n % 3 + 1);
            Place { position: Position(10 * (n + 1)), journal: journal(n / 3), seq }
        };
        (0..records).map(place).collect()
    }

    #[test]
    fn what_is_read_for_a_page_is_all_of_it_and_little_more() {
        let all = places(600);
        let mut index = Index::default();
        // As it comes: in parts, each in any order.
        for part in all.chunks(70) {
            let upto = part.last().unwrap().position;
            index.add(part.iter().rev().copied().collect(), Remarkable::default(), upto);
        }
        for (at, most) in [(0, 1), (0, 50), (7, 50), (333, 20), (599, 50), (600, 50)] {
            let after = Position(10 * at);
            let rest: Vec<Place> = all.iter().filter(|place| place.position > after).copied().collect();
            let read: Vec<(Journal, Seq)> = index
                .stretches(most, after)
                .iter()
                .flat_map(|stretch| (1..=stretch.records).map(|n| (stretch.journal, Seq(stretch.after.0 + n))))
                .collect();
            let wanted: Vec<(Journal, Seq)> =
                rest.iter().take(most + 1).map(|place| (place.journal, place.seq)).collect();
            let begins = read.iter().position(|place| Some(place) == wanted.first()).unwrap_or(read.len());
            assert_eq!(read.get(begins..begins + wanted.len()), Some(&wanted[..]), "{most} after {at}");
            assert!(read.len() as u64 <= most as u64 + 1 + 2 * RUN, "{} for {most}", read.len());
            assert!(!index.has_more_than(most, after) || rest.len() > most);
        }
        assert!(index.has_more_than(50, Position(0)) && !index.has_more_than(50, Position(5_600)));
    }

    #[test]
    fn a_long_journal_is_known_by_little() {
        let mut index = Index::default();
        let journal = Journal::Execution(ExecutionId::new(Wall::default(), 2));
        let all = (1..=100_000).map(|n| Place { position: Position(n), journal, seq: Seq(n) });
        index.add(all.collect(), Remarkable::default(), Position(100_000));
        assert!(index.weight() < 100_000, "{}", index.weight());
    }
}
