//! The documents people and planners write, read into domain values: checks and patterns in YAML, plans in Markdown with front matter. A
//! reader reports every problem it finds at once, each with its line and column, and accepts nothing it does not understand. What
//! is written for people (`objective.md`) can be read again.
//! Nothing here is run or looked up: a check that reads well may still fail, which is for the engine to find out. Time zones have
//! names in documents, and are known here.

mod change;
mod check;
mod document;
mod emit;
mod fields;
mod json;
mod pattern;
mod problem;
mod suggestion;
mod value;
mod yaml;
mod zone;

pub use change::{NoChange, change_of};
pub use check::{FileSeen, Judgement, Observed, Ran, RunEnd, judge, parse_base_case};
pub use document::{
    GateReader, ObjectiveFile, ObjectivePage, one_atom, parse_atom, parse_objective, parse_plan, plan_of,
    write_objective,
};
pub use pattern::{parse_pattern, shipped_patterns};
pub use problem::{Position, Problem, Problems};
pub use zone::{known_zone, offsets, zone_names};
