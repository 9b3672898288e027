//! What is measured of queues, with seed 001 §2.4's names. It is told after the fact and may be lost; nothing is decided
//! by it.

use std::collections::BTreeMap;

use serde::Serialize;
use windlass_domain::{MessageId, TraceId, Wall};

pub trait Telemetry: Send + Sync {
    fn emit(&self, event: QueueTelemetryEvent);
}

/// For whoever does not measure.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Telemetry for Silent {
    fn emit(&self, _: QueueTelemetryEvent) {}
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TelemetryName {
    QueueDepthSample,
    QueueWaitMs,
    LeaseDurationMs,
    LeaseHeartbeat,
    LeaseExpired,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueueTelemetryEvent {
    pub event_name: TelemetryName,
    pub trace_id: TraceId,
    pub queue_name: String,
    pub message_id: Option<MessageId>,
    pub value: u64,
    pub labels: BTreeMap<String, String>,
    pub created_at: Wall,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_the_seed_s() {
        let event = QueueTelemetryEvent {
            event_name: TelemetryName::QueueDepthSample,
            trace_id: TraceId::new(Wall::default(), 0),
            queue_name: "proxy_queue".into(),
            message_id: None,
            value: 3,
            labels: BTreeMap::new(),
            created_at: Wall::default(),
        };
        let wire = serde_json::to_value(event).expect("plain data");
        let fields: Vec<&str> = wire.as_object().expect("an object").keys().map(String::as_str).collect();
        let mut expected =
            ["event_name", "trace_id", "queue_name", "message_id", "value", "labels", "created_at"].to_vec();
        expected.sort_unstable();
        assert_eq!(fields, expected);
        let names = [
            (TelemetryName::QueueDepthSample, "queue_depth_sample"),
            (TelemetryName::QueueWaitMs, "queue_wait_ms"),
            (TelemetryName::LeaseDurationMs, "lease_duration_ms"),
            (TelemetryName::LeaseHeartbeat, "lease_heartbeat"),
            (TelemetryName::LeaseExpired, "lease_expired"),
        ];
        for (name, written) in names {
            assert_eq!(serde_json::to_value(name).expect("a word"), written);
        }
    }
}
