//! What the fold keeps of compactions, and how a transcript is rewritten.

use std::sync::Arc;

use super::record::{
    Cleared, CompactionCleared, CompactionFinished, CompactionReason, CompactionSkipped, CompactionStarted, Extent,
    Rewritten,
};
use crate::message::{Message, ToolCall, ToolResult};
use crate::tool_name::is_memory;

pub type Transcript = Vec<Arc<Message>>;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Compactions {
    /// The one that is under way.
    pub open: Option<Cycle>,
    pub finished: u32,
    /// How many tokens the last one left.
    pub left: Option<u64>,
    /// The shortest conversation, by our count, that the provider refused as too long.
    pub overflowed_at: Option<u64>,
    /// How often the transcript was changed other than by adding to it.
    pub rewrites: u32,
    /// What the second message of the transcript says in a model's words.
    pub summary: Option<String>,
    /// How many summaries this execution has been given.
    pub answers: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Cycle {
    pub number: u32,
    pub reason: CompactionReason,
    pub tokens_before: u64,
    /// How far tool results have been replaced by references.
    pub cleared: Option<Extent>,
    pub flush: Option<Flush>,
    pub summaries: Vec<String>,
    /// The first message that no summary tells of.
    pub summarised_to: usize,
    /// How often no summary came of what comes next.
    pub stumbles: u32,
    /// Why it did not fit.
    pub failed: Option<String>,
}

/// The agent's turns for saving what it will need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flush {
    /// Where in the transcript it was told.
    pub from: usize,
    pub answers: u32,
    /// It has said all that it will.
    pub is_over: bool,
    /// Its turns have left the conversation.
    pub is_closed: bool,
}

impl Compactions {
    /// The agent is being given its turns for saving what it will need.
    pub fn flushing(&self) -> Option<&Flush> {
        self.open.as_ref()?.flush.as_ref().filter(|flush| !flush.is_closed)
    }

    /// Where the turns begin: after the message that opened the conversation, and after the summary where there is one.
    pub const fn turns_from(&self) -> usize {
        if self.summary.is_some() { 2 } else { 1 }
    }

    pub(crate) fn start(&mut self, started: &CompactionStarted) {
        if started.reason == CompactionReason::Overflow {
            let before = self.overflowed_at.unwrap_or(u64::MAX);
            self.overflowed_at = Some(before.min(started.tokens_before));
        }
        self.open = Some(Cycle {
            number: started.cycle,
            reason: started.reason,
            tokens_before: started.tokens_before,
            cleared: None,
            flush: None,
            summaries: Vec::new(),
            summarised_to: self.turns_from(),
            stumbles: 0,
            failed: None,
        });
    }

    pub(crate) fn clear(&mut self, cleared: &CompactionCleared, transcript: &mut Transcript) {
        let Some(cycle) = &mut self.open else { return };
        cycle.cleared = Some(cleared.extent);
        cleared.results.iter().for_each(|result| refer(transcript, result));
        self.rewrites += u32::from(!cleared.results.is_empty());
    }

    pub(crate) fn begin_flush(&mut self, from: usize) {
        if let Some(cycle) = &mut self.open {
            cycle.flush = Some(Flush { from, answers: 0, is_over: false, is_closed: false });
        }
    }

    /// A turn of the flush: the last one where it asks for nothing.
    pub(crate) fn hear_turn(&mut self, calls: &[ToolCall]) {
        if let Some(Flush { answers, is_over, is_closed: false, .. }) = self.flush_mut() {
            *answers += 1;
            *is_over |= calls.is_empty();
        }
    }

    /// A turn of the flush that never came. It is not worth another.
    pub(crate) fn miss_turn(&mut self) {
        if let Some(flush) = self.flush_mut() {
            flush.is_over = true;
        }
    }

    pub(crate) fn end_flush(&mut self, transcript: &mut Transcript) {
        let Some(flush) = self.flush_mut() else { return };
        flush.is_closed = true;
        let turns = transcript.split_off(flush.from.min(transcript.len()));
        transcript.extend(without_saving(turns));
        self.rewrites += 1;
    }

    pub(crate) fn hear_summary(&mut self, text: &str, to: usize) {
        self.answers += 1;
        match (&mut self.open, text.trim()) {
            (Some(cycle), "") => cycle.stumbles += 1,
            (Some(cycle), said) => cycle.took(said.to_owned(), to),
            (None, _) => {}
        }
    }

    pub(crate) fn miss_summary(&mut self) {
        if let Some(cycle) = &mut self.open {
            cycle.stumbles += 1;
        }
    }

    pub(crate) fn skip(&mut self, skipped: &CompactionSkipped) {
        if let Some(cycle) = &mut self.open {
            cycle.took(skipped.note.clone(), skipped.to);
        }
    }

    pub(crate) fn finish(&mut self, finished: &CompactionFinished, transcript: &mut Transcript) {
        self.open = None;
        self.finished += 1;
        self.left = Some(finished.tokens_after);
        if let Some(rewritten) = &finished.rewritten {
            *transcript = rewritten.applied_to(transcript);
            self.summary = Some(rewritten.summary.clone());
            self.rewrites += 1;
        }
    }

    pub(crate) fn fail(&mut self, reason: &str) {
        if let Some(cycle) = &mut self.open {
            cycle.failed = Some(reason.to_owned());
        }
    }

    fn flush_mut(&mut self) -> Option<&mut Flush> {
        self.open.as_mut()?.flush.as_mut()
    }
}

impl Cycle {
    fn took(&mut self, summary: String, to: usize) {
        self.summaries.push(summary);
        self.summarised_to = to;
        self.stumbles = 0;
    }
}

impl Rewritten {
    /// The conversation as it is afterwards.
    pub fn applied_to(&self, transcript: &[Arc<Message>]) -> Transcript {
        let text = format!("{}\n\n{}", self.summary, self.kept);
        let task = transcript.first().cloned();
        let recent = transcript.iter().skip(self.keep_from.max(1)).cloned();
        task.into_iter().chain([Arc::new(Message::user(text))]).chain(recent).collect()
    }
}

fn refer(transcript: &mut Transcript, cleared: &Cleared) {
    let is_its = |message: &&mut Arc<Message>| matches!(message.as_ref(), Message::Tool(result) if result.call_id == cleared.call_id);
    if let Some(found) = transcript.iter_mut().find(is_its)
        && let Message::Tool(result) = found.as_ref()
    {
        let content = cleared.reference.clone();
        *found = Arc::new(Message::Tool(ToolResult { content, images: Vec::new(), ..result.clone() }));
    }
}

/// Takes out what the agent was told first, and the turns in which it did nothing but save. What others said meanwhile stays,
/// and so does work.
fn without_saving(turns: Transcript) -> Transcript {
    let mut kept = Transcript::new();
    let mut is_saving = false;
    for message in turns.into_iter().skip(1) {
        let stays = match message.as_ref() {
            Message::User { .. } => true,
            Message::Assistant { calls, .. } => {
                is_saving = calls.iter().all(|call| is_memory(&call.tool));
                !is_saving
            }
            Message::Tool(_) => !is_saving,
        };
        if stays {
            kept.push(message);
        }
    }
    kept
}
