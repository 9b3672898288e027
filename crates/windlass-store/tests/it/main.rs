//! The store's integration tests: the conformance suite on every provider, and what is true of SQLite in particular.

#![expect(clippy::print_stdout, reason = "tests say what they counted, for whoever asks to see it")]

mod approval_races;
mod conformance;
mod consumers;
mod dice;
mod disk;
mod executor;
mod faults;
mod halting;
mod model;
mod opening;
mod owner_locks;
mod postgres;
mod power_cut;
mod processes;
mod promise;
mod scratch;
mod seed_001;
mod small_disk;
mod sqlite;
mod sweeping;
mod tampering;
mod upgrade;
