//! What operators see of running agents: metrics and log lines with the names of seed 000 §16. Both are pure functions of
//! journal records (`observe`), so that what is measured is what happened; `Registry` adds metrics up, and `Endpoint` shows
//! them to Prometheus, `Otlp` sends them and `Spans` to a collector. Nothing here is truth, nothing is decided by it, and no prompt or answer of a model is in it.

mod body;
mod endpoint;
mod log_line;
mod metric;
mod observe;
mod otlp;
mod prometheus;
mod registry;
mod semantic;

pub use endpoint::{Endpoint, MayLook};
pub use log_line::{Format, Level, LogLine};
pub use metric::{Kind, Metric};
pub use observe::{Observed, Seen, TaskLabels};
pub use otlp::{Collector, Connection, Dial, NotACollector, Otlp, Plainly, Span, Spans};
pub use registry::Registry;
