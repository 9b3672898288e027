//! The native loop's rules and words, from outside. What it does under crashes is the simulator's to show.

mod compaction;
mod doom;
mod errors;
mod facts;
mod next;
mod overflow;
mod patterns;
mod prompt;
mod room;
mod speaker;
mod support;
mod tactician;
mod verdicts;
mod waves;
