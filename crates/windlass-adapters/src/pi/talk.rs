//! What Pi says in its rpc mode, and how it is spoken to. Its messages have no ids, but times that last, by which events are named.
//! The prompt goes out only after our hook has made itself known: without it nothing would be asked.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::{Value, json};
use windlass_domain::execution::{Failure, Observation, TurnEnd};
use windlass_domain::{Usage, Usd};

use crate::frame::{
    asked_twice, content, digest, failure, kept, kept_input, line, list, noticed, number, object, observed,
    passed_over, text, unreadable,
};
use crate::{
    Answer, CommandLine, Conversation, Event, Launching, PermissionAsked, Proposal, Proposed, Session, Tell,
    Undeliverable,
};

/// The name of our first question, whose answer says which conversation this is.
const STATE: &str = "windlass-state";
/// Of a message that starts a turn, and of one that joins it.
const PROMPT: &str = "windlass-prompt";
const JOIN: &str = "windlass-join";

/// What it tells of that means nothing to us.
const PASSED_OVER: [&str; 15] = [
    "agent_end",
    "agent_start",
    "auto_retry_end",
    "auto_retry_start",
    "compaction_end",
    "compaction_start",
    "message_start",
    "message_update",
    "queue_update",
    "session",
    "tool_execution_end",
    "tool_execution_start",
    "tool_execution_update",
    "turn_end",
    "turn_start",
];

pub struct Talk {
    prompt: String,
    /// The conversation's id; unknown at first only where it is forked.
    session: Option<String>,
    gate: Gate,
    working: bool,
    interrupted: bool,
    /// Questions that nobody has answered yet.
    asked: BTreeSet<String>,
    last: Last,
    used: Usage,
    cost: Usd,
}

#[derive(Debug, PartialEq, Eq)]
enum Gate {
    Unseen,
    Seen,
    /// Seen, and the conversation is known: messages are taken.
    Open,
}

/// The agent's newest message.
#[derive(Default)]
struct Last {
    time: u64,
    said: String,
    stop: String,
    error: String,
}

impl Talk {
    pub fn new(launching: &Launching<'_>) -> Self {
        let session = match launching.session {
            Session::New(id) | Session::Resume(id) => Some(id.to_owned()),
            Session::Fork(_) => None,
        };
        Self {
            prompt: launching.prompt.to_owned(),
            session,
            gate: Gate::Unseen,
            working: false,
            interrupted: false,
            asked: BTreeSet::new(),
            last: Last::default(),
            used: Usage::default(),
            cost: Usd::ZERO,
        }
    }

    fn answered(&mut self, frame: &Value) -> Vec<Event> {
        let done = frame.get("success") == Some(&Value::Bool(true));
        match text(frame, "/id") {
            STATE if done => self.introduce(frame),
            PROMPT if !done => self.not_started(text(frame, "/error")),
            _ if !done => {
                let (command, error) = (text(frame, "/command"), text(frame, "/error"));
                let text = kept(&format!("the program refused {command}: {error}"));
                vec![noticed(text)]
            }
            _ => Vec::new(),
        }
    }

    fn introduce(&mut self, frame: &Value) -> Vec<Event> {
        let session_id = text(frame, "/data/sessionId").to_owned();
        if self.gate == Gate::Unseen {
            return vec![Event::Unacceptable { why: "the hook that asks for permissions is not there".to_owned() }];
        }
        if session_id.is_empty() || self.session.as_ref().is_some_and(|ours| *ours != session_id) {
            return vec![Event::Unreadable { why: format!("the program opened another session: {session_id}") }];
        }
        self.gate = Gate::Open;
        self.session = Some(session_id.clone());
        let mut events = vec![observed(format!("session:{session_id}"), Observation::Session { session_id })];
        let prompt = std::mem::take(&mut self.prompt);
        if !prompt.is_empty() {
            events.push(Event::Write(self.say(&prompt)));
        }
        events
    }

    /// Starts a turn, or joins the one that runs: which of them, the program knows best.
    fn say(&mut self, message: &str) -> Vec<u8> {
        let id = if std::mem::replace(&mut self.working, true) { JOIN } else { PROMPT };
        line(&json!({ "id": id, "type": "prompt", "message": message, "streamingBehavior": "steer" }))
    }

    fn not_started(&mut self, error: &str) -> Vec<Event> {
        self.working = false;
        let reason = kept(error);
        let id = format!("{}:refused:{}", self.last.time, digest(&reason));
        let end = TurnEnd::Failed { reason, why: Failure::Agent };
        vec![observed(id, Observation::TurnEnded { end })]
    }

