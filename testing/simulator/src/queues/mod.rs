//! The world of queues: many processes of many tenants hand messages to one another through the real queues of the real
//! store, and are killed, stopped, refused and misled while they do. A *plan* is drawn from a seed: who asks for what, and
//! what befalls whom. Its parts, the *acts*, can be taken out one by one, which is how `shrink` makes a bad history short.
//!
//! A *request* of a client is a message; whoever handles a message performs an effect outside, and commits that it has,
//! together with the ack and with what follows, up to three messages in a row. A *history* is the list of what happened,
//! in order; `examine` holds the rules that it must keep, and the switches in `Bug` show that each rule can fail.
//!
//! No engine runs here: workers are small programs over `windlass_store::queue`, so that a violation is the queue's.

mod approvals;
mod bug;
mod consume;
mod draw;
mod errand;
mod examine;
mod handle;
mod history;
mod outside;
mod plan;
mod play;
mod process;
mod scene;
mod shrink;
mod story;
mod worker;

pub use bug::Bug;
pub use examine::examine_queues;
pub use history::{QueueHistory, Record, What};
pub use plan::{Act, Blow, QueuePlan, Request, Return, Work};
pub use play::play_queues;
pub use shrink::shrink;
pub use story::queue_story;
