//! The talk with GitHub Copilot CLI over `--headless --stdio`: JSON-RPC for what we want of it, and one stream of events for what it does.
//! Events have ids of their own, which last; those of a conversation that is gone on with are not told again.
//!
//! A turn has ended at `session.idle`: what it did is on disk then, and a process that is killed loses none of it. At `assistant.idle`,
//! shortly before, it may be not. `session.idle` does not come while a command of the agent's runs on in the background, after which
//! the agent goes on by itself; so at `assistant.idle` we ask what runs, and say that something lingers. It may come between the end of
//! that command and the word of it with which the agent goes on: whoever is still to hear of a command has not ended its turn.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use windlass_domain::Usage;
use windlass_domain::execution::{Failure, Observation, TurnEnd};

use super::proposal::{proposed, tool};
use super::shells::Shells;
use crate::jsonrpc::{
    Message, NO_SUCH_METHOD, Refusal, Requests, kept, kept_input, list, number, observed, passed_over, read, refuse,
    text, unreadable,
};
use crate::{Answer, Conversation, Event, PermissionAsked, Tell, Undeliverable};

/// The version of its protocol that the program was tried with.
const VERSION: u64 = 3;
/// Requests of ours that it has not answered, and commands that it has begun: more than it ever has under way.
const MOST_OPEN: usize = 1_000;

/// What it tells of that means nothing to us.
const PASSED_OVER: [&str; 42] = [
    "abort",
    "assistant.idle",
    "assistant.message",
    "assistant.message_delta",
    "assistant.message_start",
    "assistant.reasoning",
    "assistant.reasoning_delta",
    "assistant.streaming_delta",
    "assistant.tool_call_delta",
    "assistant.turn_end",
    "assistant.turn_retry",
    "assistant.turn_start",
    "model.call_failure",
    "model.call_final_result",
    "model.call_finished",
    "model.call_start",
    "model.log",
    "model.message",
    "model.messages_snapshot",
    "model.model_call_started",
    "model.model_call_success",
    "model.response",
    "model.tool_execution",
    "model.turn_ended",
    "model.turn_failed",
    "model.turn_started",
    "pending_messages.modified",
    "sandbox.decision",
    "session.background_tasks_changed",
    "session.idle",
    "session.managed_settings_resolved",
    "session.mcp_server_tools_loaded",
    "session.mcp_servers_loaded",
    "session.resume",
    "session.skills_loaded",
    "session.start",
    "session.title_changed",
    "session.tools_updated",
    "session.usage_info",
    "system.message",
    "tool.shell_output",
    "user.message",
];

#[derive(Debug)]
pub struct Opening {
    pub session: From,
    /// What a session is configured with, but for its id.
    pub configuration: Value,
    pub prompt: String,
}

#[derive(Debug)]
pub enum From {
    New(String),
    Old(String),
    Fork(String),
}

#[derive(Debug)]
pub struct Talk {
    opening: Opening,
    phase: Phase,
    requests: Requests,
    awaited: BTreeMap<u64, Awaited>,
    open_questions: BTreeSet<String>,
    /// When the program answered first: what tells this run's failures from an earlier one's.
    since: String,
    turn: Turn,
    shells: Shells,
}

#[derive(Debug)]
enum Phase {
    Opening,
    Open { session: String },
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaited {
    Ping,
    Fork,
    Session,
    Message,
    Tasks,
    Other,
}

#[derive(Debug, Default)]
struct Turn {
    working: bool,
    /// The agent has stopped; what remains is to know that all of it is kept.
    stopped: bool,
    aborted: bool,
    /// The shells that the agent waits for, after which it goes on.
    lingers_for: Vec<String>,
    last_said: String,
    failed: Option<(String, Failure)>,
}

impl Talk {
    pub fn new(opening: Opening) -> Self {
        Self {
            opening,
            phase: Phase::Opening,
            requests: Requests::default(),
            awaited: BTreeMap::new(),
            open_questions: BTreeSet::new(),
            since: String::new(),
            turn: Turn::default(),
            shells: Shells::default(),
        }
    }

