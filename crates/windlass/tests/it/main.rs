//! The binary as a user meets it: what it prints and how it exits, and what is left of its work when it is killed.
//!
//! Every test has a home of its own, real sandboxes and scripted models. Waiting is for something that another process
//! says or does; the runner's own deadline is the guard against hanging.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests start the real program, kill it, and wait for it by the real clock"
)]

mod bad_model;
mod cli;
mod crash;
mod docker;
mod golden;
mod postgres;
mod real_agents;
mod real_model;
mod redis;
mod support;
mod threats;
