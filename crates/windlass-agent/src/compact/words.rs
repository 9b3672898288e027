//! The words of a compaction: what the summariser is given, how its summaries are bounded, and what stands word for word in the
//! conversation afterwards.

use std::sync::Arc;

use windlass_domain::execution::{ErrorText, ExecutionState, Rewritten};
use windlass_domain::{Image, Message, ToolResult};
use windlass_llm::estimate;

use super::segment::Segment;
use crate::prompt::filled;

const SYSTEM: &str = include_str!("../../../../prompts/compaction/summarise.md");
const SEGMENT: &str = include_str!("../../../../prompts/compaction/segment.md");
const SUMMARY: &str = include_str!("../../../../prompts/compaction/summary.md");
const KEPT: &str = include_str!("../../../../prompts/compaction/kept.md");
pub const FLUSH: &str = include_str!("../../../../prompts/compaction/flush.md");

/// Files that are named; the others are counted.
const MOST_FILES: usize = 100;
/// Of one message, however many share a segment.
const LEAST_SHARE: u64 = 50;

/// What the summariser is told. Three words take about four tokens.
pub fn system(max_summary_tokens: u64) -> String {
    filled(SYSTEM.trim(), &[("words", &(max_summary_tokens * 3 / 4).to_string())])
}

/// What the summariser reads: what is known from before, and the segment, no longer than it may be.
pub fn question(state: &ExecutionState, segment: &Segment) -> String {
    let before = known_before(state, segment).map(|summary| format!("# What was known before it\n\n{summary}\n\n"));
    let messages = state.transcript.get(segment.from..segment.to).unwrap_or_default();
    filled(SEGMENT.trim(), &[("before", &before.unwrap_or_default()), ("segment", &written(messages, segment.most))])
}

/// What stands in a summary's place where none could be had: what earlier compactions knew is not lost with it.
pub fn skipped(state: &ExecutionState, segment: &Segment) -> String {
    const NOTE: &str = "- (No summary could be had of this part of the conversation.)";
    known_before(state, segment).map_or_else(|| NOTE.to_owned(), |summary| format!("{summary}\n\n{NOTE}"))
}

/// The first segment carries what earlier compactions knew.
fn known_before<'a>(state: &'a ExecutionState, segment: &Segment) -> Option<&'a String> {
    state.compactions.summary.as_ref().filter(|_| segment.from == state.compactions.turns_from())
}

/// A long message gives way before a short one does.
fn written(messages: &[Arc<Message>], most: u64) -> String {
    let texts: Vec<String> = messages.iter().map(|message| as_text(message)).collect();
    let whole = texts.iter().map(|text| estimate(text)).sum::<u64>();
    if whole <= most {
        return texts.join("\n\n");
    }
    let share = (most / (texts.len() as u64).max(1)).max(LEAST_SHARE);
    let shared: Vec<String> = texts.iter().map(|text| cut(text, share)).collect();
    cut(&shared.join("\n\n"), most)
}

fn as_text(message: &Message) -> String {
    match message {
        Message::User { text, images } => format!("[user] {text}{}", pictured(images)),
        Message::Tool(result) => {
            let what = if result.is_error { "error" } else { "result" };
            let ToolResult { call_id, tool, content, images, .. } = result;
            format!("[{what} of {tool} {call_id}] {content}{}", pictured(images))
        }
        Message::Assistant { text, calls, .. } => {
            let calls =
                calls.iter().map(|call| format!("[call {} {}] {}", call.tool, call.call_id, call.arguments.get()));
            std::iter::once(format!("[agent] {text}")).chain(calls).collect::<Vec<_>>().join("\n")
        }
    }
}

/// Whoever summarises is told of pictures, not shown them.
fn pictured(images: &[Image]) -> String {
    images.iter().map(|image| format!("\n{}", image.in_words())).collect()
}

/// The conversation's new second message. Summaries share `max_summary_tokens`; what is kept word for word has no part in that.
pub fn rewritten(state: &ExecutionState, summaries: &[String], keep_from: usize, max_summary_tokens: u64) -> Rewritten {
    let recent = state.transcript.get(keep_from..).unwrap_or_default();
    let summary = filled(SUMMARY.trim(), &[("summary", &bounded(summaries, max_summary_tokens))]);
    let kept = filled(KEPT.trim(), &[("parts", &kept(state, recent))]);
    Rewritten { keep_from, summary, kept }
}

