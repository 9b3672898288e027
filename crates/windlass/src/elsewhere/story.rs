//! The story of a task that others work on, as a server tells it: the records that there are, page by page. What is read of them here is
//! read by the rules that read a journal on this machine.

use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_api::RecordList;
use windlass_api::client::Error;
use windlass_domain::{ExecutionId, Seq, Taint, TaskId, Wall};
use windlass_engine::JournalRecord;
use windlass_store::{Position, StoredEvent, StreamId};

use super::far::{Far, explained};
use crate::commands::{Errand, Subject};

/// One of a stream of events.
#[derive(Debug, Deserialize)]
struct Told {
    position: u64,
    at: String,
    stream: String,
    kind: String,
    version: u16,
    data: Box<RawValue>,
}

#[derive(Debug, Deserialize)]
struct Meant {
    task_id: Option<TaskId>,
    execution_id: Option<ExecutionId>,
}

impl Far {
    /// What is meant by a name, or without one.
    pub async fn subject(&self, named: Option<String>) -> anyhow::Result<Subject> {
        let meant: Meant = self.answer(Errand::Subject(named)).await.map_err(explained)?;
        match (meant.task_id, meant.execution_id) {
            (Some(task), _) => Ok(Subject::Task(task)),
            (None, Some(execution)) => Ok(Subject::Execution(execution)),
            (None, None) => Err(explained(self.another_version("it names neither a task nor an execution"))),
        }
    }

    /// None where it is of a journal that tells no story: a card's, a conversation's.
    pub fn record(&self, text: &str) -> Result<Option<JournalRecord>, Error> {
        let told: Told = serde_json::from_str(text).map_err(|error| self.another_version(&error.to_string()))?;
        let (kind, id) = told.stream.split_once('/').unwrap_or_default();
        let row = StoredEvent {
            position: Position(told.position),
            stream: StreamId::new(kind, id),
            seq: Seq(0),
            kind: told.kind,
            version: told.version,
            data: told.data.get().to_owned(),
            // As little as can be believed: nobody here decides by it.
            taint: Taint::External,
            at: Wall::from_rfc3339(&told.at).map_err(|_| self.another_version("a time that is none"))?,
        };
        JournalRecord::read(row).map_err(|error| self.another_version(&error.to_string()))
    }

    /// All that is there after this position, and the last that was looked at.
    pub async fn story_after(&self, subject: Subject, after: u64) -> Result<(Vec<JournalRecord>, u64), Error> {
        let place = match subject {
            Subject::Task(task) => format!("/v1/tasks/{task}/records"),
            Subject::Execution(execution) => format!("/v1/executions/{execution}/journal"),
        };
        let mut records = Vec::new();
        let mut last = after;
        loop {
            let page: RecordList = self.client.get(&format!("{place}?limit=500&cursor={last}")).await?;
            for record in &page.records {
                last = record.position;
                records.extend(self.record(&serde_json::json!(record).to_string())?);
            }
            if page.next.is_none() {
                return Ok((records, last));
            }
        }
    }
}
