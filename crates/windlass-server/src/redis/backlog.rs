//! What was delivered and is not done with, in the order in which it is heeded. An entry waits for every older one of its session, or, where
//! it names none, of its task; whoever has no such thing before it is free, and the one that has waited longest goes first. Entries
//! that another server of the group has are here too, for what waits behind them. Of each entry only its place and its names are kept:
//! what stands in it is read again when its turn has come, so that thousands may wait.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use windlass_domain::{CallerName, Instant};

use super::entry::{Headings, Inlet};

/// With the names, some 30 MB. Beyond them nothing new is read until some are done with.
pub const MOST_KEPT: usize = 100_000;
/// Until it is tried again; twice as long each time.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Where an entry stands among all of them: by its id, which Redis makes of its clock, and by its stream where two have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    millis: u64,
    number: u64,
    pub inlet: Inlet,
}

impl Place {
    pub fn of(inlet: Inlet, id: &str) -> Option<Self> {
        let (millis, number) = id.split_once('-')?;
        Some(Self { millis: millis.parse().ok()?, number: number.parse().ok()?, inlet })
    }

    pub fn id(self) -> String {
        format!("{}-{}", self.millis, self.number)
    }
}

/// What those entries have in common that are heeded one after the other. A command names its session and its task, and a control perhaps
/// the task alone: it waits for the command. A session never waits for another's entries, whatever task those name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    Session(CallerName),
    Task(CallerName),
}

/// What cannot be a name is one that its entry is refused for: nothing waits for it.
pub fn names(headings: &Headings) -> Vec<Name> {
    let name = |text: &Option<String>| text.as_ref().and_then(|text| text.parse().ok());
    let session = name(&headings.session_id).map(Name::Session);
    session.into_iter().chain(name(&headings.task_id).map(Name::Task)).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    Ours,
    /// Another server's: there is nothing to do but to see whether it is still there.
    Anothers,
}

struct Kept {
    whose: Whose,
    names: Vec<Name>,
    due: Instant,
    pause: Duration,
    /// How often it could not be done though its turn had come.
    failures: u32,
    /// It is being heeded, and nothing that happens to its neighbours frees it meanwhile.
    is_taken: bool,
}

#[derive(Default)]
pub struct Backlog {
    kept: BTreeMap<Place, Kept>,
    lines: BTreeMap<Name, BTreeSet<Place>>,
    /// Those that wait for nothing but their time.
    free: BTreeSet<(Instant, Place)>,
}

impl Backlog {
    /// One that is known already may have changed hands.
    pub fn put(&mut self, place: Place, whose: Whose, names: Vec<Name>, now: Instant) {
        let known = self.kept.remove(&place);
        if let Some(known) = &known {
            self.free.remove(&(known.due, place));
        }
        let names = known.map_or(names, |known| known.names);
        for name in &names {
            self.lines.entry(name.clone()).or_default().insert(place);
        }
        self.kept.insert(
            place,
            Kept { whose, names: names.clone(), due: now, pause: FIRST_PAUSE, failures: 0, is_taken: false },
        );
        self.see(place);
        let neighbours: Vec<Place> = names.iter().flat_map(|name| self.first_two(name)).collect();
        neighbours.into_iter().for_each(|neighbour| self.see(neighbour));
    }

    /// Those whose time has come, whoever has waited longest first. Each is said to be done with, or to be tried again.
    pub fn take(&mut self, now: Instant, most: usize) -> Vec<(Place, Whose)> {
        let due: Vec<_> = self.free.iter().take_while(|(due, _)| *due <= now).take(most).copied().collect();
        due.into_iter()
            .filter_map(|free| {
                self.free.remove(&free);
                let kept = self.kept.get_mut(&free.1)?;
                kept.is_taken = true;
                Some((free.1, kept.whose))
            })
            .collect()
    }

    pub fn done(&mut self, place: Place) {
        let Some(kept) = self.kept.remove(&place) else { return };
        self.free.remove(&(kept.due, place));
        for name in kept.names {
            if let Some(line) = self.lines.get_mut(&name) {
                line.remove(&place);
                if line.is_empty() {
                    self.lines.remove(&name);
                }
            }
            for next in self.first_two(&name) {
                self.see(next);
            }
        }
    }

    pub fn again(&mut self, place: Place, now: Instant) {
        if let Some(kept) = self.kept.get_mut(&place) {
            kept.due = now + kept.pause;
            kept.pause = LONGEST_PAUSE.min(kept.pause * 2);
            kept.is_taken = false;
            self.see(place);
        }
    }

    pub fn failed(&mut self, place: Place, now: Instant) {
        if let Some(kept) = self.kept.get_mut(&place) {
            kept.failures += 1;
        }
        self.again(place, now);
    }

    pub fn failures(&self, place: Place) -> u32 {
        self.kept.get(&place).map_or(0, |kept| kept.failures)
    }

    /// Of a stream, those that another has and that are not among these any more.
    pub fn keep_anothers(&mut self, inlet: Inlet, still: &BTreeSet<Place>) {
        for place in self.anothers(inlet) {
            if !still.contains(&place) {
                self.done(place);
            }
        }
    }

    pub fn anothers(&self, inlet: Inlet) -> Vec<Place> {
        let is_it = |place: &Place, kept: &Kept| place.inlet == inlet && kept.whose == Whose::Anothers;
        self.kept.iter().filter(|(place, kept)| is_it(place, kept)).map(|(place, _)| *place).collect()
    }

