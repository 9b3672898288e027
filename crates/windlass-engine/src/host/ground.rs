//! The ground that an attempt and all who work for it stand on: the labels of the workspace's files as every task, this one
//! included, has left them. What a call may change is claimed in the commit that gives it leave, hence before it is changed,
//! and survives a crash; where a program may have changed anything, the end of the attempt, or its rest, replaces that by what
//! was changed.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_domain::execution::{ExecutionCommand, ExecutionEvent, ExecutionState, ToolStarted};
use windlass_domain::{
    Effect, ExecutionId, GroundEvent, GroundLabelled, GroundSettled, Labels, Reach, Taint, Wall, spill_path,
};
use windlass_policy::taint::result_taint;
use windlass_store::NewEvent;
use windlass_workspace::{Root, SCRATCH_FOLDER, Stamps, WorkspacePath};

use super::execution_host::ExecutionHost;
use crate::Error;
use crate::engine::Shared;
use crate::grounds::{Known, ground_stream, rows_after};

/// More files than this are not named one by one: every later task reads their names.
const MOST_NAMED: usize = 200;

pub struct Ground {
    folder: String,
    by: ExecutionId,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    known: Known,
    /// As `known` has it, of this folder, with what this attempt has claimed since.
    labels: Labels,
    /// The files that this attempt is known to have changed.
    named: Labels,
    /// What it may have made of everything else.
    everything: Option<Everything>,
    /// What results that are too long to be shown may leave in the scratch folder, whatever the call itself may change.
    scratch: Option<Taint>,
    /// How the files stood before a program that is about to run.
    stamps: Option<Arc<Stamps>>,
}

struct Everything {
    taint: Taint,
    /// Taken before any program ran; `None`: nobody knows what was changed.
    before: Option<Arc<Stamps>>,
}

impl Ground {
    pub async fn load(shared: &Shared, folder: &str, by: ExecutionId) -> Result<Arc<Self>, Error> {
        let known = Known::read(shared).await?;
        let mine = known.grounds.claim(folder, by);
        let (everywhere, _) = mine.list();
        let everything = (everywhere > Taint::Auth).then_some(Everything { taint: everywhere, before: None });
        let labels = known.grounds.labels_of(folder);
        let memory = Mutex::new(Memory { known, labels, named: mine, everything, scratch: None, stamps: None });
        Ok(Arc::new(Self { folder: folder.to_owned(), by, memory }))
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn labels(&self) -> Labels {
        self.memory().labels.clone()
    }

    /// What others have claimed by now.
    pub async fn refresh(&self, shared: &Shared) -> Result<(), Error> {
        let head = self.memory().known.head();
        let news = rows_after(shared, head).await?;
        if !news.is_empty() {
            let mut memory = self.memory();
            memory.known.apply(&news)?;
            let labels = memory.known.grounds.labels_of(&self.folder);
            memory.labels.join(&labels);
        }
        Ok(())
    }

    /// Looks at the files before leave is given to calls of which one may change any of them.
    pub async fn stamp(&self, shared: &Shared, commands: &[ExecutionCommand], state: &ExecutionState) {
        let labels = self.labels_for(state);
        let may_change = |command: &ExecutionCommand| match command {
            ExecutionCommand::StartCall { effect: Effect::Once, reach, .. } => {
                reach.can_change_any_file() && stain(reach, state, &labels) > Taint::Auth
            }
            _ => false,
        };
        if self.memory().everything.is_some() || !commands.iter().any(may_change) {
            return;
        }
        let folder = self.folder.clone();
        let look = move || Root::open(folder.as_ref()).and_then(|root| root.stamps()).ok().flatten().map(Arc::new);
        let stamps = shared.blocking(look).await;
        // Whoever else looked did so earlier, and no later than what it looked for.
        let mut memory = self.memory();
        memory.stamps = memory.stamps.take().or(stamps);
    }

    fn labels_for(&self, state: &ExecutionState) -> Labels {
        let mut labels = self.labels();
        labels.join(&state.labels);
        labels
    }

    /// The row that claims what these records say was changed, or may now be; none where that is claimed already.
    pub fn claim(&self, events: &[(ExecutionEvent, Wall)], state: &ExecutionState, now: Wall) -> Option<NewEvent> {
        let known = self.labels_for(state);
        let mut memory = self.memory();
        let before = memory.claimed();
        for (event, _) in events {
            match event {
                ExecutionEvent::ToolStarted(started) => memory.claim_call(started, state, &known),
                ExecutionEvent::CompactionCleared(cleared) => {
                    let saved = cleared.results.iter().filter_map(|result| result.saved_to.as_deref());
                    saved.for_each(|path| memory.named.changed(path, state.taint));
                }
                ExecutionEvent::ToolFinished(finished) if finished.full_output.is_some() => {
                    if let Some(header) = &state.header {
                        memory.named.changed(&spill_path(header.execution_id, &finished.call_id), state.taint);
                    }
                }
                ExecutionEvent::SubagentFinished(child) => {
                    if let Some(left) = &child.left {
                        left.wrote.iter().for_each(|path| memory.named.changed(path, left.taint));
                    }
                }
                _ => {}
            }
        }
        let labels = memory.claimed().beyond(&before);
        memory.labels.join(&labels);
        drop(memory);
        (!labels.is_baseline()).then(|| {
            let claim = GroundLabelled { folder: self.folder.clone(), by: self.by, labels };
            row(&GroundEvent::Labelled(claim), now)
        })
    }

    /// The row that says what was changed, where it was claimed that more might be. Nothing of the family may run.
    pub async fn settle(&self, shared: &Shared) -> Option<NewEvent> {
        let (everything, scratch) = {
            let mut memory = self.memory();
            (memory.everything.take(), memory.scratch.take())
        };
        let settled = match &everything {
            Some(everything) => self.changed_since(shared, everything).await,
            None => scratch.map(|_| Vec::new()),
        };
        let mut memory = self.memory();
        let Some(changed) = settled else {
            (memory.everything, memory.scratch) = (everything, scratch);
            return None;
        };
        let taint = everything.map_or(Taint::Auth, |everything| everything.taint);
        in_few_words(&changed).iter().for_each(|path| memory.named.changed(path, taint));
        let settled = GroundSettled { folder: self.folder.clone(), by: self.by, labels: memory.named.clone() };
        drop(memory);
        Some(row(&GroundEvent::Settled(settled), shared.wall()))
    }

    /// `None` where nobody can say.
    async fn changed_since(&self, shared: &Shared, everything: &Everything) -> Option<Vec<WorkspacePath>> {
        let before = everything.before.clone()?;
        let folder = self.folder.clone();
        let look = move || {
            let after = Root::open(folder.as_ref()).and_then(|root| root.stamps()).ok().flatten();
            after.map(|after| after.changed_since(&before))
        };
        shared.blocking(look).await
    }
}

impl Memory {
    fn claimed(&self) -> Labels {
        let mut claimed = self.named.clone();
        if let Some(everything) = &self.everything {
            claimed.may_all_have_changed(everything.taint);
        }
        if let Some(taint) = self.scratch {
            claimed.changed(SCRATCH_FOLDER, taint);
        }
        claimed
    }

