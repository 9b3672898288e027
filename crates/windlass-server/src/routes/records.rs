//! Records of journals, a page at a time.

use serde_json::Value;
use windlass_api::{Record, RecordList};
use windlass_engine::JournalRecord;

use crate::ask::Page;

pub fn page_of(story: &[JournalRecord], page: Page<u64>) -> RecordList {
    let after = page.after.unwrap_or(0);
    let mut rest = story.iter().map(JournalRecord::row).filter(|row| row.position.0 > after).peekable();
    let mut records = Vec::new();
    while records.len() < page.limit
        && let Some(row) = rest.next()
    {
        records.push(Record {
            position: row.position.0,
            at: row.at.to_rfc3339(),
            stream: row.stream.to_string(),
            kind: row.kind.clone(),
            version: row.version,
            data: serde_json::from_str(&row.data).unwrap_or(Value::Null),
        });
    }
    let next = rest.peek().and_then(|_| records.last()).map(|last| last.position.to_string());
    RecordList { records, next }
}
