//! How a process of the world of engines comes to the store: past its fortune, with every commit on record. A bug of the
//! store is planted here: the store itself is the real one.

use std::sync::Arc;

use windlass_domain::{BoxFuture, Taint};
use windlass_store::{Commit, Committed, DeliveryChange, Error, Reply, Store};

use crate::engines::EngineBug;
use crate::engines::history::EngineWhat;
use crate::engines::misfortune::Misfortune;
use crate::engines::scene::Scene;
use crate::fuse::{Point, Side};
use crate::process::Process;
use crate::store::Passage;

pub struct EnginesPassage {
    pub process: Process,
    pub fortune: Arc<Misfortune>,
    pub scene: Arc<Scene>,
}

impl Passage for EnginesPassage {
    fn pass(&self, point: Point) -> BoxFuture<'_, ()> {
        Box::pin(self.process.pass(point))
    }

    /// The commit and its record are one: in memory the store answers at once.
    fn write<'a>(&'a self, store: &'a dyn Store, commit: Commit) -> Reply<'a, Committed> {
        Box::pin(async move {
            if self.fortune.is_disk_full() {
                self.scene.tell(self.process.id, EngineWhat::NoRoom);
                return Err(Error::DiskFull { path: "disk".into() });
            }
            let bug = self.scene.plan.bug;
            let mut given = commit.clone();
            spoil(bug, &mut given);
            if let Some(early) = split_off(bug, &mut given) {
                store.commit(early).await?;
                self.process.pass(Point::Store("commit", Side::After)).await;
            }
            let is_swallowed = bug == EngineBug::Swallowed && is_answer(&commit);
            let committed = if is_swallowed { Committed::default() } else { store.commit(given).await? };
            self.process.simulation.note_change();
            if !is_swallowed {
                self.scene.note(self.process.id, &commit);
            }
            self.scene.tell(self.process.id, EngineWhat::Committed(Box::new((commit, committed.clone()))));
            Ok(committed)
        })
    }
}

pub fn is_drive(queue: &str) -> bool {
    queue.starts_with("executor")
}

fn has_event(commit: &Commit, kind: &str) -> bool {
    commit.events.iter().any(|event| event.encoded.kind == kind)
}

/// To a card that somebody waits for: what a client signs is decided as it is submitted.
fn is_answer(commit: &Commit) -> bool {
    let is_decided = has_event(commit, "approval.decided") || has_event(commit, "approval.expired");
    is_decided && !has_event(commit, "task.created")
}

fn spoil(bug: EngineBug, commit: &mut Commit) {
    match bug {
        EngineBug::ParksBlindly if !commit.unread.is_empty() => {
            commit.unread.clear();
            commit.expect.retain(|(stream, _)| stream.kind() != "approval");
        }
        EngineBug::WakesNobody if is_answer(commit) => commit.messages.retain(|message| !is_drive(&message.queue)),
        EngineBug::NeverLapses => commit.timers.clear(),
        EngineBug::NoFence => unguarded(commit),
        EngineBug::NoNonce => {
            unguarded(commit);
            commit.nonces.clear();
        }
        // Of calls only: a task whose own use is forgotten is not gone on with.
        EngineBug::UsesForgotten if has_event(commit, "tool.started") => {
            commit.nonces.clear();
            let of_a_use = ["approval.verified", "approval.attached", "approval.checked", "approval.executed"];
            commit.events.retain(|event| !of_a_use.contains(&event.encoded.kind));
        }
        EngineBug::TaintDropped => commit.events.iter_mut().for_each(|event| event.taint = Taint::Owner),
        _ => {}
    }
}

fn unguarded(commit: &mut Commit) {
    commit.fence = None;
    commit.expect.clear();
}

/// What is committed first, by mistake.
fn split_off(bug: EngineBug, commit: &mut Commit) -> Option<Commit> {
    let acks = |change: &DeliveryChange| matches!(change, DeliveryChange::Ack(_));
    let is_split = bug == EngineBug::AckBeforeCommit && !commit.events.is_empty();
    if !is_split || !commit.deliveries.iter().any(acks) {
        return None;
    }
    let mut early = Commit::unfenced(commit.tenant.clone(), commit.at);
    early.deliveries = std::mem::take(&mut commit.deliveries);
    Some(early)
}
