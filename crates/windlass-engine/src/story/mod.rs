//! Long stories, a page at a time. A story is a task's journals and those of all who work for it, or an execution's and those of the
//! agents it spawned, in the order in which they were committed. Where each record stands is remembered, and not what it says: a page is
//! read from the store, and costs about its own size whatever there is before and behind it.

mod index;
mod pages;
mod standing;
mod turns;

pub(crate) use index::Index;
pub use pages::StoryPage;
pub use standing::ExecutionStanding;
pub(crate) use standing::{KeptExecution, execution_weight};
pub(crate) use turns::KeptOutline;
pub use turns::{ToldTurn, TurnPage};
