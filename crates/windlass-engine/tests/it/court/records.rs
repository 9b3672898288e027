//! What was kept: the audit in short, the stations of an approval, the results of calls as the agent heard them.

use windlass_domain::approval::{ApprovalState, CardId};
use windlass_domain::execution::ExecutionEvent;
use windlass_domain::graph::GraphEvent;
use windlass_domain::task::TaskEvent;
use windlass_domain::{Finished, Seq, Taint, TaskId, Tenant};
use windlass_engine::{Engine, JournalRecord};
use windlass_store::queue::{AuditType, Queue};
use windlass_store::{Commit, LeaseName, NewEvent, Position, Store, StoredEvent, StoredMessage, StreamId};

use super::processes::Court;

/// An audit event: what was decided, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Noted {
    pub kind: AuditType,
    pub decision: String,
    pub reason: String,
}

impl Court {
    /// The audit, without messages that changed hands.
    pub fn audit(&self, engine: &Engine) -> Vec<Noted> {
        let page = self.wait(engine.audit(Position(0))).unwrap();
        let handed_over = |kind| matches!(kind, AuditType::Enqueue | AuditType::Dequeue);
        let kept = page.records.into_iter().map(|record| record.event).filter(|event| !handed_over(event.event_type));
        kept.map(|event| Noted {
            kind: event.event_type,
            decision: event.decision.unwrap_or_default(),
            reason: event.reason.unwrap_or_default(),
        })
        .collect()
    }

    /// The audit's decisions in order, as `kind decision`.
    pub fn decisions(&self, engine: &Engine) -> Vec<String> {
        let word = |noted: Noted| format!("{:?} {}", noted.kind, noted.decision).to_lowercase();
        self.audit(engine).into_iter().map(word).collect()
    }

    pub fn rows(&self, stream: &StreamId) -> Vec<StoredEvent> {
        self.wait(self.store.stream(&Tenant::local(), stream, Seq(0), 1_000)).unwrap()
    }

    /// The stations of an approval, without the word before the dot.
    pub fn stations(&self, card: CardId) -> Vec<String> {
        let rows = self.rows(&StreamId::new("approval", card));
        rows.into_iter().map(|row| row.kind.trim_start_matches("approval.").to_owned()).collect()
    }

    pub fn approval(&self, engine: &Engine, card: CardId) -> ApprovalState {
        self.wait(engine.card(card)).unwrap().0
    }

    /// Everything that was written for the task and its executions.
    pub fn story(&self, engine: &Engine, task: TaskId) -> Vec<JournalRecord> {
        self.wait(engine.story(task)).unwrap()
    }

    pub fn execution_events(&self, engine: &Engine, task: TaskId) -> Vec<ExecutionEvent> {
        let event = |record| match record {
            JournalRecord::Execution { event, .. } => Some(*event),
            JournalRecord::Task { .. } | JournalRecord::Graph { .. } => None,
        };
        self.story(engine, task).into_iter().filter_map(event).collect()
    }

    pub fn graph_events(&self, engine: &Engine, task: TaskId) -> Vec<GraphEvent> {
        let event = |record| match record {
            JournalRecord::Graph { event, .. } => Some(*event),
            JournalRecord::Task { .. } | JournalRecord::Execution { .. } => None,
        };
        self.story(engine, task).into_iter().filter_map(event).collect()
    }

    pub fn task_kinds(&self, engine: &Engine, task: TaskId) -> Vec<String> {
        let kind = |record| match record {
            // Not those of tasks that work for it.
            JournalRecord::Task { row, .. } if row.stream == StreamId::new("task", task) => Some(row.kind),
            JournalRecord::Task { .. } => None,
            JournalRecord::Execution { .. } | JournalRecord::Graph { .. } => None,
        };
        self.story(engine, task).into_iter().filter_map(kind).collect()
    }

    /// What the agent was told of its calls, in order.
    pub fn results(&self, engine: &Engine, task: TaskId) -> Vec<Finished> {
        let finished = |event| match event {
            ExecutionEvent::ToolFinished(finished) => Some(finished),
            _ => None,
        };
        self.execution_events(engine, task).into_iter().filter_map(finished).collect()
    }

    pub fn interruptions(&self, engine: &Engine, task: TaskId) -> u32 {
        self.wait(engine.task(task)).unwrap().interruptions
    }

    pub fn is_held(&self, task: TaskId) -> bool {
        let lease = self.wait(self.store.lease(&Tenant::local(), &LeaseName::new("task", task))).unwrap();
        lease.is_some_and(|lease| lease.holder.is_some())
    }

    /// The messages by which somebody is to drive the task.
    pub fn work_for(&self, task: TaskId) -> Vec<StoredMessage> {
        let about = StreamId::new("task", task);
        self.wait(self.store.about(&Tenant::local(), Queue::Executor.name(), &about)).unwrap()
    }

    /// Writes into the store past everybody, as whoever can write to the disk could.
    pub fn forge(&self, stream: &StreamId, encoded: windlass_domain::Encoded) {
        let at = self.wall();
        let mut commit = Commit::unfenced(Tenant::local(), at);
        commit.events.push(NewEvent { stream: stream.clone(), encoded, taint: Taint::Auth, at });
        self.wait(self.store.commit(commit)).unwrap();
    }

    pub fn forge_task(&self, task: TaskId, event: TaskEvent) {
        self.forge(&StreamId::new("task", task), windlass_domain::EventFamily::encode(&event));
    }
}
