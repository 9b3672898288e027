//! What must be true of every history. Each file is one rule, and a rule answers with complaints: none is good. The rules
//! look at what was asked of the store and what came of it, never at how a queue works inside.

mod approvals;
mod books;
mod done;
mod examination;
mod fairness;
mod labels;
mod ownership;
mod timeliness;

pub use books::Books;
pub use examination::examine_queues;
