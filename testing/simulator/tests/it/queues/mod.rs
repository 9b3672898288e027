//! The world of queues: histories by the thousand, each with its seed; what the rules catch; and how a bad one is told.

mod determinism;
mod histories;
mod planted;
mod shrinking;
mod support;
