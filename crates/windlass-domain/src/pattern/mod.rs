//! Patterns (seed 003, contracts §8): a kind of task with the steps that lead through it. A `Pattern` is what a document says, a
//! `Tracker` where an execution stands in it, folded from the journal like everything else, and `context_page` what a person,
//! or a model that is asked one decision at a time, reads of it. Nothing here waits or looks at a file: what is around is told.

mod condition;
mod context;
mod definition;
mod record;
mod tracker;

pub use condition::{Around, Condition, Material};
pub use context::{ContextPage, context_page, where_it_stands};
pub use definition::{InputDoc, PathType, Pattern, Step, TokenBudget};
pub use record::{Hint, PatternNudged, PatternStepped, PlaceEnd, Why};
pub use tracker::{Standing, Tracker};