    fn request(&mut self, awaited: Awaited, method: &str, params: &Value) -> Vec<u8> {
        let (id, frame) = self.requests.write(method, params);
        self.awaited.insert(id, awaited);
        frame
    }

    fn session(&self) -> Result<&str, Undeliverable> {
        match &self.phase {
            Phase::Open { session } => Ok(session),
            Phase::Opening => Err(Undeliverable::NotReady),
            Phase::Over => Err(Undeliverable::NotAble),
        }
    }

    fn enter(&mut self, method: &str, id: &str) -> Vec<u8> {
        let mut params = self.opening.configuration.clone();
        params["sessionId"] = json!(id);
        self.request(Awaited::Session, method, &params)
    }

    fn send(&mut self, session: &str, words: &str) -> Vec<u8> {
        let mut params = json!({ "sessionId": session, "prompt": words });
        if self.turn.working {
            params["mode"] = json!("immediate");
        }
        self.turn.working = true;
        self.request(Awaited::Message, "session.send", &params)
    }

    fn abort(&mut self, session: &str) -> Vec<u8> {
        self.request(Awaited::Other, "session.abort", &json!({ "sessionId": session }))
    }

    fn answered(&mut self, id: u64, result: Result<Value, Refusal>) -> Vec<Event> {
        match (self.awaited.remove(&id), result) {
            (Some(Awaited::Ping), Ok(pong)) => self.greeted(&pong),
            (Some(Awaited::Fork), Ok(forked)) => {
                let id = text(&forked, "/sessionId").to_owned();
                vec![Event::Write(self.enter("session.resume", &id))]
            }
            (Some(Awaited::Session), Ok(opened)) => self.entered(&opened),
            (Some(Awaited::Ping), Err(refusal)) if refusal.code == NO_SUCH_METHOD => {
                self.not_spoken("it cannot say which version of its protocol it speaks")
            }
            (Some(Awaited::Ping | Awaited::Fork | Awaited::Session), Err(refusal)) => {
                self.give_up(&format!("the conversation cannot begin: {}", refusal.message))
            }
            (Some(Awaited::Message), Err(refusal)) => {
                self.turn.failed = Some((refusal.message, Failure::Agent));
                self.turn_ended(&format!("{}:refused:{id}", self.since))
            }
            (Some(Awaited::Other), Err(refusal)) => {
                let text = format!("the program would not do what it was told: {}", refusal.message);
                vec![observed(format!("{}:refused:{id}", self.since), Observation::Noticed { text })]
            }
            (Some(Awaited::Tasks), Ok(tasks)) => self.running(id, &tasks),
            (Some(Awaited::Tasks), Err(_)) => self.running(id, &Value::Null),
            (Some(Awaited::Message | Awaited::Other), Ok(_)) => Vec::new(),
            (None, _) => vec![unreadable("answers nothing that was asked", id.to_string().as_bytes())],
        }
    }

    fn greeted(&mut self, pong: &Value) -> Vec<Event> {
        text(pong, "/timestamp").clone_into(&mut self.since);
        match number(pong, "/protocolVersion") {
            VERSION => Vec::new(),
            version => self.not_spoken(&format!("it speaks version {version} of its protocol, and Windlass {VERSION}")),
        }
    }

    fn entered(&mut self, opened: &Value) -> Vec<Event> {
        let session = text(opened, "/sessionId").to_owned();
        if session.is_empty() || matches!(self.phase, Phase::Over) {
            return self.give_up("the program gave its conversation no name");
        }
        self.phase = Phase::Open { session: session.clone() };
        let words = std::mem::take(&mut self.opening.prompt);
        let sent = self.send(&session, &words);
        let session_id = session.clone();
        vec![observed(format!("session:{session}"), Observation::Session { session_id }), Event::Write(sent)]
    }

