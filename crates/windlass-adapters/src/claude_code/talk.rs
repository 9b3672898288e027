//! What Claude Code says, and how it is spoken to. Its messages have ids of their own, kept in its transcript, so that they are
//! the events' ids too. A sub-agent's calls are told, by `agent/call`, but not its words: they come back as its call's result.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};
use windlass_domain::execution::{Failure, Observation, TurnEnd};
use windlass_domain::{Usage, Usd};

use crate::frame::{
    asked_twice, content, failure, kept, kept_input, line, list, noticed, number, object, observed, passed_over, text,
    unreadable,
};
use crate::{
    Answer, CommandLine, Conversation, Event, Launching, PermissionAsked, Proposal, Proposed, Session, Tell,
    Undeliverable,
};

/// What it tells of that means nothing to us.
const PASSED_OVER: [&str; 4] = ["control_response", "keep_alive", "rate_limit_event", "tool_progress"];

pub struct Talk {
    prompt: String,
    /// The conversation's id; unknown at first only where it is forked.
    session: Option<String>,
    introduced: bool,
    /// Whether it was given our MCP server, without which it is not to work.
    has_mcp: bool,
    working: bool,
    /// What is asked, by the question's id, with the input that an answer repeats.
    asked: BTreeMap<String, Value>,
    requests: u64,
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
            introduced: false,
            has_mcp: launching.mcp.is_some(),
            working: false,
            asked: BTreeMap::new(),
            requests: 0,
        }
    }

    fn request(&mut self, request: &Value) -> Vec<Vec<u8>> {
        self.requests += 1;
        let id = format!("windlass-{}", self.requests);
        vec![line(&json!({ "type": "control_request", "request_id": id, "request": request }))]
    }

    fn system(&mut self, frame: &Value) -> Vec<Event> {
        match text(frame, "/subtype") {
            "init" => self.introduce(frame),
            "api_retry" => {
                let (attempt, most) = (number(frame, "/attempt"), number(frame, "/max_retries"));
                let (status, error) = (number(frame, "/error_status"), text(frame, "/error"));
                let said = kept(&format!("the model failed with {status} {error}; try {attempt} of {most} follows"));
                vec![observed(text(frame, "/uuid"), Observation::Noticed { text: said })]
            }
            _ => Vec::new(),
        }
    }

    fn introduce(&mut self, frame: &Value) -> Vec<Event> {
        if text(frame, "/permissionMode") != "default" {
            return vec![Event::Unacceptable { why: "it does not ask for permissions".to_owned() }];
        }
        // Whether it has come to what is pending is seen at our own end, before it asks its model.
        let is_ours = |server: &&Value| text(server, "/name") == "windlass";
        let status = list(frame, "/mcp_servers").iter().find(is_ours).map_or("missing", |ours| text(ours, "/status"));
        if self.has_mcp && !matches!(status, "connected" | "pending") {
            return vec![Event::Unacceptable { why: format!("it has no connection to our MCP server: {status}") }];
        }
        let session_id = text(frame, "/session_id");
        if std::mem::replace(&mut self.introduced, true) || session_id.is_empty() {
            return Vec::new();
        }
        self.session = Some(session_id.to_owned());
        let id = format!("session:{session_id}");
        vec![observed(id, Observation::Session { session_id: session_id.to_owned() })]
    }

    fn message(&mut self, text: &str) -> Vec<u8> {
        self.working = true;
        line(&json!({ "type": "user", "message": { "role": "user", "content": text } }))
    }

    fn result(&mut self, frame: &Value) -> Vec<Event> {
        let id = text(frame, "/uuid");
        let mut events = Vec::new();
        let usage = usage(frame);
        if !usage.is_zero() {
            events.push(observed(format!("{id}:used"), Observation::Used { usage, cost: cost(frame) }));
        }
        // With messages waiting it goes on by itself.
        if number(frame, "/queued_turn_count") == 0 {
            self.working = false;
            events.push(observed(id, Observation::TurnEnded { end: end(frame) }));
        }
        events
    }

    fn control(&mut self, frame: &Value) -> Vec<Event> {
        let request_id = text(frame, "/request_id").to_owned();
        if text(frame, "/request/subtype") != "can_use_tool" {
            let refusal = json!({ "subtype": "error", "request_id": request_id, "error": "Windlass does not do this" });
            return vec![Event::Write(line(&json!({ "type": "control_response", "response": refusal })))];
        }
        if self.asked.contains_key(&request_id) {
            return vec![asked_twice(&request_id)];
        }
        let arguments = frame.pointer("/request/input").cloned().unwrap_or_default();
        let call = call(text(frame, "/request/agent_id"), text(frame, "/request/tool_use_id"));
        let proposed = proposed(text(frame, "/request/tool_name"), arguments.clone());
        self.asked.insert(request_id.clone(), arguments);
        vec![Event::Asked(PermissionAsked { request: request_id, call, proposed })]
    }

    fn withdrawn(&mut self, frame: &Value) -> Vec<Event> {
        let request = text(frame, "/request_id").to_owned();
        self.asked.remove(&request).map(|_| Event::Withdrawn { request }).into_iter().collect()
    }
}

