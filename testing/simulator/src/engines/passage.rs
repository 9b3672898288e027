//! How a process of the world of engines comes to the store: past its fortune, with every commit on record. A bug of the
//! store is planted here: the store itself is the real one.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::{BoxFuture, MessageId, Runtime as _, Taint};
use windlass_store::{
    Commit, Committed, DeliveryChange, Error, NewEvent, NewMessage, Reply, Store, StreamId, TimerChange,
};

use crate::engines::EngineBug;
use crate::engines::history::EngineWhat;
use crate::engines::misfortune::Misfortune;
use crate::engines::scene::Scene;
use crate::fuse::{Point, Side};
use crate::process::Process;
use crate::store::Passage;

/// How long a commit takes where a bug only shows if others are quicker.
const SLOW: Duration = Duration::from_millis(500);

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
            let is_slow = matches!(bug, EngineBug::MergedUnseen | EngineBug::RedirectUnheard);
            if is_slow && has_event(&commit, "atom.ended") {
                // Others end meanwhile.
                self.process.sleep(SLOW).await;
            }
            if let Some(early) = split_off(bug, &mut given) {
                store.commit(early).await?;
                self.process.pass(Point::Store("commit", Side::After)).await;
            }
            let is_swallowed = match bug {
                EngineBug::Swallowed => is_answer(&commit),
                EngineBug::RedirectSwallowed => has_event(&commit, "graph.corrected"),
                _ => false,
            };
            let committed = if is_swallowed { Committed::default() } else { store.commit(given).await? };
            if bug == EngineBug::FoldersLeft {
                leave_folders(&self.scene, &commit);
            }
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
    ["executor", "runtime", "planner"].iter().any(|name| queue.starts_with(name))
}

fn has_event(commit: &Commit, kind: &str) -> bool {
    commit.events.iter().any(|event| event.encoded.kind == kind)
}

/// To a card or question that somebody waits for: what a client signs is decided as it is submitted.
fn is_answer(commit: &Commit) -> bool {
    let decided = ["approval.decided", "approval.expired", "question.answered"];
    let is_decided = decided.iter().any(|kind| has_event(commit, kind));
    is_decided && !has_event(commit, "task.created")
}

