//! What a parent is told of an agent it spawned, in the words of seed 000 §9.3.

use windlass_domain::execution::{ChildStatus, ExecutionState, Lifecycle};
use windlass_domain::{CallStatus, Message, grouped};

/// Of the words of an agent that did not finish, so many are told.
const MOST_LAST_WORDS: usize = 2_000;

pub struct Told<'a> {
    pub label: &'a str,
    pub state: &'a ExecutionState,
    /// Where its words were written as well, or why they were not.
    pub wrote: Option<Result<String, String>>,
}

pub fn status(state: &ExecutionState) -> ChildStatus {
    let limit = state.header.as_ref().map_or(u64::MAX, |header| header.limits.timeout_ms);
    match state.lifecycle {
        Lifecycle::Completed => ChildStatus::Completed,
        Lifecycle::Cancelled => ChildStatus::Cancelled,
        _ if state.spent.active_ms >= limit => ChildStatus::Timeout,
        _ => ChildStatus::Failed,
    }
}

pub const fn call_status(status: ChildStatus) -> CallStatus {
    match status {
        ChildStatus::Completed => CallStatus::Ok,
        ChildStatus::Failed => CallStatus::Error,
        ChildStatus::Timeout => CallStatus::TimedOut,
        ChildStatus::Cancelled => CallStatus::Cancelled,
    }
}

/// The last thing that it said.
pub fn last_words(state: &ExecutionState) -> &str {
    let said = state.transcript.iter().rev().find_map(|message| match message.as_ref() {
        Message::Assistant { text, .. } if !text.trim().is_empty() => Some(text.as_str()),
        _ => None,
    });
    said.unwrap_or_default()
}

impl Told<'_> {
    pub fn text(&self) -> String {
        let Self { label, state, wrote } = self;
        let seconds = state.spent.active_ms.div_ceil(1_000);
        let tokens = grouped(state.spent.usage.total());
        let reason = state.end.as_deref().unwrap_or_default();
        let words = last_words(state);
        let (how, result) = match status(state) {
            ChildStatus::Completed => {
                (format!("completed in {seconds}s ({tokens} tokens)."), format!("Result:\n{words}"))
            }
            ChildStatus::Timeout => (format!("timed out after {seconds}s ({tokens} tokens)."), so_far(words)),
            ChildStatus::Cancelled => (format!("was cancelled after {seconds}s ({tokens} tokens)."), String::new()),
            ChildStatus::Failed => (format!("failed after {seconds}s ({tokens} tokens): {reason}."), so_far(words)),
        };
        let wrote = wrote.as_ref().map(|wrote| match wrote {
            Ok(path) => format!("Output written to: {path}"),
            Err(why) => format!("Output not written: {why}"),
        });
        let head = format!("Sub-agent \"{label}\" {how}");
        let parts = [Some(head), Some(result).filter(|result| !result.is_empty()), wrote];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    }
}

/// What it did stays done, and what it said last may help whoever goes on.
fn so_far(words: &str) -> String {
    let shown: String = words.chars().take(MOST_LAST_WORDS).collect();
    match shown.trim() {
        "" => "What it did until then stays done.".to_owned(),
        shown => format!("What it did until then stays done. It said last:\n{shown}"),
    }
}
