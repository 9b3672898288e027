//! The paths that a newcomer takes, the right ones and the wrong ones: exit code, standard output, standard error.

mod answering;
mod asking;
mod assert_shown;
mod attacking;
mod audit;
mod cancelling;
mod cards;
mod choosing;
mod dead_letters;
mod doctor;
mod forging;
mod gates;
mod json;
mod keys;
mod limits;
mod long_runs;
mod looking;
mod memos;
mod pausing;
mod places;
mod questions;
mod resuming;
mod running;
mod scripts;
mod secrets;
mod seen;
mod served;
mod skills;
mod subagents;
mod together;
mod unread;
mod web;
mod workers;
mod wrong_use;

use assert_shown::assert_shown;