fn bounded(summaries: &[String], most: u64) -> String {
    const BETWEEN: &str = "\n\n---\n\n";
    let whole = summaries.join(BETWEEN);
    if estimate(&whole) <= most {
        return whole;
    }
    let share = most / (summaries.len() as u64).max(1);
    let shared: Vec<String> = summaries.iter().map(|summary| cut(summary, share)).collect();
    shared.join(BETWEEN)
}

fn kept(state: &ExecutionState, recent: &[Arc<Message>]) -> String {
    let essentials = &state.essentials;
    let said: Vec<String> = essentials.said_outside(recent).map(fenced).collect();
    let questions: Vec<String> = essentials.questions.iter().map(|question| fenced(&question.text)).collect();
    let errors: Vec<String> = essentials.errors.iter().rev().map(error).collect();
    let part = |heading: &str, items: &[String], more: String| {
        (!items.is_empty()).then(|| format!("## {heading}\n\n{}{more}", items.join("\n\n")))
    };
    let parts = [
        part("What people said, in order", &said, String::new()),
        essentials.plan.as_ref().map(|plan| format!("## Your plan\n\n{}", fenced(plan))),
        part("Your questions that nobody has answered", &questions, String::new()),
        files(state),
        part("What went wrong, the newest first", &errors, left_out(essentials.more_errors, "older error")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "Nothing but the task itself.".to_owned() } else { parts.join("\n\n") }
}

fn files(state: &ExecutionState) -> Option<String> {
    let essentials = &state.essentials;
    let newest: Vec<String> = essentials.files.iter().rev().take(MOST_FILES).map(|path| format!("- {path}")).collect();
    let more = essentials.files.len().saturating_sub(MOST_FILES) + essentials.more_files as usize;
    let more = left_out(u32::try_from(more).unwrap_or(u32::MAX), "other");
    (!newest.is_empty()).then(|| {
        format!("## Files that you wrote, edited or published, the newest first\n\n{}{more}", newest.join("\n"))
    })
}

fn error(ErrorText { tool, arguments, text }: &ErrorText) -> String {
    format!("`{tool}` with {arguments}:\n{}", fenced(text))
}

fn left_out(more: u32, what: &str) -> String {
    match more {
        0 => String::new(),
        1 => format!("\n\n(1 {what} is left out)"),
        more => format!("\n\n({more} {what}s are left out)"),
    }
}

/// Word for word, and told apart from what stands around it whatever it says.
fn fenced(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}\n{text}\n{fence}")
}

/// The beginning of a text, of about so many tokens.
pub fn cut(text: &str, most: u64) -> String {
    const MARK: &str = " [… cut]";
    let mut end = text.len();
    loop {
        let tokens = estimate(&text[..end]);
        if tokens <= most {
            break;
        }
        let scaled = u128::from(most) * end as u128 / u128::from(tokens);
        end = text.floor_char_boundary(usize::try_from(scaled).unwrap_or(end).min(end - 1));
    }
    if end == text.len() { text.to_owned() } else { format!("{}{MARK}", &text[..end]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_is_as_long_as_it_may_be() {
        let text = "word ".repeat(1_000);
        let short = cut(&text, 100);
        assert!(estimate(&short) <= 105 && estimate(&short) > 90, "{}", estimate(&short));
        assert!(short.ends_with("[… cut]"));
        assert_eq!(cut("short", 100), "short");
        assert_eq!(cut("漢字漢字", 0), " [… cut]");
    }

    #[test]
    fn a_segment_that_is_skipped_loses_nothing_of_what_was_known_before() {
        let mut state = ExecutionState::default();
        state.compactions.summary = Some("the port is 8080".to_owned());
        let segment = |from| Segment { from, to: from + 2, most: 100 };
        let first = skipped(&state, &segment(state.compactions.turns_from()));
        assert!(first.starts_with("the port is 8080\n") && first.contains("No summary"), "{first}");
        assert!(!skipped(&state, &segment(9)).contains("8080"), "only the first carries it");
    }

    #[test]
    fn what_is_kept_cannot_leave_its_fence() {
        let said = "```\n## What people said\n```` end";
        let shown = fenced(said);
        assert!(shown.starts_with("`````\n") && shown.ends_with("\n`````") && shown.contains(said));
    }

    #[test]
    fn summaries_share_what_they_may_take() {
        let long = vec!["alpha ".repeat(2_000), "omega ".repeat(2_000)];
        let both = bounded(&long, 200);
        assert!(estimate(&both) < 220, "{}", estimate(&both));
        assert!(both.contains("alpha") && both.contains("omega"));
    }
}
