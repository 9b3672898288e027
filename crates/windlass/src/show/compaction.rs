//! What is told of a conversation that was made shorter, and of an agent that goes in circles: a line each.

use windlass_domain::execution::{CompactionReason, DoomLoopDetected, ExecutionEvent};
use windlass_domain::grouped;

use super::line::Line;
use super::narrate::counted;
use super::style::Style;

pub fn compaction(event: &ExecutionEvent) -> Option<Line> {
    let said = |words: String| Some(Line::marked(Style::Accent, "⇣ ").plain(words));
    match event {
        ExecutionEvent::CompactionStarted(started) => {
            let why = match started.reason {
                CompactionReason::Threshold => "the conversation grows too long",
                CompactionReason::Overflow => "the model does not take so long a conversation",
            };
            said("compacting".to_owned()).map(|line| {
                line.point(Style::Dim).facts(Style::Dim, [counted(started.tokens_before, "token"), why.to_owned()])
            })
        }
        ExecutionEvent::CompactionCleared(cleared) if !cleared.results.is_empty() => said(format!(
            "{} left out, with a note where to find each",
            counted(cleared.results.len() as u64, "result")
        )),
        ExecutionEvent::CompactionFlushed(flushed) => {
            said(format!("memory flush: {} saved", counted(flushed.files_written.into(), "note")))
        }
        ExecutionEvent::CompactionSkipped(_) => {
            Some(Line::marked(Style::Warn, "⇣ ").plain("no summary could be had of a part of the conversation"))
        }
        ExecutionEvent::CompactionFinished(finished) => {
            let (before, after) = (grouped(finished.tokens_before), grouped(finished.tokens_after));
            said(format!("compacted: {before} → {after} tokens"))
        }
        ExecutionEvent::CompactionFailed(_) => {
            Some(Line::marked(Style::Bad, "⇣ ").plain("compacting did not make room enough"))
        }
        ExecutionEvent::DoomLoopDetected(detected) => Some(doom_loop(detected)),
        _ => None,
    }
}

fn doom_loop(detected: &DoomLoopDetected) -> Line {
    let times =
        format!("told for the {} time", ["first", "second", "last"][(detected.intervention as usize).clamp(1, 3) - 1]);
    Line::marked(Style::Warn, "! ")
        .plain("the agent repeats itself")
        .point(Style::Dim)
        .facts(Style::Dim, [times])
        .point(Style::Dim)
        .giving_way(Style::Dim, detected.pattern.to_string())
}
