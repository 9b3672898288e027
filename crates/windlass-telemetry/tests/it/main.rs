//! What operators see, from records as they stand in a journal.

mod endpoint;
mod logs;
mod metrics;
mod otlp;
mod records;
