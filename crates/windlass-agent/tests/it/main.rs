//! The native loop's rules and words, from outside. What it does under crashes is the simulator's to show.

mod next;
mod prompt;
mod room;
mod support;
mod verdicts;
mod waves;
