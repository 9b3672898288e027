//! `kill -9` of the real binary, at every named point and at random instants, and what a plain `resume` makes of it.
//!
//! A *scenario* is a script and a workspace. Its *outcome* is what is left when it is over: exit code, journal, files, and
//! the ledger that counts effects outside Windlass. A *trial* kills it once or more and lets it end; the *verdict* compares
//! its outcome with that of a run that nobody killed. The `control` tests show that the verdict bites.

mod children;
mod controls;
mod forks;
mod kills;
mod outcome;
mod points;
mod random;
mod scenario;
mod trial;
mod verdict;
mod workers;

pub use scenario::{SCENARIOS, Scenario};
pub use verdict::calls as calls_amiss;
