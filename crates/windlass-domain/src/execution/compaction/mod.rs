//! Compaction (seed 000 §6): how a conversation that grows too long is made shorter and still knows what it must. One cycle
//! goes from `compaction.started` to `compaction.finished` or `compaction.failed`. Every text that the model reads afterwards
//! stands in a record, so that a later Windlass with other words folds an old journal into the same conversation.
//!
//! Here is what happened and what may; when to do which step, and in which words, is the runner's.

mod cycle;
mod decide;
mod record;

pub use cycle::{Compactions, Cycle, Flush, Transcript};
pub use decide::decide_compaction;
pub use record::{
    Cleared, Compaction, CompactionCleared, CompactionFailed, CompactionFinished, CompactionFlushed,
    CompactionFlushing, CompactionReason, CompactionSkipped, CompactionStarted, Extent, Purpose, Rewritten,
};