    fn asked(&mut self, frame: &Value) -> Vec<Event> {
        let id = text(frame, "/id").to_owned();
        match text(frame, "/method") {
            "notify" if text(frame, "/message") == "windlass gate" => {
                if self.gate == Gate::Unseen {
                    self.gate = Gate::Seen;
                }
                Vec::new()
            }
            "notify" => vec![noticed(kept(text(frame, "/message")))],
            "input" if text(frame, "/title") == "windlass permission" => self.permission(id, frame),
            // Nobody is there for the dialogs of others.
            "input" | "select" | "confirm" | "editor" => {
                vec![Event::Write(response(&id, &json!({ "cancelled": true })))]
            }
            _ => Vec::new(),
        }
    }

    fn permission(&mut self, id: String, frame: &Value) -> Vec<Event> {
        if self.asked.contains(&id) {
            return vec![asked_twice(&id)];
        }
        let question: Value = serde_json::from_str(text(frame, "/placeholder")).unwrap_or_default();
        let (call, tool) = (text(&question, "/call").to_owned(), text(&question, "/tool"));
        let proposed = proposed(tool, question.get("input").cloned().unwrap_or_default());
        self.asked.insert(id.clone());
        vec![Event::Asked(PermissionAsked { request: id, call, proposed })]
    }

    fn message(&mut self, message: &Value) -> Vec<Event> {
        let time = number(message, "/timestamp");
        match text(message, "/role") {
            "assistant" => self.assistant(message, time),
            "toolResult" => {
                let call = text(message, "/toolCallId").to_owned();
                let is_error = message.get("isError") == Some(&Value::Bool(true));
                let output = content(message.get("content").unwrap_or(&Value::Null));
                let id = format!("{time}:{call}");
                let has_run =
                    is_error && output.lines().last().is_some_and(|last| last.starts_with("Command exited with"));
                let ran = has_run.then(|| Event::Ran { call: call.clone() });
                let ended = observed(id, Observation::CallEnded { call, is_error, output });
                ran.into_iter().chain([ended]).collect()
            }
            _ => Vec::new(),
        }
    }

    fn assistant(&mut self, message: &Value, time: u64) -> Vec<Event> {
        self.used += usage(message);
        let cost = message.pointer("/usage/cost/total").and_then(Value::as_f64).unwrap_or_default();
        self.cost = self.cost.plus(Usd::from_dollars(cost));
        self.last = Last {
            time,
            said: String::new(),
            stop: text(message, "/stopReason").to_owned(),
            error: kept(text(message, "/errorMessage")),
        };
        let mut events = Vec::new();
        for (place, block) in list(message, "/content").iter().enumerate() {
            let id = format!("{time}#{place}");
            match text(block, "/type") {
                "text" => {
                    self.last.said = kept(text(block, "/text"));
                    events.push(observed(id, Observation::Said { text: self.last.said.clone() }));
                }
                "toolCall" => {
                    let call = text(block, "/id").to_owned();
                    let input = kept_input(block.get("arguments").unwrap_or(&Value::Null));
                    let tool = text(block, "/name").to_owned();
                    events.push(observed(id, Observation::Called { call, tool, input }));
                }
                _ => {}
            }
        }
        events
    }

    fn settled(&mut self) -> Vec<Event> {
        self.working = false;
        let interrupted = std::mem::take(&mut self.interrupted);
        let open = std::mem::take(&mut self.asked);
        let mut events: Vec<Event> = open.into_iter().map(|request| Event::Withdrawn { request }).collect();
        let (usage, cost) = (std::mem::take(&mut self.used), std::mem::take(&mut self.cost));
        let time = self.last.time;
        if !usage.is_zero() {
            let cost = (!cost.is_zero()).then_some(cost);
            events.push(observed(format!("{time}:used"), Observation::Used { usage, cost }));
        }
        let end = match self.last.stop.as_str() {
            "aborted" => TurnEnd::Interrupted,
            // So it calls a call that was cut off.
            "error" if interrupted => TurnEnd::Interrupted,
            "error" => TurnEnd::Failed { reason: self.last.error.clone(), why: why(&self.last.error) },
            _ => TurnEnd::Completed { message: self.last.said.clone() },
        };
        events.push(observed(format!("{time}:ended"), Observation::TurnEnded { end }));
        events
    }
}

