//! What a program that carries an execution tells, in lines: as of the native loop, a call is told when it has ended, and what the
//! program says of itself is told in its own words.

use windlass_domain::execution::{Claim, ClaimKind, Delivery, MessageDelivery, Observation, RunnerNoted, TurnEnd};

use super::line::{Line, first_line, quoted};
use super::style::Style;

pub fn launched(noted: &RunnerNoted) -> Line {
    let going_on = noted.resumes.as_ref().map(|_| "goes on where it was".to_owned());
    let mcp = noted.mcp.then(|| "with our tools".to_owned());
    let facts = [Some(noted.transport.clone()), mcp, going_on].into_iter().flatten();
    Line::marked(Style::Accent, "▸ ")
        .plain(format!("{} {}", noted.program, noted.version).trim_end())
        .point(Style::Dim)
        .facts(Style::Dim, facts)
}

/// Nothing for what other records tell: calls, what was used, the last word.
pub fn observed(observation: &Observation) -> Vec<Line> {
    match observation {
        Observation::Said { text } if !text.trim().is_empty() => {
            std::iter::once(Line::new()).chain(quoted(text.trim())).collect()
        }
        Observation::Claimed(claim) => vec![claimed(claim)],
        Observation::Noticed { text } => vec![Line::marked(Style::Dim, "· ").dim(first_line(text))],
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
        | Observation::Used { .. } => Vec::new(),
    }
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
        Delivery::Delivered => return Vec::new(),
        Delivery::Deferred { reason } => ("the agent hears it later", reason),
        Delivery::Undeliverable { reason } => ("the agent cannot be told", reason),
    };
    vec![Line::marked(Style::Warn, "! ").plain(said).point(Style::Dim).dim(first_line(reason))]
}