impl Conversation for Talk {
    fn begin(&mut self) -> Vec<Vec<u8>> {
        let prompt = std::mem::take(&mut self.prompt);
        if prompt.is_empty() { Vec::new() } else { vec![self.message(&prompt)] }
    }

    fn read(&mut self, frame: &[u8]) -> Vec<Event> {
        let value = match object(frame) {
            Ok(value) => value,
            Err(events) => return events,
        };
        let speaker = text(&value, "/session_id");
        if !speaker.is_empty() && self.session.as_deref().is_some_and(|ours| ours != speaker) {
            return vec![unreadable("speaks for another session", frame)];
        }
        match text(&value, "/type") {
            "system" => self.system(&value),
            "assistant" => assistant(&value),
            "user" => results(&value),
            "result" => self.result(&value),
            "stream_event" => streamed(&value),
            "control_request" => self.control(&value),
            "control_cancel_request" => self.withdrawn(&value),
            "control_response" => refused(&value),
            "" => vec![unreadable("has no type", frame)],
            kind => passed_over(kind, &PASSED_OVER),
        }
    }

    fn tell(&mut self, tell: &Tell) -> Result<Vec<Vec<u8>>, Undeliverable> {
        Ok(match tell {
            Tell::Say { text } => vec![self.message(text)],
            Tell::Interrupt if !self.working => Vec::new(),
            Tell::Interrupt => self.request(&json!({ "subtype": "interrupt" })),
        })
    }

    fn answer(&mut self, request: &str, answer: &Answer) -> Vec<Vec<u8>> {
        let Some(input) = self.asked.remove(request) else { return Vec::new() };
        let response = match answer {
            Answer::Allow => json!({ "behavior": "allow", "updatedInput": input }),
            Answer::Deny { reason } => json!({ "behavior": "deny", "message": reason }),
            Answer::Hold { reason } => json!({ "behavior": "deny", "message": reason, "interrupt": true }),
        };
        let response = json!({ "subtype": "success", "request_id": request, "response": response });
        vec![line(&json!({ "type": "control_response", "response": response }))]
    }
}

fn assistant(frame: &Value) -> Vec<Event> {
    // The program's own words for a failure of the model's, which the turn's end repeats.
    if frame.get("is_api_error_message") == Some(&Value::Bool(true)) {
        return Vec::new();
    }
    let of_sub_agent = frame.get("parent_tool_use_id").is_some_and(Value::is_string);
    let mut events = Vec::new();
    for (place, block) in list(frame, "/message/content").iter().enumerate() {
        let id = block_id(frame, place);
        match text(block, "/type") {
            "text" if !of_sub_agent => {
                events.push(observed(id, Observation::Said { text: kept(text(block, "/text")) }));
            }
            "tool_use" => {
                let input = kept_input(block.get("input").unwrap_or(&Value::Null));
                let call = call(text(frame, "/agent_id"), text(block, "/id"));
                let tool = ours(text(block, "/name")).to_owned();
                events.push(observed(id, Observation::Called { call, tool, input }));
            }
            _ => {}
        }
    }
    events
}

fn results(frame: &Value) -> Vec<Event> {
    let mut events = Vec::new();
    for (place, block) in list(frame, "/message/content").iter().enumerate() {
        if text(block, "/type") == "tool_result" {
            let call = call(text(frame, "/agent_id"), text(block, "/tool_use_id"));
            let is_error = block.get("is_error") == Some(&Value::Bool(true));
            let output = content(block.get("content").unwrap_or(&Value::Null));
            if is_error && output.starts_with("Exit code ") {
                events.push(Event::Ran { call: call.clone() });
            }
            events.push(observed(block_id(frame, place), Observation::CallEnded { call, is_error, output }));
        }
    }
    events
}

