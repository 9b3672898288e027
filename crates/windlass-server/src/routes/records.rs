//! Records of journals, as they are told.

use serde_json::Value;
use windlass_api::{Record, RecordList};
use windlass_engine::StoryPage;

pub fn told(page: StoryPage) -> RecordList {
    let record = |row: windlass_engine::StoredEvent| Record {
        position: row.position.0,
        at: row.at.to_rfc3339(),
        stream: row.stream.to_string(),
        kind: row.kind,
        version: row.version,
        data: serde_json::from_str(&row.data).unwrap_or(Value::Null),
    };
    let next = page.next.map(|position| position.to_string());
    RecordList { records: page.rows.into_iter().map(record).collect(), next }
}
