//! What a provider must do to be a store: one suite for all of them. A provider's test opens an empty store for each of
//! `CASES` and runs it; that is all. A case that fails panics with what was expected.

mod blobs;
mod chains;
mod claims;
mod deliveries;
mod expiry;
mod fixture;
mod guards;
mod leases;
mod levels;
mod messages;
mod notifier;
mod places;
mod queues;
mod races;
mod refusals;
mod scene;
mod shared_queues;
mod snapshots;
mod streams;
mod suite;
mod tenants;
mod timers;
mod turns;

pub use suite::{CASES, Case};
