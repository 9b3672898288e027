//! One turn of an agent's, as a block of lines: its number and what it cost, what was asked, and each step of what came of it.

use windlass_domain::timeline::{Approval, CallTold, Ending, Heard, Step, Turn};
use windlass_domain::{CallStatus, grouped};

use super::json::word;
use super::line::{Line, first_line, quoted};
use super::narrate::{counted, duration, subject};
use super::style::Style;

const MARGIN: &str = "  ";

pub fn turn(turn: &Turn) -> Vec<Line> {
    let mut lines = vec![Line::new(), head(turn)];
    let asked = turn.asked.iter().map(heard);
    lines.extend(asked.chain(turn.steps.iter().flat_map(step)).map(|line| line.behind(Style::Dim, MARGIN)));
    lines.extend(ending(&turn.end).map(|line| line.behind(Style::Dim, MARGIN)));
    lines
}

fn head(turn: &Turn) -> Line {
    let at = turn.began_at.to_rfc3339();
    let lasted = turn.last_at.as_millis().saturating_sub(turn.began_at.as_millis());
    let facts = [
        at[11..19].to_owned(),
        duration(lasted),
        counted(turn.model_calls.into(), "model call"),
        format!("{} tokens", grouped(turn.usage.total())),
        turn.cost.to_string(),
    ];
    Line::new().add(Style::Accent, format!("turn {}", turn.turn)).gap().facts(Style::Dim, facts)
}

fn heard(heard: &Heard) -> Line {
    Line::marked(Style::Accent, "← ").plain(asked(&heard.text))
}

/// What an agent is first told opens with a heading; what stands below it says more.
fn asked(text: &str) -> String {
    let below = text.strip_prefix("# Goal").unwrap_or(text);
    first_line(below)
}

fn step(step: &Step) -> Vec<Line> {
    match step {
        Step::Said { text } => quoted(text).collect(),
        Step::Called(told) => call(told),
        Step::Heard(told) => vec![heard(told)],
        Step::Started { program, version } => {
            vec![Line::marked(Style::Accent, "▸ ").plain(program).plain(" ").plain(version)]
        }
        Step::Noticed { text } => vec![Line::marked(Style::Dim, "· ").dim(first_line(text))],
    }
}

fn call(call: &CallTold) -> Vec<Line> {
    let (mark, style) = match call.status {
        None => ("… ", Style::Dim),
        Some(CallStatus::Ok) => ("✔ ", Style::Good),
        Some(_) => ("✘ ", Style::Bad),
    };
    let about = subject(&call.tool, &call.arguments.to_string());
    let line = Line::marked(style, mark).plain(&call.tool).plain(" ").plain(first_line(&about));
    let mut facts: Vec<String> = Vec::new();
    facts.extend(call.risk.map(|level| format!("{} risk", level.as_str())));
    facts.extend(call.approval.map(|approval| match approval {
        Approval::Asked => "you were asked".to_owned(),
        Approval::Given => "you approved it".to_owned(),
    }));
    facts.extend(call.status.filter(|status| *status != CallStatus::Ok).map(|status| word(&status).replace('_', " ")));
    if call.duration_ms > 0 {
        facts.push(duration(call.duration_ms));
    }
    let line = if facts.is_empty() { line } else { line.gap().facts(Style::Dim, facts) };
    let result = first_line(&call.result);
    let result = (!result.is_empty()).then(|| Line::marked(Style::Dim, MARGIN).dim(result));
    std::iter::once(line).chain(result).collect()
}

/// A turn that went well needs no word for it.
fn ending(end: &Ending) -> Option<Line> {
    match end {
        Ending::Completed => None,
        Ending::Open => Some(Line::marked(Style::Warn, "… ").dim("it goes on")),
        Ending::Interrupted => Some(Line::marked(Style::Warn, "◌ ").plain("interrupted")),
        Ending::Failed { reason } => Some(Line::marked(Style::Bad, "✘ ").plain(first_line(reason))),
        Ending::Rests { reason } => Some(Line::marked(Style::Warn, "◌ ").plain(first_line(reason))),
    }
}
