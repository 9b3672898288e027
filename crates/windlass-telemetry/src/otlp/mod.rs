//! OpenTelemetry, over HTTP with JSON bodies: spans of executions, model calls and tool calls, and the metrics of the registry. What
//! people and models said is in neither. Nobody waits for a collector: what it does not take in time is dropped and counted.

mod collector;
mod encode;
mod exporter;
mod span;
mod spans;

pub use collector::{Collector, Connection, Dial, NotACollector, Plainly};
pub use exporter::Otlp;
pub use span::Span;
pub use spans::Spans;
