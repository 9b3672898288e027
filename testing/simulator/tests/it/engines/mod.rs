//! The world of engines: histories, each with its seed; what the rules catch; and how a bad one is told.

mod determinism;
mod histories;
mod objectives;
mod planted;
mod projects;
mod schedules;
mod shrinking;
mod support;