impl Conversation for Talk {
    fn begin(&mut self) -> Vec<Vec<u8>> {
        vec![line(&json!({ "id": STATE, "type": "get_state" }))]
    }

    fn read(&mut self, frame: &[u8]) -> Vec<Event> {
        let value = match object(frame) {
            Ok(value) => value,
            Err(events) => return events,
        };
        match text(&value, "/type") {
            "response" => self.answered(&value),
            "extension_ui_request" => self.asked(&value),
            _ if self.gate != Gate::Open => vec![unreadable("comes before the hook that asks for permissions", frame)],
            "agent_start" => {
                self.working = true;
                Vec::new()
            }
            "message_update" => streamed(&value),
            "message_end" => self.message(value.get("message").unwrap_or(&Value::Null)),
            "agent_settled" => self.settled(),
            "auto_retry_start" => retried(&value),
            "" => vec![unreadable("has no type", frame)],
            kind => passed_over(kind, &PASSED_OVER),
        }
    }

    fn tell(&mut self, tell: &Tell) -> Result<Vec<Vec<u8>>, Undeliverable> {
        if self.gate != Gate::Open {
            return Err(Undeliverable::NotReady);
        }
        Ok(match tell {
            Tell::Say { text } => vec![self.say(text)],
            Tell::Interrupt if !self.working => Vec::new(),
            Tell::Interrupt => {
                self.interrupted = true;
                // It would wait for the hook, which waits for us.
                let open = std::mem::take(&mut self.asked);
                let mut frames = vec![line(&json!({ "type": "abort" }))];
                frames.extend(open.iter().map(|id| response(id, &json!({ "cancelled": true }))));
                frames
            }
        })
    }

    fn answer(&mut self, request: &str, answer: &Answer) -> Vec<Vec<u8>> {
        if !self.asked.remove(request) {
            return Vec::new();
        }
        match answer {
            Answer::Allow => vec![response(request, &json!({ "value": "allow" }))],
            Answer::Deny { reason } => vec![response(request, &json!({ "value": no(reason) }))],
            Answer::Hold { reason } => {
                self.interrupted = true;
                let abort = line(&json!({ "type": "abort" }));
                vec![abort, response(request, &json!({ "value": no(reason) }))]
            }
        }
    }
}

/// A reason that is not by chance the word for yes.
fn no(reason: &str) -> String {
    if reason == "allow" { "denied: allow".to_owned() } else { reason.to_owned() }
}

fn response(id: &str, answer: &Value) -> Vec<u8> {
    let mut frame = json!({ "type": "extension_ui_response", "id": id });
    if let (Some(frame), Some(answer)) = (frame.as_object_mut(), answer.as_object()) {
        frame.extend(answer.clone());
    }
    line(&frame)
}

fn streamed(frame: &Value) -> Vec<Event> {
    match text(frame, "/assistantMessageEvent/type") {
        "text_delta" => vec![Event::Streamed { text: text(frame, "/assistantMessageEvent/delta").to_owned() }],
        _ => Vec::new(),
    }
}

fn retried(frame: &Value) -> Vec<Event> {
    let (attempt, most) = (number(frame, "/attempt"), number(frame, "/maxAttempts"));
    vec![noticed(kept(&format!("the model failed, try {attempt} of {most} follows: {}", text(frame, "/errorMessage"))))]
}

/// Cached input is counted apart there, and is part of the input here.
fn usage(message: &Value) -> Usage {
    let cached_input = number(message, "/usage/cacheRead");
    let cache_write = number(message, "/usage/cacheWrite");
    let input = number(message, "/usage/input").saturating_add(cached_input).saturating_add(cache_write);
    Usage { input, output: number(message, "/usage/output"), cached_input, cache_write }
}

/// An error of the model's server begins with its status.
fn why(error: &str) -> Failure {
    let digits: String = error.chars().take_while(char::is_ascii_digit).collect();
    failure(digits.parse().unwrap_or_default())
}

fn proposed(tool: &str, arguments: Value) -> Proposed {
    let (command, path) = (text(&arguments, "/command"), text(&arguments, "/path"));
    let proposal = match tool {
        "bash" if !command.is_empty() => Proposal::Command { line: CommandLine::Shell(command.to_owned()), cwd: None },
        "write" | "edit" if !path.is_empty() => Proposal::Change { paths: vec![PathBuf::from(path)] },
        _ => Proposal::Other,
    };
    Proposed { tool: tool.to_owned(), arguments, proposal }
}
