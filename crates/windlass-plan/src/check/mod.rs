//! Checks as people write them (`base_case`, `form`, and `write` the other way round), the refusal of those that prove nothing (`vacuous`), and the rule that
//! decides whether what was seen satisfies one (`judge`).

mod base_case;
mod form;
mod judge;
mod name;
mod path;
mod pattern;
mod shell;
mod vacuous;
mod write;

pub(crate) use base_case::checks;
pub use base_case::parse_base_case;
pub use judge::{FileSeen, Judgement, Observed, Ran, RunEnd, judge};
pub(crate) use path::{path, paths};
pub(crate) use write::written_checks;
