//! The context of a task and its bounds. Whoever made it, what is kept of it is short, holds nothing that a reader would not see, and says
//! where it comes from.

use serde::{Deserialize, Serialize};

use crate::id::{SessionId, TaskId, Tenant};
use crate::taint::Taint;
use crate::visible::{visible, visible_line};

const MOST_MEMORIES: usize = 8;
const MOST_PREFERENCES: usize = 16;
const MOST_ATTACHMENTS: usize = 8;
/// In characters, of a memory and of a preference.
const LONGEST_NOTE: usize = 2_000;
const LONGEST_ATTACHMENT: usize = 16_000;
const LONGEST_SOURCE: usize = 200;
/// In bytes, of all of it together: a task's first message must leave room for the work.
const MOST_BYTES: usize = 32_768;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskContext {
    /// What earlier work came to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<ContextItem>,
    /// How people like things done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub preferences: Vec<ContextItem>,
    /// Texts that belong to the task, each called what its source says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<ContextItem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextItem {
    pub text: String,
    /// Where it comes from, on one line; nothing, where nobody said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub source: String,
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
}

/// Who said it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextSource {
    /// What the tenant itself remembers.
    Memory,
    /// The operator's context service.
    Service,
}

/// A record of the task's stream, in the commit that begins its first attempt: later attempts, and whoever goes on after a crash, are
/// told the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextGathered {
    pub from: ContextSource,
    #[serde(flatten)]
    pub context: TaskContext,
}

/// Whose context is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextWanted {
    pub tenant: Tenant,
    pub session_id: SessionId,
    pub task_id: TaskId,
    pub goal: String,
}

impl ContextItem {
    /// As an agent is told it.
    pub fn told(&self) -> String {
        if self.source.is_empty() { self.text.clone() } else { format!("{}:\n{}", self.source, self.text) }
    }

    fn bytes(&self) -> usize {
        self.text.len() + self.source.len()
    }

    fn within(self, longest: usize) -> Self {
        let source = cut(&visible_line(self.source.trim()), LONGEST_SOURCE);
        Self { text: cut(&visible(self.text.trim()), longest), source, ..self }
    }
}

impl TaskContext {
    pub const fn is_empty(&self) -> bool {
        self.memories.is_empty() && self.preferences.is_empty() && self.attachments.is_empty()
    }

    /// Of all of it; of nothing there is nothing to distrust.
    pub fn taint(&self) -> Taint {
        self.items().map(|item| item.taint).fold(Taint::Owner, Taint::join)
    }

    /// The same, said by somebody whom nobody vouches for.
    #[must_use]
    pub fn from_outside(mut self) -> Self {
        let all = self.memories.iter_mut().chain(&mut self.preferences).chain(&mut self.attachments);
        all.for_each(|item| item.taint = Taint::External);
        self
    }

    /// The same with each text changed so.
    #[must_use]
    pub fn rewritten(mut self, rewrite: impl Fn(&str) -> String) -> Self {
        for item in self.memories.iter_mut().chain(&mut self.preferences).chain(&mut self.attachments) {
            (item.text, item.source) = (rewrite(&item.text), rewrite(&item.source));
        }
        self
    }

    /// What is kept of it. Those who are named first come first, and how people like things done before all else.
    #[must_use]
    pub fn bounded(self) -> Self {
        let mut left = MOST_BYTES;
        let preferences = bounded(self.preferences, MOST_PREFERENCES, LONGEST_NOTE, &mut left);
        let memories = bounded(self.memories, MOST_MEMORIES, LONGEST_NOTE, &mut left);
        let attachments = bounded(self.attachments, MOST_ATTACHMENTS, LONGEST_ATTACHMENT, &mut left);
        Self { memories, preferences, attachments }
    }

    fn items(&self) -> impl Iterator<Item = &ContextItem> {
        self.memories.iter().chain(&self.preferences).chain(&self.attachments)
    }
}

fn bounded(items: Vec<ContextItem>, most: usize, longest: usize, left: &mut usize) -> Vec<ContextItem> {
    let says_something = |item: &ContextItem| !item.text.is_empty();
    let short = items.into_iter().map(|item| item.within(longest)).filter(says_something);
    let mut kept = Vec::new();
    for item in short.take(most) {
        let Some(rest) = left.checked_sub(item.bytes()) else { continue };
        *left = rest;
        kept.push(item);
    }
    kept
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
