//! What happened, in order, and what was in the store in the end. It is written down outside every process: nobody who
//! dies, stops or errs can take anything of it back.

use std::collections::BTreeMap;
use std::time::Duration;

use windlass_domain::approval::{CardId, Verdict};
use windlass_domain::plan::AtomId;
use windlass_domain::{ExecutionId, RequestId, TaskId, Tenant};
use windlass_store::chain::Verified;
use windlass_store::{Commit, Committed, StoredEvent, StoredMessage};

use crate::engines::plan::{EnginePlan, Wish};
use crate::executor::ProcessId;
use crate::fuse::Point;
use crate::ledger::Entry;
use crate::queues::Blow;

#[derive(Debug, Clone)]
pub struct EngineRecord {
    /// On the world's clock, which nobody can set.
    pub at: Duration,
    /// How often the world had changed by then.
    pub change: u64,
    pub process: ProcessId,
    pub what: EngineWhat,
}

#[derive(Debug, Clone)]
pub enum EngineWhat {
    Started {
        worker: u8,
    },
    /// As the process asked for it, whatever the store was given, and what the process was told.
    Committed(Box<(Commit, Committed)>),
    /// A client was told that its job is this task.
    Submitted {
        job: u8,
        task: TaskId,
    },
    /// A person was told that their answer counts.
    Answered {
        card: CardId,
        task: TaskId,
        command: String,
        verdict: Verdict,
    },
    /// A person was told that it does not.
    Refused {
        card: CardId,
        why: String,
    },
    /// A person was told that what they said to a question was taken in, and whether as its answer.
    Replied {
        task: TaskId,
        question: RequestId,
        words: String,
        counts: bool,
    },
    /// Somebody was told that their wish is heard of.
    Told {
        task: TaskId,
        wish: Wish,
        words: String,
    },
    /// Somebody was told that what was agreed on has begun.
    Begun {
        task: TaskId,
    },
    /// Somebody was told that it is redirected, and what of what was done is to be done again.
    Redirected {
        task: TaskId,
        words: String,
        undone: Vec<AtomId>,
    },
    /// What was paused is driven again by hand.
    Resumed {
        task: TaskId,
    },
    Suffered {
        worker: u8,
        blow: Blow,
        point: Point,
    },
    /// A commit found no room on the disk.
    NoRoom,
    /// A worker ended with an error, as it may when the disk is full.
    GaveUp(String),
    ClockSet {
        worker: Option<u8>,
        by_millis: i64,
    },
    /// Nothing should lead here.
    Broken(String),
    /// It should have been over long ago.
    TimedOut,
}

#[derive(Debug, Clone)]
pub struct EngineHistory {
    pub plan: EnginePlan,
    pub records: Vec<EngineRecord>,
    pub ledger: Vec<Entry>,
    pub tenants: Vec<EngineTenantEnd>,
    /// Executions that a process ran while it was running them already.
    pub run_twice: Vec<(ProcessId, ExecutionId)>,
    /// The files of each project's user, in the order of the projects.
    pub folders: Vec<BTreeMap<String, String>>,
    /// The folders of attempts that are left.
    pub worktrees: Vec<String>,
    /// How often a task was polled.
    pub polls: u64,
    /// Calls across ports.
    pub calls: u64,
    /// A digest of every call: who, when, where.
    pub trace: u64,
}

/// What a tenant has in the end.
#[derive(Debug, Clone)]
pub struct EngineTenantEnd {
    pub tenant: Tenant,
    pub events: Vec<StoredEvent>,
    pub chain: Verified,
    /// Cards that people are still asked about.
    pub review: Vec<StoredMessage>,
    pub timers: usize,
    pub tasks: Vec<TaskEnd>,
}

/// What is left of a task beside its journal.
#[derive(Debug, Clone)]
pub struct TaskEnd {
    pub task: TaskId,
    pub mailbox: Vec<StoredMessage>,
    /// In the executor's queue.
    pub messages: Vec<StoredMessage>,
    /// By somebody who lives.
    pub is_leased: bool,
    pub has_sandbox: bool,
}
