//! A task's monitor, as a stream of its own.

use windlass_domain::TaskId;
use windlass_domain::monitor::{MonitorAction, MonitorEvent, MonitorRejected, MonitorState, decide};

use crate::Error;
use crate::engine::Engine;
use crate::stream_journal::{StreamJournal, Streamed};

pub(crate) struct Monitor;

pub(crate) type MonitorJournal = StreamJournal<Monitor>;

impl Streamed for Monitor {
    const KIND: &'static str = "monitor";
    type Id = TaskId;
    type State = MonitorState;
    type Action = MonitorAction;
    type Event = MonitorEvent;
    type Rejected = MonitorRejected;

    fn decide(state: &MonitorState, action: MonitorAction) -> Result<MonitorEvent, MonitorRejected> {
        decide(state, action)
    }

    fn apply(state: &mut MonitorState, event: &MonitorEvent) {
        state.apply(event);
    }

    fn refused(_: TaskId, rejected: MonitorRejected) -> Error {
        Error::Monitor(rejected)
    }
}

impl Engine {
    pub(crate) async fn monitor_journal(&self, task: TaskId) -> Result<MonitorJournal, Error> {
        self.journal_of(task).await
    }

    /// A task's monitor as it stands; as new where it never had one.
    pub async fn monitor(&self, task: TaskId) -> Result<MonitorState, Error> {
        Ok(self.monitor_journal(task).await?.state)
    }
}
