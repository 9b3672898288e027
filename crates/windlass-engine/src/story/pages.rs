//! Pages of a story as records, and what else its index tells: whose journals it has, who worked, what was delivered, what was used.

use std::collections::BTreeSet;

use windlass_domain::execution::{EXPENSES, ExecutionEvent, Expense, OwnerEffect};
use windlass_domain::{ExecutionId, Seq, TaskId, Wall};
use windlass_store::{Position, StoredEvent};

use super::index::{Index, Place, Remarkable, Spent};
use crate::Error;
use crate::engine::Engine;
use crate::follow::{Journal, begun_by_row};

/// Records that are read in one go.
const PAGE: usize = 500;
/// The same for a page that somebody is shown, whose end may come sooner.
const SLICE: u64 = 100;
/// What a page is made of may weigh so much; one record is on it, whatever it weighs.
const HEAVIEST: usize = 4 << 20;
const OWNER_EFFECT: &str = "owner-effect.recorded";

/// Some records of a story.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoryPage {
    /// In the order in which they were committed.
    pub rows: Vec<StoredEvent>,
    /// Where the next page begins: behind this position. None after the last one.
    pub next: Option<u64>,
}

impl Engine {
    /// A page of a task's story: at most so many records, fewer where they are heavy.
    pub async fn task_page(&self, task: TaskId, after: u64, most: usize) -> Result<StoryPage, Error> {
        self.story_page(Journal::Task(task), Position(after), most).await?.ok_or(Error::NoSuchTask(task))
    }

    /// The same of an execution and of the agents it spawned.
    pub async fn execution_page(&self, execution: ExecutionId, after: u64, most: usize) -> Result<StoryPage, Error> {
        let page = self.story_page(Journal::Execution(execution), Position(after), most).await?;
        page.ok_or(Error::NoSuchExecution(execution))
    }

    /// Who worked on a task, and for those who did, by the positions at which they began.
    pub async fn executions_of(&self, task: TaskId) -> Result<Vec<(u64, ExecutionId)>, Error> {
        let known = self.known_of(Journal::Task(task), Index::executions).await?.ok_or(Error::NoSuchTask(task))?;
        Ok(known.into_iter().map(|(began, execution)| (began.0, execution)).collect())
    }

    /// What a task used and when, in the order in which it was committed.
    pub async fn expenses_of(&self, task: TaskId) -> Result<Vec<(Wall, Expense)>, Error> {
        let told = |index: &Index| index.expenses().iter().map(|spent| (spent.at, spent.expense)).collect();
        self.known_of(Journal::Task(task), told).await?.ok_or(Error::NoSuchTask(task))
    }

    /// The records of what a task delivered, and whether there are more.
    pub async fn deliveries(&self, task: TaskId, after: u64, most: usize) -> Result<(Vec<StoredEvent>, bool), Error> {
        let page = |index: &Index| {
            let all = index.deliveries(Position(after));
            (all[..all.len().min(most)].to_vec(), all.len() > most)
        };
        let known = self.known_of(Journal::Task(task), page).await?;
        let (places, has_more) = known.ok_or(Error::NoSuchTask(task))?;
        let mut rows = Vec::with_capacity(places.len());
        for Place { journal, seq, .. } in places {
            let before = Seq(seq.0 - 1);
            rows.extend(self.shared.store.stream(&self.shared.tenant, &journal.stream(), before, 1).await?);
        }
        Ok((rows, has_more))
    }

    /// What is known of a story that is known to its end; none where there is none.
    async fn known_of<T>(&self, root: Journal, look: impl FnOnce(&Index) -> T + Send) -> Result<Option<T>, Error> {
        let mut index = self.shared.stories.hold((self.shared.tenant.clone(), root)).await;
        self.read_on(root, &mut index).await?;
        Ok((!index.is_empty()).then(|| look(&index)))
    }

