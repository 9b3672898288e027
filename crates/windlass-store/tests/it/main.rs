//! The store's integration tests: the conformance suite on every provider, and what is true of SQLite in particular.

mod conformance;
mod dice;
mod disk;
mod executor;
mod power_cut;
mod promise;
