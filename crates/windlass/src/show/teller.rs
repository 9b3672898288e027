//! Whoever tells a running task's story: to a person or to a script.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::{BoxFuture, ErrorDetails, TaskId, TaskResult};
use windlass_engine::{JournalRecord, Watcher};

use super::json::JsonTeller;
use super::terminal::Terminal;
use crate::arguments::Output;

/// For a reader who takes nothing, once the work is over.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hush {
    /// Somebody is asked, while others work.
    WhileAsked,
    Over,
}

pub trait Teller: Watcher {
    /// What was asked for, as it was taken in.
    fn begin(&self, story: &[JournalRecord]);

    /// What had happened before this process took over.
    fn so_far(&self, story: &[JournalRecord]);

    /// Something that happened to a task whose story is read from its journals, because many work on it.
    fn tell(&self, record: &JournalRecord);

    /// Whether somebody sits there who can be asked.
    fn can_ask(&self) -> bool;

    /// Returns when what is said or asked next would be seen.
    fn seen(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Whether what goes on right now is shown.
    fn hush(&self, hush: Hush);

    /// A remark of the program's own.
    fn remark(&self, text: &str);

    /// Time has passed: so much since this process began to work on it.
    fn tick(&self, elapsed: Duration);

    /// The end; a task that finished has told its result already.
    fn end(&self, result: &TaskResult);

    /// This process cannot go on with a task that is not over. What went wrong is said on standard error as well.
    fn cut_off(&self, task: TaskId, result: Option<&TaskResult>, error: &ErrorDetails);
}

/// From now on nothing waits for a reader but the end, and that not for ever.
pub fn teller(output: Output) -> Arc<dyn Teller> {
    super::output::output().set_patience(PATIENCE);
    if output.json { Arc::new(JsonTeller) } else { Arc::new(Terminal::new()) }
}
