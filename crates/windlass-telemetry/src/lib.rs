//! What operators see of running agents: metrics and log lines with the names of seed 000 §16. Both are pure functions of
//! journal records (`observe`), so that what is measured is what happened; `Registry` adds metrics up, and `Endpoint` shows
//! them to Prometheus. Nothing here is truth, nothing is decided by it, and no prompt or answer of a model is in it.

mod endpoint;
mod log_line;
mod metric;
mod observe;
mod prometheus;
mod registry;

pub use endpoint::Endpoint;
pub use log_line::{Format, Level, LogLine};
pub use metric::{Kind, Metric};
pub use observe::{Observed, Seen, TaskLabels};
pub use registry::Registry;
