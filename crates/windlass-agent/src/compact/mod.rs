//! Compaction (seed 000 §6), the runner's part: when a conversation has grown too long for its model, first old tool results
//! become references, then the agent saves what it will need, then older turns become a summary; what must not be lost stays
//! word for word. `step` says what comes next, from the fold alone; `perform` does it.

mod diagnose;
mod fence;
mod kept;
mod perform;
mod reference;
mod room;
mod segment;
mod step;
mod turns;
mod words;

pub use diagnose::does_not_fit;
pub use room::{Flushes, Room};
pub use segment::Segment;
pub use step::{Circumstances, Step, step};
