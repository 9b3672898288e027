//! The engine as a library: a real store and real snapshots in a folder of their own; agents, sandboxes and the clock are
//! what a test says they are.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails where it stands")]

mod approval_state_machine;
mod bad_models;
mod children;
mod clock;
mod contracts_6;
mod coordinator;
mod counted;
mod court;
mod deadlines;
mod events_told;
mod family;
mod fault_injection;
mod forged;
mod forks;
mod from_outside;
mod gate_enforcement;
mod goals;
mod ground;
mod item_gates;
mod item_inputs;
mod keys_elsewhere;
mod killed;
mod known;
mod ladder;
mod last_words;
mod long_histories;
mod memories;
mod monitors;
mod objectives;
mod plan_token;
mod planned;
mod planned_again;
mod protected;
mod purse;
mod questions;
mod races;
mod reports;
mod requests;
mod research;
mod retention;
mod roles;
mod seed_001_8;
mod submitting;
mod support;
mod taint;
mod troubles;
mod turns;
mod unfit;
mod verification;
mod what_was_shown;
mod workers;
mod worktrees;