    async fn story_page(&self, root: Journal, after: Position, most: usize) -> Result<Option<StoryPage>, Error> {
        let stretches = {
            let mut index = self.shared.stories.hold((self.shared.tenant.clone(), root)).await;
            // What was committed stands: whoever reads old pages asks nobody for news.
            if !index.has_more_than(most, after) {
                self.read_on(root, &mut index).await?;
            }
            if index.is_empty() {
                return Ok(None);
            }
            index.stretches(most, after)
        };
        let (mut page, mut weight) = (StoryPage::default(), 0);
        for stretch in stretches {
            let (mut last, end) = (stretch.after, Seq(stretch.after.0 + stretch.records));
            while last < end {
                let missing = (most + 1 - page.rows.len()) as u64;
                let rows = usize::try_from(SLICE.min(end.0 - last.0).min(missing.max(16))).unwrap_or(1);
                let found =
                    self.shared.store.stream(&self.shared.tenant, &stretch.journal.stream(), last, rows).await?;
                // It is not there any more: the store was put back.
                let Some(found_last) = found.last() else { break };
                last = found_last.seq;
                for row in found.into_iter().filter(|row| row.position > after && row.seq <= end) {
                    let is_too_heavy = !page.rows.is_empty() && weight + row.data.len() > HEAVIEST;
                    if page.rows.len() == most || is_too_heavy {
                        page.next = page.rows.last().map(|row| row.position.0);
                        return Ok(Some(page));
                    }
                    weight += row.data.len();
                    page.rows.push(row);
                }
            }
        }
        Ok(Some(page))
    }

    /// All that was committed since the index was made: what is past the tenant's last record when it is looked at waits for the next time.
    async fn read_on(&self, root: Journal, index: &mut Index) -> Result<(), Error> {
        let shared = &self.shared;
        let upto = shared.store.chain_head(&shared.tenant).await?.map_or(Position(0), |head| head.position);
        if upto < index.upto() {
            // The store was put back.
            *index = Index::default();
        }
        if upto == index.upto() {
            return Ok(());
        }
        let mut journals = index.heads(root);
        let mut known: BTreeSet<Journal> = journals.iter().map(|(journal, _)| *journal).collect();
        let (mut news, mut remarkable, mut looked_at) = (Vec::new(), Remarkable::default(), 0);
        while let Some((journal, mut head)) = journals.get(looked_at).copied() {
            looked_at += 1;
            let stream = journal.stream();
            loop {
                let rows = shared.store.stream(&shared.tenant, &stream, head, PAGE).await?;
                let is_last = rows.len() < PAGE || rows.last().is_some_and(|row| row.position > upto);
                for row in rows.into_iter().take_while(|row| row.position <= upto) {
                    head = row.seq;
                    let place = Place { position: row.position, journal, seq: row.seq };
                    if is_delivery(journal, &row)? {
                        remarkable.deliveries.push(place);
                    }
                    let spent = |expense| Spent { position: row.position, at: row.at, expense };
                    remarkable.expenses.extend(expense_of(journal, &row)?.map(spent));
                    journals.extend(
                        begun_by_row(journal, row)?.filter(|begun| known.insert(*begun)).map(|begun| (begun, Seq(0))),
                    );
                    news.push(place);
                }
                if is_last {
                    break;
                }
            }
        }
        journals.into_iter().for_each(|(journal, _)| index.name(journal));
        index.add(news, remarkable, upto);
        Ok(())
    }
}

fn is_delivery(journal: Journal, row: &StoredEvent) -> Result<bool, Error> {
    if row.kind != OWNER_EFFECT || !matches!(journal, Journal::Execution(_)) {
        return Ok(false);
    }
    let event = ExecutionEvent::decode(&row.kind, row.version, &row.data)?;
    Ok(matches!(event, ExecutionEvent::OwnerEffect(OwnerEffect::Delivered { .. })))
}

fn expense_of(journal: Journal, row: &StoredEvent) -> Result<Option<Expense>, Error> {
    if !EXPENSES.contains(&row.kind.as_str()) || !matches!(journal, Journal::Execution(_)) {
        return Ok(None);
    }
    Ok(Expense::of(&ExecutionEvent::decode(&row.kind, row.version, &row.data)?))
}
