//! Tests that try to break the domain's rules from outside, through its public face only. `notation` is the short way of
//! writing a journal that the tables use; `runs` makes random ones for the properties.

mod approval;
mod approval_notation;
mod call_properties;
mod children;
mod chronicle;
mod compaction;
mod corrections;
mod decide;
mod findings;
mod foreign;
mod garden;
mod goal;
mod golden;
mod graph;
mod halting;
mod journal_format;
mod lifecycle;
mod memory;
mod money;
mod next_move;
mod notation;
mod pattern;
mod properties;
mod runs;
mod states_page;
mod task_decide;
mod task_notation;
mod timeline;
mod trace;
mod trace_rows;
mod troubles;
mod wire;