    fn claim_call(&mut self, started: &ToolStarted, state: &ExecutionState, known: &Labels) {
        let ToolStarted { effect, reach, .. } = started;
        let taint = stain(reach, state, known);
        match effect {
            Effect::Probe(probe) => self.named.changed(&probe.path, taint),
            Effect::Once if reach.can_change_any_file() && taint > Taint::Auth => {
                let before = self.stamps.take();
                let everything = self.everything.get_or_insert(Everything { taint, before });
                everything.taint = everything.taint.join(taint);
            }
            Effect::Once | Effect::Read | Effect::Child => {}
        }
        self.scratch = self.scratch.max((taint > Taint::Auth).then_some(taint));
    }
}

impl ExecutionHost {
    /// Nobody runs any more, for now or for good: what was changed is known.
    pub async fn settle_ground(&self) -> Option<NewEvent> {
        self.ground.settle(&self.shared).await
    }
}

/// Each by its name, or, where that would be too many, the folders they are in, as deep down as is few enough; the workspace at
/// worst.
fn in_few_words(changed: &[WorkspacePath]) -> BTreeSet<String> {
    let deepest = changed.iter().map(|path| path.as_path().components().count()).max().unwrap_or_default();
    let down_to = |depth: usize| -> BTreeSet<String> {
        let cut = |path: &WorkspacePath| path.as_path().components().take(depth).collect::<PathBuf>();
        changed.iter().map(|path| cut(path).to_string_lossy().into_owned()).collect()
    };
    let few = (0..=deepest).rev().map(down_to).find(|names| names.len() <= MOST_NAMED);
    few.unwrap_or_default()
}

/// Of what a call that runs may leave in files.
pub fn stain(reach: &Reach, state: &ExecutionState, labels: &Labels) -> Taint {
    state.taint.join(result_taint(reach, state.taint, labels))
}

fn row(event: &GroundEvent, at: Wall) -> NewEvent {
    let taint = match event {
        GroundEvent::Labelled(GroundLabelled { labels, .. }) | GroundEvent::Settled(GroundSettled { labels, .. }) => {
            labels.whole()
        }
        GroundEvent::Cleared(_) => Taint::Auth,
    };
    NewEvent { stream: ground_stream(), encoded: event.encode(), taint, at }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_files_are_told_by_their_folders() {
        let check = |files: &[(usize, &str)], expected: &[&str]| {
            let path = |(count, folder): &(usize, &str)| {
                let folder = (*folder).to_owned();
                (0..*count).map(move |number| WorkspacePath::parse(format!("{folder}{number}")).expect("a path"))
            };
            let changed: Vec<WorkspacePath> = files.iter().flat_map(path).collect();
            assert_eq!(in_few_words(&changed).iter().map(String::as_str).collect::<Vec<_>>(), expected);
        };
        check(&[], &[]);
        check(&[(1, "src/a"), (1, "b")], &["b0", "src/a0"]);
        check(&[(500, "target/debug/deps/x"), (1, "src/lib/a")], &["src/lib/a0", "target/debug/deps"]);
        check(&[(500, "a/x"), (500, "a/b/x")], &["a"]);
        check(&[(500, "x")], &[""]);
    }
}
