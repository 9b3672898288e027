//! How deep a queue is, once per polling tick.

use std::collections::BTreeMap;

use windlass_domain::TraceId;

use crate::queue::telemetry::{QueueTelemetryEvent, TelemetryName};
use crate::queue::{Desk, Error, Queue};
use crate::record::Depth;

impl Desk<'_> {
    /// A sample is about no message; `trace_id` is the sampler's own. A depth of `MOST_COUNTED` is that or more.
    pub async fn sample_depth(&self, queue: Queue, trace_id: TraceId) -> Result<Depth, Error> {
        let depth = self.store.depth(queue.name()).await?;
        self.telemetry.emit(QueueTelemetryEvent {
            event_name: TelemetryName::QueueDepthSample,
            trace_id,
            queue_name: queue.name().to_owned(),
            message_id: None,
            value: depth.ready,
            labels: BTreeMap::from([("leased".to_owned(), depth.leased.to_string())]),
            created_at: self.runtime.wall(),
        });
        Ok(depth)
    }
}
