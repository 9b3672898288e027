//! The simulator's own tests, and what it is for: histories with every possible death in them.

mod determinism;
mod eight_hours;
mod engines;
mod executor;
mod misfortunes;
mod planted;
mod queues;
mod stopping;
mod support;
mod sweep;
