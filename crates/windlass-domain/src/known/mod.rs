//! What is known about a task before anybody works on it (seed 000 §4.1's `TaskContext`, contracts §9): memories that bear on it, how
//! people like things done, and texts that belong to it. It is gathered once, kept in the task's own stream, and told with the goal.

mod relevant;
mod task_context;

pub use relevant::{MOST_RECALLED, is_relevant, telling_words};
pub use task_context::{ContextGathered, ContextItem, ContextSource, ContextWanted, TaskContext};
