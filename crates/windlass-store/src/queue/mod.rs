//! Durable queues between roles (seed 001 §2), as verbs over `commit`: a message enters a queue in the commit that decided
//! it, is leased to one consumer at a time, and leaves in the commit that holds what came of it. Nothing here performs a
//! message; nothing here has a deadline of its own, for a delivery lasts as long as its owner's heart beats.
//!
//! `contract` says what may enter, `routing` from whom to where, `place` who may take it; `audit` and `telemetry` are what is told of each hand-over,
//! `refusal` of what was not done.
//! Each other file is one verb.

mod ack;
mod ack_and_lease;
mod audit;
mod backoff;
mod claim;
mod contract;
mod dead_letter;
mod desk;
mod enqueue;
mod enqueue_taken;
mod error;
mod head;
mod heartbeat;
mod lease;
mod nack;
mod place;
mod processed;
mod receive;
mod refusal;
mod routing;
mod sample;
mod take_over;
mod telemetry;

pub use ack_and_lease::Turn;
pub use audit::{Actor, AuditType, RuntimeAuditEvent, audit_stream};
pub use backoff::{FIRST_DELAY, LONGEST_DELAY, delay};
pub use contract::{Invalid, LARGEST_MESSAGE, check};
pub use dead_letter::{drop_letter, retry};
pub use desk::{Consumer, Desk, Leased, MAX_DELIVERIES};
pub use enqueue::{enqueue, follow};
pub use enqueue_taken::enqueue_taken;
pub use error::Error;
pub use nack::Nacked;
pub(crate) use place::{lanes_between, queue_of};
pub use processed::{has_processed, mark_processed};
pub use receive::Door;
pub use refusal::Asked;
pub use routing::{Queue, ROUTES, Route, may_enter, route};
pub use take_over::TakenOver;
pub use telemetry::{QueueTelemetryEvent, Silent, Telemetry, TelemetryName};
