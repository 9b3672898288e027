//! What a conversation made of its frames, a line for each event, so that an expected list can be read.

use windlass_adapters::{CommandLine, Event, Proposal};
use windlass_domain::execution::{Failure, Observation, TurnEnd};

/// Of a long text so much is written.
const MOST_WRITTEN: usize = 160;

pub fn event(event: &Event) -> String {
    match event {
        Event::Write(frame) => written(frame),
        Event::Observed { event_id, observation } => format!("{} [{event_id}]", observed(observation)),
        Event::Asked(asked) => {
            let (request, call, tool) = (&asked.request, &asked.call, &asked.proposed.tool);
            format!("asks {request} about {call}: {tool} {}", proposal(&asked.proposed.proposal))
        }
        Event::Ran { call } => format!("has made {call}"),
        Event::Withdrawn { request } => format!("asks no longer {request}"),
        Event::Lingers { event_id, end } => format!("lingers, and then {} [{event_id}]", turn(end)),
        Event::Streamed { text } => format!("streams {}", quoted(text)),
        Event::Unreadable { why } => format!("unreadable: {}", cut(why)),
        Event::Foreign { why } => format!("foreign: {}", cut(why)),
        Event::Unknown { kind } => format!("knows nothing of {}", cut(kind)),
        Event::Flood { what } => format!("floods: {what}"),
        Event::Unacceptable { why } => format!("unacceptable: {}", cut(why)),
    }
}

/// Something of ours for the program.
pub fn written(frame: &[u8]) -> String {
    format!("  > {}", cut(std::str::from_utf8(frame).expect("what is written is JSON")))
}

fn observed(observation: &Observation) -> String {
    match observation {
        Observation::Session { session_id } => format!("session {session_id}"),
        Observation::Said { text } => format!("says {}", quoted(text)),
        Observation::Called { call, tool, input } => format!("calls {call}: {tool} {}", cut(&input.to_string())),
        Observation::CallEnded { call, is_error: false, output } => format!("ends {call}: {}", quoted(output)),
        Observation::CallEnded { call, is_error: true, output } => format!("fails {call}: {}", quoted(output)),
        Observation::TurnEnded { end } => turn(end),
        Observation::Used { usage, cost } => {
            let cost = cost.map(|cost| format!(" for {} nano-dollars", cost.as_nanos())).unwrap_or_default();
            format!("used {} and {} tokens{cost}", usage.input, usage.output)
        }
        Observation::Claimed(claim) => format!("claims {}", claim.kind.as_str()),
        Observation::Equipped => "has our tools".to_owned(),
        Observation::Noticed { text } => format!("notice {}", quoted(text)),
        Observation::Unheeded { text } => format!("unheeded {}", quoted(text)),
        Observation::Doubted { why, .. } => format!("doubt {}", quoted(why)),
    }
}

fn turn(end: &TurnEnd) -> String {
    match end {
        TurnEnd::Completed { message } => format!("turn completed {}", quoted(message)),
        TurnEnd::Interrupted => "turn interrupted".to_owned(),
        TurnEnd::Failed { reason, why } => {
            let why = match why {
                Failure::Model => "by the model",
                Failure::Login => "for want of a login",
                Failure::Agent => "by the agent",
            };
            format!("turn failed {why} {}", quoted(reason))
        }
    }
}

fn proposal(proposal: &Proposal) -> String {
    match proposal {
        Proposal::Command { line, cwd: None } => format!("runs {}", said(line)),
        Proposal::Command { line, cwd: Some(cwd) } => format!("runs {} in {}", said(line), cwd.display()),
        Proposal::Change { paths } => format!("changes {paths:?}"),
        Proposal::Read { paths } => format!("reads {paths:?}"),
        Proposal::Fetch { url } => format!("fetches {url}"),
        Proposal::Other => "does something else".to_owned(),
    }
}

fn quoted(text: &str) -> String {
    format!("{:?}", cut(text))
}

fn cut(text: &str) -> String {
    let cut: String = text.chars().take(MOST_WRITTEN).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}

fn said(line: &CommandLine) -> String {
    match line {
        CommandLine::Shell(line) => format!("{:?}", [line]),
        CommandLine::Words(words) => format!("the words {words:?}"),
    }
}
