//! Records of journals, as they are told.

use serde_json::Value;
use windlass_api::{Activity, Record, RecordList, SurfaceWord};
use windlass_engine::{FeedEvent, Looked, StoryPage, Surface, surfaces_of};

pub fn told(page: StoryPage) -> RecordList {
    let record = |row: windlass_engine::StoredEvent| Record {
        position: row.position.0,
        at: row.at.to_rfc3339(),
        stream: row.stream.to_string(),
        surfaces: in_words(surfaces_of(&row)),
        kind: row.kind,
        version: row.version,
        data: serde_json::from_str(&row.data).unwrap_or(Value::Null),
    };
    let next = page.next.map(|position| position.to_string());
    RecordList { records: page.rows.into_iter().map(record).collect(), next }
}

pub fn looked_back(page: Looked) -> Activity {
    let record = |event: FeedEvent| Record {
        position: event.position,
        at: event.at.to_rfc3339(),
        stream: format!("{}/{}", event.about, event.id),
        surfaces: in_words(event.surfaces()),
        kind: event.kind,
        version: event.version,
        data: serde_json::from_str(&event.data).unwrap_or(Value::Null),
    };
    let next = page.next.map(|position| position.to_string());
    Activity { records: page.events.into_iter().map(record).collect(), next, last: page.last }
}

fn in_words(surfaces: &[Surface]) -> Vec<SurfaceWord> {
    let word = |surface: &Surface| match surface {
        Surface::Stream => SurfaceWord::Stream,
        Surface::Review => SurfaceWord::Review,
        Surface::Activity => SurfaceWord::Activity,
    };
    surfaces.iter().map(word).collect()
}
