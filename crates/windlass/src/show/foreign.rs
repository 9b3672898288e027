//! What a program that carries an execution tells, in lines: as of the native loop, a call is told when it has ended, and what the
//! program says of itself is told in its own words.

use windlass_domain::execution::{
    Claim, ClaimKind, Delivery, ExecutionEvent, Lifecycle, MessageDelivery, Observation, RunnerNoted, TurnEnd,
};
use windlass_domain::tool_name::LAUNCH_AGENT;

use super::line::{Line, first_line, quoted};
use super::style::Style;

pub fn launched(noted: &RunnerNoted) -> Line {
    let going_on = noted.resumes.as_ref().map(|_| "goes on where it was".to_owned());
    let mcp = noted.mcp.then(|| "given our tools".to_owned());
    let facts = [Some(noted.transport.clone()), mcp, going_on].into_iter().flatten();
    Line::marked(Style::Accent, "▸ ")
        .plain(format!("{} {}", noted.program, noted.version).trim_end())
        .point(Style::Dim)
        .facts(Style::Dim, facts)
}

/// Whether what was said before this record may still be the last word.
pub fn is_last_word_before(event: &ExecutionEvent) -> bool {
    match event {
        ExecutionEvent::ExchangeOpened(_) | ExecutionEvent::ExchangeClosed(_) => true,
        ExecutionEvent::ToolFinished(finished) => finished.tool == LAUNCH_AGENT,
        ExecutionEvent::StateChanged(change) => change.to == Lifecycle::Completed,
        ExecutionEvent::ObservationRecorded(recorded) => matches!(
            recorded.observation,
            Observation::TurnEnded { .. }
                | Observation::Used { .. }
                | Observation::Session { .. }
                | Observation::Equipped
        ),
        _ => false,
    }
}

pub fn said(text: &str) -> Vec<Line> {
    let text = text.trim();
    if text.is_empty() { Vec::new() } else { std::iter::once(Line::new()).chain(quoted(text)).collect() }
}

/// Nothing for what other records tell: calls, what was used, the last word.
pub fn observed(observation: &Observation) -> Vec<Line> {
    match observation {
        Observation::Claimed(claim) => vec![claimed(claim)],
        Observation::Noticed { text } | Observation::Unheeded { text } => {
            vec![Line::marked(Style::Dim, "· ").dim(first_line(text))]
        }
        Observation::Doubted { why, .. } => vec![doubted(why)],
        Observation::TurnEnded { end: TurnEnd::Failed { reason, .. } } => {
            vec![Line::marked(Style::Bad, "✘ ").plain("the agent stopped").point(Style::Dim).dim(first_line(reason))]
        }
        Observation::TurnEnded { end: TurnEnd::Interrupted } => {
            vec![Line::marked(Style::Warn, "◌ ").plain("the agent was interrupted")]
        }
        Observation::Session { .. }
        | Observation::Said { .. }
        | Observation::Called { .. }
        | Observation::CallEnded { .. }
        | Observation::TurnEnded { end: TurnEnd::Completed { .. } }
        | Observation::Used { .. }
        | Observation::Equipped => Vec::new(),
    }
}

pub fn doubted(why: &str) -> Line {
    Line::marked(Style::Warn, "! ").plain(first_line(why))
}

fn claimed(claim: &Claim) -> Line {
    let (mark, style, what) = match claim.kind {
        ClaimKind::Progress => ("· ", Style::Accent, "progress"),
        ClaimKind::NeedsInput => ("? ", Style::Warn, "the agent needs an answer"),
        ClaimKind::Blocked => ("! ", Style::Warn, "the agent says it is blocked"),
        ClaimKind::ReadyForVerification => ("· ", Style::Accent, "the agent says it can be checked"),
        ClaimKind::CompletedClaim => ("· ", Style::Accent, "the agent says it is done"),
        ClaimKind::FailedClaim => ("✘ ", Style::Bad, "the agent gives up"),
        ClaimKind::Note => ("· ", Style::Dim, "note"),
    };
    let line = Line::marked(style, mark).plain(what);
    match claim.words() {
        Some(words) => line.point(Style::Dim).dim(first_line(words)),
        None => line,
    }
}

/// A message that arrived is told by the message.
pub fn delivered(delivery: &MessageDelivery) -> Vec<Line> {
    let (said, reason) = match &delivery.outcome {
        Delivery::Attempted | Delivery::Delivered => return Vec::new(),
        Delivery::Deferred { reason } => ("the agent hears it later", reason),
        Delivery::Undeliverable { reason } => ("the agent cannot be told", reason),
    };
    vec![Line::marked(Style::Warn, "! ").plain(said).point(Style::Dim).dim(first_line(reason))]
}
