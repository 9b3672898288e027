//! OpenTelemetry, over HTTP with JSON bodies: spans of executions, model calls and tool calls, and the metrics of the registry. What
//! people and models said is in neither. Nobody waits for a collector: what it does not take in time is dropped and counted.

mod encode;
mod exporter;
mod semantic;
mod span;
mod spans;

pub use exporter::{Collector, NotACollector, Otlp};
pub use span::Span;
pub use spans::Spans;
