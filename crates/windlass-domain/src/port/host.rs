//! The port between a runner and the engine that owns it. A runner decides nothing about lifecycle, leave or money: it
//! asks, and what the host has committed is what happened.

use std::sync::Arc;

use crate::call::{CallStatus, Intent, Permit, Verdict};
use crate::digest::Digest;
use crate::event::Unreadable;
use crate::execution::{ContextZone, ExecutionState, Launch, Outcome, Rejected, RunnerCommand};
use crate::message::CallId;
use crate::port::{BoxFuture, CancelSignal, Holdings, Look};
use crate::research::ResearchQuestion;
use crate::result::{Deliverable, DeliverableType};

/// The number of a record in its stream, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

/// What carries an execution: the native loop, or an adapter to a foreign agent.
pub trait Runner: Send + Sync {
    fn run(&self, launch: Launch, host: Arc<dyn Host>) -> BoxFuture<'_, Outcome>;
}

pub trait Host: Send + Sync {
    /// The fold of the journal so far. Let go of it before recording: the host then appends in place.
    fn state(&self) -> Arc<ExecutionState>;

    /// Decides these commands, one after the other; they become durable with the next commit. For what has happened
    /// and is followed at once by something that must be committed, so that a step costs two commits: an answer waits
    /// for the leave to run its calls, results wait for the next question.
    fn stage(&self, commands: Vec<RunnerCommand>) -> Result<(), Refused>;

    /// Commits what is staged and what these commands lead to, as one; returns once it is durable. What stands before a
    /// command that is refused is committed all the same.
    fn record(&self, commands: Vec<RunnerCommand>) -> BoxFuture<'_, Result<Seq, Refused>>;

    /// Puts open calls through gates, approval, budget and taint, and commits the outcome with what is staged. One verdict
    /// for each intent, in order.
    fn authorise(&self, intents: Vec<Intent>) -> BoxFuture<'_, Result<Vec<Verdict>, Refused>>;

    fn request(&self, request: HostRequest) -> BoxFuture<'_, Result<HostReply, Refused>>;

    /// Waits until somebody has something to say to the agent, for a program that listens while it works. Dropped, it loses nothing.
    fn listen(&self) -> BoxFuture<'_, ()>;

    /// Commits what was said by now. What the agent has not been told yet is in the state.
    fn take_in(&self) -> BoxFuture<'_, Result<(), Refused>>;

    /// What there is for the agent to read of the work that it is part of.
    fn holdings(&self) -> Holdings;

    /// Reads some of it. What is read is recorded; an error is a sentence for the agent.
    fn look(&self, look: Look) -> BoxFuture<'_, Result<serde_json::Value, String>>;

    /// Keeps `bytes`, secrets taken out; what is returned is what was kept.
    fn blob_put(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<Kept, Refused>>;

    fn blob_get(&self, digest: Digest) -> BoxFuture<'_, Result<Vec<u8>, Refused>>;

    /// For watchers: may be lost, never journaled.
    fn emit(&self, delta: Delta);

    fn cancel(&self) -> CancelSignal;
}

/// A blob as it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    pub digest: Digest,
    pub bytes: Vec<u8>,
}

/// A call that only the host can finish, with the leave to make it: nothing is asked of the host past its gates.
#[derive(Debug)]
pub struct HostRequest {
    pub permit: Permit,
    pub work: HostWork,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostWork {
    /// Let an agent of its own work on this.
    SpawnChild(Spawn),
    /// Keep this file of the workspace as a deliverable.
    Deliver { filepath: String, description: String, kind: DeliverableType },
    /// Look through the memos of the workspace.
    SearchMemo { query: String },
    /// Let somebody look into this; the answer arrives later.
    Research(ResearchQuestion),
    /// Read this as a plan document.
    ValidatePlan { plan_markdown: String },
    /// Show the user these words now.
    TellUser { message: String },
    /// Say what the execution's context holds; without a zone, all of it in short.
    InspectContext { zone: Option<ContextZone> },
    /// Look through what the tenant remembers of earlier tasks; at most so many are told.
    SearchMemory { query: String, limit: usize },
}

/// An agent to be spawned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spawn {
    pub task: String,
    pub label: Option<String>,
    pub timeout_seconds: Option<u64>,
    /// Where its last words are written as well, in the workspace.
    pub write_output_to: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum HostReply {
    Delivered(Deliverable),
    /// How the call ended, and what the model is told of it.
    Answered {
        status: CallStatus,
        content: String,
    },
    /// The call is not over, and nor is what it began: the run comes to rest in this way, and whoever goes on goes on with it.
    Unfinished(Outcome),
    /// What the model is told.
    Told(String),
    /// Not done; the reason is for the model.
    Declined(String),
}

/// Why the host recorded nothing. Each ends the run in its own way.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    #[error("the lease on this execution is held by another process")]
    Fenced,
    /// What this commit relied on has changed. Nothing was written; whoever goes on looks again.
    #[error("something else was written first")]
    Overtaken,
    /// A rule of the operator's ends the run here; the reason is for people and for the next attempt.
    #[error("{0}")]
    Blocked(String),
    #[error(transparent)]
    Rejected(#[from] Rejected),
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    #[error("the store failed: {0}")]
    Store(String),
}

/// What is going on right now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    Text(String),
    Reasoning(String),
    ToolOutput {
        call_id: CallId,
        text: String,
    },
    /// The model will be asked again; why, and after how long.
    Retrying {
        reason: String,
        delay_ms: u64,
    },
}