fn spoil(bug: EngineBug, commit: &mut Commit) {
    match bug {
        EngineBug::ParksBlindly if !commit.unread.is_empty() => {
            commit.unread.clear();
            commit.expect.retain(|(stream, _)| !matches!(stream.kind(), "approval" | "question"));
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
        EngineBug::BilledTwice => commit.events.iter_mut().for_each(bill_twice),
        EngineBug::AnsweredTwice if has_event(commit, "question.answered") => send_twice(commit),
        EngineBug::ChildrenLeft if has_event(commit, "attempt.ended") => {
            let children = ended_with_it(commit);
            commit.events.retain(|event| !children.contains(&event.stream));
        }
        EngineBug::ChecksBelieved => commit.events.iter_mut().for_each(believe),
        EngineBug::EndWakesNobody if has_event(commit, "atom.ended") => commit.messages.clear(),
        EngineBug::FreeAttempts if has_event(commit, "attempt.started") => {
            commit.nonces.clear();
            commit.expect.retain(|(stream, _)| stream.kind() != "approval");
            commit.events.retain(|event| event.stream.kind() != "approval");
        }
        EngineBug::PlannerBilledTwice => commit.events.iter_mut().for_each(bill_planner_twice),
        EngineBug::EndedTwice => {
            let ends = |event: &&NewEvent| event.encoded.kind == "atom.ended";
            let again: Vec<NewEvent> = commit.events.iter().filter(ends).cloned().collect();
            commit.events.extend(again);
        }
        EngineBug::MergedUnseen | EngineBug::RedirectUnheard if has_event(commit, "atom.ended") => {
            commit.expect.retain(|(stream, _)| stream.kind() != "graph");
        }
        EngineBug::TimersLeft => commit.timers.retain(|change| !matches!(change, TimerChange::Cancel(_))),
        EngineBug::MessagesLeft if has_event(commit, "task.finished") => {
            commit.deliveries.retain(|change| !matches!(change, DeliveryChange::Ack(_)));
        }
        EngineBug::CardsLeft if has_event(commit, "task.finished") => {
            commit.events.retain(|event| event.encoded.kind != "approval.withdrawn");
        }
        EngineBug::FoundTwice if has_event(commit, "research.answered") => send_twice(commit),
        EngineBug::HelpForFree if has_event(commit, "task.finished") => {
            commit.events.retain(|event| event.encoded.kind != "planner.charged");
        }
        EngineBug::DeadlineUntold => commit.messages.retain(|message| message.encoded.kind != "task.time_up"),
        EngineBug::LooksTwice if has_event(commit, "monitor.fired") => send_twice(commit),
        EngineBug::LooksLost if has_event(commit, "monitor.fired") => {
            commit.messages.retain(|message| message.encoded.kind != "task.inject");
        }
        EngineBug::RedirectWakesNobody if has_event(commit, "graph.corrected") => commit.messages.clear(),
        EngineBug::WorkForgotten => commit.events.iter_mut().for_each(|event| {
            change(event, "graph.corrected", |record| record["kept"] = serde_json::json!([]));
        }),
        EngineBug::TaintDropped => commit.events.iter_mut().for_each(|event| event.taint = Taint::Owner),
        _ => {}
    }
}

/// As if whoever ended had not taken its folder away.
fn leave_folders(scene: &Scene, commit: &Commit) {
    for event in commit.events.iter().filter(|event| event.encoded.kind == "task.finished") {
        let folder = scene.data().join("worktrees").join(event.stream.id()).join("1");
        std::fs::create_dir_all(folder).expect("the world has room");
    }
}

fn change(event: &mut NewEvent, kind: &str, change: impl FnOnce(&mut serde_json::Value)) {
    if event.encoded.kind == kind {
        let mut record: serde_json::Value = serde_json::from_str(event.encoded.data.get()).expect("a record is JSON");
        change(&mut record);
        event.encoded.data = serde_json::value::to_raw_value(&record).expect("plain data");
    }
}

fn believe(event: &mut NewEvent) {
    change(event, "checks.recorded", |record| {
        let results = record["results"].as_array_mut().into_iter().flatten();
        results.for_each(|result| result["passed"] = true.into());
    });
}

fn bill_planner_twice(event: &mut NewEvent) {
    change(event, "planner.charged", |record| {
        let used = record["usage"]["total_tokens"].as_u64().unwrap_or_default();
        record["usage"]["total_tokens"] = (2 * used).into();
    });
}

fn bill_twice(event: &mut NewEvent) {
    if event.encoded.kind != "subagent.finished" {
        return;
    }
    let mut bill: serde_json::Value = serde_json::from_str(event.encoded.data.get()).expect("a record is JSON");
    let input = bill["usage"]["input"].as_u64().unwrap_or_default();
    bill["usage"]["input"] = (2 * input).into();
    event.encoded.data = serde_json::value::to_raw_value(&bill).expect("plain data");
}

fn send_twice(commit: &mut Commit) {
    let again = commit.messages.iter().filter(|message| message.queue.starts_with("task/")).cloned();
    let again: Vec<_> = again.map(|message| NewMessage { message_id: beside(message.message_id), ..message }).collect();
    commit.messages.extend(again);
}

/// Another number, made of this one.
fn beside(message: MessageId) -> MessageId {
    let text = message.to_string();
    let (head, last) = text.split_at(text.len() - 1);
    let other = if last == "0" { "1" } else { "0" };
    format!("{head}{other}").parse().expect("still a UUID")
}

/// The executions that end in the same commit as their parent, whose own stream is the last of them.
fn ended_with_it(commit: &Commit) -> Vec<StreamId> {
    let ends = commit.events.iter().filter(|event| event.encoded.kind == "state.changed");
    let mut streams: Vec<StreamId> = ends.map(|event| event.stream.clone()).collect();
    streams.dedup();
    streams.pop();
    streams
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
