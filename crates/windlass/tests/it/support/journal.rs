//! The journal of a task as `windlass log --json` prints it, and what can be asked of it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::home::Home;

/// A task's records in the order they were committed; none if there is no task.
#[derive(Debug, Clone, Default)]
pub struct Story {
    pub records: Vec<Value>,
    pub result: Option<Value>,
}

/// A call by the execution that made it and its id there.
pub type CallKey = (String, String);

/// The newest task's story.
pub fn read(home: &Home) -> Story {
    let ended = home.windlass(&["log", "--json"]).run();
    if ended.status.code() == Some(2) && ended.stderr.contains("there are no tasks yet") {
        return Story::default();
    }
    Story::new(ended.expect(0).objects())
}

impl Story {
    pub fn new(mut records: Vec<Value>) -> Self {
        let result = records.pop_if(|last| last["type"] == "result");
        Self { records, result }
    }

    pub fn of(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.records.iter().filter(move |record| record["type"] == kind)
    }

    /// The calls that the model asked for, each with its tool and arguments.
    pub fn asked(&self) -> BTreeMap<CallKey, &Value> {
        let answers = self.of("model.responded");
        answers.flat_map(|record| list(&record["data"]["calls"]).map(move |call| (key(record, call), call))).collect()
    }

    /// How often each call has been given leave, or has got a result.
    pub fn times(&self, kind: &str) -> BTreeMap<CallKey, usize> {
        let mut times = BTreeMap::new();
        self.of(kind).for_each(|record| *times.entry(key(record, &record["data"])).or_default() += 1);
        times
    }

    /// Calls that are never run again and whose outcome is not recorded.
    pub fn once_in_flight(&self) -> BTreeSet<CallKey> {
        let finished = self.times("tool.finished");
        let once = self.of("tool.started").filter(|record| record["data"]["effect"] == "once");
        once.map(|record| key(record, &record["data"])).filter(|call| !finished.contains_key(call)).collect()
    }

    /// Calls whose result is that nobody knows whether they happened.
    pub fn interrupted(&self) -> BTreeSet<CallKey> {
        let finished = self.of("tool.finished").filter(|record| record["data"]["status"] == "interrupted");
        finished.map(|record| key(record, &record["data"])).collect()
    }
}

fn key(record: &Value, data: &Value) -> CallKey {
    let text = |value: &Value| value.as_str().expect("records name their execution and their call").to_owned();
    (text(&record["execution_id"]), text(&data["call_id"]))
}

pub fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