    fn give_up(&mut self, reason: &str) -> Vec<Event> {
        if matches!(self.phase, Phase::Over) {
            return Vec::new();
        }
        self.phase = Phase::Over;
        let end = TurnEnd::Failed { reason: reason.to_owned(), why: Failure::Agent };
        vec![observed(format!("{}:over", self.since), Observation::TurnEnded { end })]
    }

    fn not_spoken(&mut self, why: &str) -> Vec<Event> {
        self.phase = Phase::Over;
        vec![Event::Foreign { why: why.to_owned() }]
    }

    fn told(&mut self, params: &Value) -> Vec<Event> {
        let Ok(session) = self.session() else { return Vec::new() };
        if text(params, "/sessionId") != session {
            return vec![unreadable("is of another conversation", text(params, "/sessionId").as_bytes())];
        }
        let Some(event) = params.get("event") else {
            return vec![unreadable("tells nothing", params.to_string().as_bytes())];
        };
        self.happened(event)
    }

    fn happened(&mut self, event: &Value) -> Vec<Event> {
        let id = text(event, "/id");
        let data = event.get("data").unwrap_or(&Value::Null);
        let sub_agent = text(event, "/agentId");
        match text(event, "/type") {
            "assistant.turn_start" if sub_agent.is_empty() => {
                self.turn.working = true;
                self.turn.stopped = false;
                Vec::new()
            }
            "assistant.message_delta" if sub_agent.is_empty() => {
                vec![Event::Streamed { text: text(data, "/deltaContent").to_owned() }]
            }
            "assistant.message" if sub_agent.is_empty() => self.said(id, data),
            "assistant.usage" => vec![used(id, data)],
            "tool.execution_start" => self.called(id, call(sub_agent, data), data),
            "tool.execution_partial_result" => {
                self.shells.printed(&call(sub_agent, data), data);
                Vec::new()
            }
            "tool.execution_complete" => self.call_ended(id, call(sub_agent, data), data),
            "system.notification" => self.shells.notified(id, data),
            "agent.interrupted" => interrupted(id, sub_agent, data),
            "permission.requested" => self.asked(sub_agent, data),
            "permission.completed" => self.settled(text(data, "/requestId")),
            "session.error" => {
                self.turn.failed = Some((kept(text(data, "/message")), failure(data)));
                Vec::new()
            }
            "session.warning" | "session.info" => noticed(id, data),
            "session.mcp_server_status_changed" => self.server_changed(id, data),
            "assistant.idle" if sub_agent.is_empty() => self.stopped(data),
            "session.idle" if self.turn.stopped && !self.is_to_hear_of_a_command() => self.turn_ended(id),
            "" => vec![unreadable("tells of nothing", event.to_string().as_bytes())],
            kind => passed_over(kind, &PASSED_OVER),
        }
    }

    fn said(&mut self, id: &str, data: &Value) -> Vec<Event> {
        // It went on: what failed was not the turn.
        self.turn.failed = None;
        let text = kept(text(data, "/content"));
        if text.is_empty() {
            return Vec::new();
        }
        self.turn.last_said.clone_from(&text);
        vec![observed(id, Observation::Said { text })]
    }

    fn called(&mut self, id: &str, call: String, data: &Value) -> Vec<Event> {
        self.shells.called(&call, data);
        let tool = tool(text(data, "/toolName")).to_owned();
        let input = kept_input(data.get("arguments").unwrap_or(&Value::Null));
        vec![observed(id, Observation::Called { call, tool, input })]
    }

    fn call_ended(&mut self, id: &str, call: String, data: &Value) -> Vec<Event> {
        let Some(others) = self.shells.done(id, &call, data) else { return Vec::new() };
        [call_ended(id, call, data)].into_iter().chain(others).collect()
    }

    fn asked(&mut self, sub_agent: &str, data: &Value) -> Vec<Event> {
        let request = text(data, "/requestId").to_owned();
        let settled = data.get("resolvedByHook").and_then(Value::as_bool).unwrap_or_default();
        if request.is_empty() || settled || !self.open_questions.insert(request.clone()) {
            return Vec::new();
        }
        let asked = data.get("permissionRequest").unwrap_or(&Value::Null);
        vec![Event::Asked(PermissionAsked { request, call: call(sub_agent, asked), proposed: proposed(asked) })]
    }

