//! What goes a while after its task has ended: traces, evidence, artifacts, recordings, homes and blobs. The journal stays, and with it the
//! audit: what happened can be told for ever, only what it weighed is gone. Nothing of a task that is not over is ever touched.

mod blobs;
mod expired;
mod files;
mod prune;

pub(crate) use expired::Expired;
pub use prune::{PruneRun, Pruned};