fn streamed(frame: &Value) -> Vec<Event> {
    let of_sub_agent = frame.get("parent_tool_use_id").is_some_and(Value::is_string);
    match text(frame, "/event/delta/text") {
        "" => Vec::new(),
        _ if of_sub_agent => Vec::new(),
        text => vec![Event::Streamed { text: text.to_owned() }],
    }
}

/// The answer to a request of ours; that it was done needs no telling.
fn refused(frame: &Value) -> Vec<Event> {
    if text(frame, "/response/subtype") != "error" {
        return Vec::new();
    }
    vec![noticed(kept(&format!("the program refused a request: {}", text(frame, "/response/error"))))]
}

fn end(frame: &Value) -> TurnEnd {
    let reason = text(frame, "/terminal_reason");
    if frame.get("is_error") != Some(&Value::Bool(true)) {
        return TurnEnd::Completed { message: kept(text(frame, "/result")) };
    }
    if reason.starts_with("aborted") {
        return TurnEnd::Interrupted;
    }
    let why = if reason == "api_error" { failure(number(frame, "/api_error_status")) } else { Failure::Agent };
    let errors: Vec<&str> = list(frame, "/errors").iter().filter_map(Value::as_str).collect();
    let said = [text(frame, "/result"), &errors.join("; "), text(frame, "/subtype")];
    let reason = said.into_iter().find(|text| !text.is_empty()).unwrap_or("the program does not say why");
    TurnEnd::Failed { reason: kept(reason), why }
}

/// Of this turn. What was read from the provider's cache is counted apart there, and is part of the input here.
fn usage(frame: &Value) -> Usage {
    let cached_input = number(frame, "/usage/cache_read_input_tokens");
    let cache_write = number(frame, "/usage/cache_creation_input_tokens");
    let input = number(frame, "/usage/input_tokens").saturating_add(cached_input).saturating_add(cache_write);
    Usage { input, output: number(frame, "/usage/output_tokens"), cached_input, cache_write }
}

/// Of this turn too: the total is the conversation's.
fn cost(frame: &Value) -> Option<Usd> {
    let models = frame.get("model_usage_since_last_result")?.as_object()?;
    Some(Usd::from_dollars(models.values().filter_map(|model| model.get("costUSD")?.as_f64()).sum()))
}

fn block_id(frame: &Value, place: usize) -> String {
    let id = text(frame, "/uuid");
    if place == 0 { id.to_owned() } else { format!("{id}#{place}") }
}

fn call(agent: &str, call: &str) -> String {
    if agent.is_empty() { call.to_owned() } else { format!("{agent}/{call}") }
}

fn ours(tool: &str) -> &str {
    match tool {
        "Bash" => "bash",
        "Read" => "read",
        "Write" => "write",
        "Edit" | "MultiEdit" | "NotebookEdit" => "edit",
        "Glob" => "glob",
        "Grep" => "grep",
        "WebFetch" => "web_fetch",
        other => other,
    }
}

fn proposed(tool: &str, arguments: Value) -> Proposed {
    let path = |name: &str| arguments.get(name).and_then(Value::as_str).map(PathBuf::from);
    let proposal = match tool {
        "Bash" if arguments.get("command").is_some_and(Value::is_string) => {
            Proposal::Command { line: CommandLine::Shell(text(&arguments, "/command").to_owned()), cwd: None }
        }
        "Write" | "Edit" | "MultiEdit" | "NotebookEdit" => path("file_path")
            .or_else(|| path("notebook_path"))
            .map_or(Proposal::Other, |path| Proposal::Change { paths: vec![path] }),
        "Read" | "Glob" | "Grep" => path("file_path")
            .or_else(|| path("path"))
            .map_or(Proposal::Other, |path| Proposal::Read { paths: vec![path] }),
        "WebFetch" => Proposal::Fetch { url: text(&arguments, "/url").to_owned() },
        _ => Proposal::Other,
    };
    Proposed { tool: ours(tool).to_owned(), arguments, proposal }
}