    fn settled(&mut self, request: &str) -> Vec<Event> {
        let taken_back = self.open_questions.remove(request);
        taken_back.then(|| Event::Withdrawn { request: request.to_owned() }).into_iter().collect()
    }

    /// Without the server that it was to have, an agent would work on and its owner hear nothing.
    fn server_changed(&mut self, id: &str, data: &Value) -> Vec<Event> {
        let status = text(data, "/status");
        if text(data, "/serverName") != "windlass" || ["pending", "connected"].contains(&status) {
            return Vec::new();
        }
        let Ok(session) = self.session().map(str::to_owned) else { return Vec::new() };
        let abort = self.abort(&session);
        self.phase = Phase::Over;
        let reason = format!("the MCP server could not be given ({}): {}", kept(status), kept(text(data, "/error")));
        let end = TurnEnd::Failed { reason, why: Failure::Agent };
        vec![Event::Write(abort), observed(id, Observation::TurnEnded { end })]
    }

    fn stopped(&mut self, data: &Value) -> Vec<Event> {
        self.turn.stopped = true;
        self.turn.aborted = data.get("aborted").and_then(Value::as_bool).unwrap_or_default();
        let Ok(session) = self.session() else { return Vec::new() };
        let params = json!({ "sessionId": session });
        vec![Event::Write(self.request(Awaited::Tasks, "session.tasks.list", &params))]
    }

    fn running(&mut self, request: u64, tasks: &Value) -> Vec<Event> {
        let running: Vec<&Value> =
            list(tasks, "/tasks").iter().filter(|task| text(task, "/status") == "running").collect();
        if !self.turn.stopped || running.is_empty() {
            return Vec::new();
        }
        let event_id = format!("{}:stopped:{request}", self.since);
        if self.turn.aborted || self.turn.failed.is_some() {
            return self.turn_ended(&event_id);
        }
        // It waits as well: a message is the next one, and interrupts nothing.
        self.turn.working = false;
        self.turn.lingers_for = running.iter().map(|task| text(task, "/id").to_owned()).collect();
        vec![Event::Lingers { event_id, end: TurnEnd::Completed { message: self.turn.last_said.clone() } }]
    }

    fn is_to_hear_of_a_command(&self) -> bool {
        let broken_off = self.turn.aborted || self.turn.failed.is_some();
        !broken_off && self.turn.lingers_for.iter().any(|shell| self.shells.runs_on(shell))
    }

    fn turn_ended(&mut self, id: &str) -> Vec<Event> {
        let turn = std::mem::take(&mut self.turn);
        let end = match turn.failed {
            _ if turn.aborted => TurnEnd::Interrupted,
            Some((reason, why)) => TurnEnd::Failed { reason, why },
            None => TurnEnd::Completed { message: turn.last_said },
        };
        let mut events: Vec<Event> =
            std::mem::take(&mut self.open_questions).into_iter().map(|request| Event::Withdrawn { request }).collect();
        events.push(observed(id, Observation::TurnEnded { end }));
        events
    }
}

impl Conversation for Talk {
    fn begin(&mut self) -> Vec<Vec<u8>> {
        let ping = self.request(Awaited::Ping, "ping", &json!({ "message": "windlass" }));
        let session = match &self.opening.session {
            From::New(id) => {
                let id = id.clone();
                self.enter("session.create", &id)
            }
            From::Old(id) => {
                let id = id.clone();
                self.enter("session.resume", &id)
            }
            From::Fork(id) => {
                let params = json!({ "sessionId": id });
                self.request(Awaited::Fork, "sessions.fork", &params)
            }
        };
        vec![ping, session]
    }