    pub fn session(&self, place: Place) -> Option<&CallerName> {
        self.kept.get(&place)?.names.iter().find_map(|name| match name {
            Name::Session(session) => Some(session),
            Name::Task(_) => None,
        })
    }

    pub fn knows(&self, place: Place) -> bool {
        self.kept.contains_key(&place)
    }

    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.kept.len() >= MOST_KEPT
    }

    /// When the next one is to be tried.
    pub fn next_due(&self) -> Option<Instant> {
        self.free.first().map(|(due, _)| *due)
    }

    /// Whether it is free has perhaps changed.
    fn see(&mut self, place: Place) {
        let Some(kept) = self.kept.get(&place) else { return };
        let lines = || kept.names.iter().map(|name| &self.lines[name]);
        // The session comes first among the names.
        let is_first = lines().next().is_none_or(|line| line.first() == Some(&place));
        let is_waited_for = kept.whose == Whose::Ours || lines().any(|line| line.len() > 1);
        let free = (kept.due, place);
        match is_first && is_waited_for && !kept.is_taken {
            true => self.free.insert(free),
            false => self.free.remove(&free),
        };
    }

    fn first_two(&self, name: &Name) -> Vec<Place> {
        self.lines.get(name).into_iter().flatten().take(2).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Instant = Instant::since_start(Duration::ZERO);

    fn place(number: u64) -> Place {
        Place { millis: 7, number, inlet: Inlet::TaskCommand }
    }

    fn name(text: &str) -> Name {
        match text.strip_prefix("task ") {
            Some(task) => Name::Task(task.parse().unwrap()),
            None => Name::Session(text.parse().unwrap()),
        }
    }

    /// Each with the names it goes by, apart by commas; those of another server in brackets.
    fn backlog(entries: &[(u64, &str)]) -> Backlog {
        let mut backlog = Backlog::default();
        for (number, text) in entries {
            let bare = text.trim_matches(['[', ']']);
            let whose = if bare == *text { Whose::Ours } else { Whose::Anothers };
            let names = bare.split(',').filter(|text| !text.is_empty()).map(name).collect();
            backlog.put(place(*number), whose, names, START);
        }
        backlog
    }

    fn taken(backlog: &mut Backlog, after: Duration) -> Vec<u64> {
        backlog.take(START + after, usize::MAX).into_iter().map(|(place, _)| place.number).collect()
    }

    const LATER: Duration = Duration::from_secs(10);

    #[test]
    fn one_session_after_the_other_and_all_sessions_beside_each_other() {
        let mut backlog = backlog(&[(1, "a"), (2, "a"), (3, "b"), (4, "a"), (5, "")]);
        assert_eq!(taken(&mut backlog, Duration::ZERO), [1, 3, 5]);
        backlog.again(place(1), START);
        backlog.done(place(3));
        backlog.done(place(5));
        assert!(taken(&mut backlog, Duration::ZERO).is_empty(), "it has its pause");
        assert_eq!(taken(&mut backlog, LATER), [1]);
        backlog.done(place(1));
        assert_eq!(taken(&mut backlog, LATER), [2]);
        backlog.done(place(2));
        assert_eq!(taken(&mut backlog, LATER), [4]);
        backlog.done(place(4));
        assert!(backlog.is_empty() && backlog.lines.is_empty() && backlog.free.is_empty());
    }

    #[test]
    fn an_entry_without_a_session_waits_for_its_task_s_command() {
        let mut backlog = backlog(&[(1, "a,task t"), (2, "task t"), (3, "task u"), (4, "b,task t")]);
        assert_eq!(taken(&mut backlog, LATER), [1, 3, 4]);
        backlog.done(place(1));
        assert_eq!(taken(&mut backlog, LATER), [2]);
    }

    #[test]
    fn what_is_claimed_later_comes_before_what_is_newer() {
        let mut backlog = backlog(&[(5, "a"), (6, "b"), (2, "a")]);
        assert_eq!(taken(&mut backlog, LATER), [2, 6]);
        backlog.done(place(2));
        assert_eq!(taken(&mut backlog, LATER), [5]);
    }

    #[test]
    fn another_s_is_asked_after_only_when_something_waits_for_it() {
        let mut backlog = backlog(&[(1, "[a]"), (2, "[b]"), (3, "b")]);
        assert_eq!(taken(&mut backlog, LATER), [2]);
        backlog.done(place(2));
        assert_eq!(taken(&mut backlog, LATER), [3]);
        backlog.put(place(1), Whose::Ours, Vec::new(), START);
        assert_eq!(backlog.take(START, 9), [(place(1), Whose::Ours)], "claimed, under the names that it had");
        backlog.keep_anothers(Inlet::TaskCommand, &BTreeSet::new());
        assert!(backlog.knows(place(1)) && backlog.knows(place(3)));
    }

    #[test]
    fn who_has_waited_longest_goes_first() {
        let mut backlog = backlog(&[(1, "a"), (2, "b"), (3, "c")]);
        assert_eq!(backlog.take(START, 2).len(), 2);
        backlog.again(place(1), START);
        backlog.again(place(2), START);
        assert_eq!(backlog.take(START + LATER, 2).first().map(|(place, _)| place.number), Some(3));
    }
}