    fn read(&mut self, frame: &[u8]) -> Vec<Event> {
        if self.awaited.len().max(self.shells.open()) > MOST_OPEN {
            self.phase = Phase::Over;
            return vec![Event::Flood { what: "it begins one thing after the other and ends none" }];
        }
        match read(frame) {
            Err(why) => vec![Event::Unreadable { why }],
            Ok(Some(Message::Reply { id, result })) => self.answered(id, result),
            Ok(Some(Message::Notice { method, params })) if method == "session.event" => self.told(&params),
            Ok(Some(Message::Request { id, .. })) => {
                vec![Event::Write(refuse(&id, NO_SUCH_METHOD, "the client does nothing for the program"))]
            }
            Ok(Some(Message::Notice { .. }) | None) => Vec::new(),
        }
    }

    fn tell(&mut self, message: &Tell) -> Result<Vec<Vec<u8>>, Undeliverable> {
        let session = self.session()?.to_owned();
        Ok(vec![match message {
            Tell::Say { text } => self.send(&session, text),
            Tell::Interrupt => self.abort(&session),
        }])
    }

    fn answer(&mut self, request: &str, answer: &Answer) -> Vec<Vec<u8>> {
        let Ok(session) = self.session().map(str::to_owned) else { return Vec::new() };
        if !self.open_questions.remove(request) {
            return Vec::new();
        }
        let result = match answer {
            Answer::Allow => json!({ "kind": "approve-once" }),
            Answer::Deny { reason } | Answer::Hold { reason } => json!({ "kind": "reject", "feedback": reason }),
        };
        let params = json!({ "sessionId": session, "requestId": request, "result": result });
        let mut frames =
            vec![self.request(Awaited::Other, "session.permissions.handlePendingPermissionRequest", &params)];
        if matches!(answer, Answer::Hold { .. }) {
            frames.push(self.abort(&session));
        }
        frames
    }
}

/// Sub-agents have calls of their own, whose names may be those of others.
fn call(sub_agent: &str, data: &Value) -> String {
    match (sub_agent, text(data, "/toolCallId")) {
        ("", call) => call.to_owned(),
        (agent, call) => format!("{agent}/{call}"),
    }
}

fn used(id: &str, data: &Value) -> Event {
    let usage = Usage {
        input: number(data, "/inputTokens"),
        output: number(data, "/outputTokens"),
        cached_input: number(data, "/cacheReadTokens"),
        cache_write: number(data, "/cacheWriteTokens"),
    };
    // What it calls cost counts its own requests, not dollars.
    observed(id, Observation::Used { usage, cost: None })
}

fn call_ended(id: &str, call: String, data: &Value) -> Event {
    let is_error = !data.get("success").and_then(Value::as_bool).unwrap_or_default();
    let output = if is_error { text(data, "/error/message") } else { text(data, "/result/content") };
    observed(id, Observation::CallEnded { call, is_error, output: kept(output) })
}

/// Calls that are cut off do not end by themselves.
fn interrupted(id: &str, sub_agent: &str, data: &Value) -> Vec<Event> {
    let cut = list(data, "/toolCallIds").iter().filter_map(Value::as_str);
    cut.map(|name| {
        let call = call(sub_agent, &json!({ "toolCallId": name }));
        let output = "interrupted".to_owned();
        observed(format!("{id}:{name}"), Observation::CallEnded { call, is_error: true, output })
    })
    .collect()
}

/// What it tells its people of itself; that a file was written is told by the call already.
fn noticed(id: &str, data: &Value) -> Vec<Event> {
    if text(data, "/infoType").starts_with("file_") {
        return Vec::new();
    }
    vec![observed(id, Observation::Noticed { text: kept(text(data, "/message")) })]
}

fn failure(data: &Value) -> Failure {
    match (text(data, "/errorType"), number(data, "/statusCode")) {
        ("authentication" | "authorization", _) | (_, 401 | 403) => Failure::Login,
        ("rate_limit" | "quota" | "query" | "context_limit", _) | (_, 400..600) => Failure::Model,
        _ => Failure::Agent,
    }
}
