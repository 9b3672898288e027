//! What Codex's app-server says, and how it is spoken to. Items are named within their turn, and turns have ids that last, so that
//! both together name an event. A refusal takes no reason there: the reason goes as a message into the same turn, and the refusal follows
//! when it has arrived; at once, the model would now and then be asked without it first.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_domain::Usage;
use windlass_domain::execution::{Failure, Observation, TurnEnd};

use super::item::{change, command, doing, end, output, usage};
use crate::frame::{
    asked_twice, digest, kept, kept_input, line, noticed, number, object, observed, passed_over, text, unreadable,
};
use crate::jsonrpc::NO_SUCH_METHOD;
use crate::{Answer, Conversation, Event, Launching, PermissionAsked, Session, Tell, Undeliverable};

/// So many changes of files are remembered until they are asked about. More at once is nothing that it does.
const MOST_CHANGES: usize = 64;

/// What it tells of that means nothing to us.
const PASSED_OVER: [&str; 20] = [
    "account/rateLimits/updated",
    "account/updated",
    "error",
    "item/commandExecution/outputDelta",
    "item/fileChange/outputDelta",
    "item/mcpToolCall/progress",
    "item/plan/delta",
    "item/reasoning/summaryPartAdded",
    "item/reasoning/summaryTextDelta",
    "item/reasoning/textDelta",
    "mcpServer/startupStatus/updated",
    "remoteControl/status/changed",
    "skills/changed",
    "thread/closed",
    "thread/compacted",
    "thread/name/updated",
    "thread/started",
    "thread/status/changed",
    "turn/diff/updated",
    "turn/plan/updated",
];

pub struct Talk {
    opening: Opening,
    model: String,
    prompt: String,
    thread: Option<String>,
    turn: Turn,
    /// What of ours awaits an answer, by its number.
    requested: BTreeMap<u64, Requested>,
    requests: u64,
    /// What is asked, by the question's number, with the turn it belongs to.
    asked: BTreeMap<u64, String>,
    /// Changes of files that were announced, by their item.
    changes: BTreeMap<String, Value>,
    used: Usage,
    said: String,
}

struct Opening {
    method: &'static str,
    params: Value,
    expected: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum Turn {
    None,
    /// Started, and not yet confirmed.
    Starting,
    Running(String),
}

enum Requested {
    Initialize,
    Thread,
    Turn,
    Steer {
        text: String,
    },
    /// Takes the reason why the call of this question is not allowed.
    Reason {
        question: u64,
    },
    Interrupt,
}

impl Talk {
    pub fn new(launching: &Launching<'_>) -> Self {
        Self {
            opening: opening(launching),
            model: launching.model.to_owned(),
            prompt: launching.prompt.to_owned(),
            thread: None,
            turn: Turn::None,
            requested: BTreeMap::new(),
            requests: 0,
            asked: BTreeMap::new(),
            changes: BTreeMap::new(),
            used: Usage::default(),
            said: String::new(),
        }
    }

    fn request(&mut self, what: Requested, method: &str, params: &Value) -> Vec<u8> {
        let id = self.requests;
        self.requests += 1;
        self.requested.insert(id, what);
        line(&json!({ "id": id, "method": method, "params": params }))
    }

    fn start_turn(&mut self, thread: &str, message: &str) -> Vec<u8> {
        self.turn = Turn::Starting;
        let params = json!({ "threadId": thread, "model": self.model, "input": input(message) });
        self.request(Requested::Turn, "turn/start", &params)
    }

    fn steer(&mut self, what: Requested, thread: &str, turn: &str, message: &str) -> Vec<u8> {
        let params = json!({ "threadId": thread, "expectedTurnId": turn, "input": input(message) });
        self.request(what, "turn/steer", &params)
    }

    fn answered(&mut self, frame: &Value) -> Vec<Event> {
        let id = frame.get("id").and_then(Value::as_u64);
        let Some(requested) = id.and_then(|id| self.requested.remove(&id)) else { return Vec::new() };
        let Some(error) = frame.get("error") else { return self.done(requested, frame) };
        let reason = kept(text(error, "/message"));
        match requested {
            // Too late for the turn that was to hear it: the next one will.
            Requested::Steer { text } => match self.thread.clone() {
                Some(thread) if self.turn == Turn::None => vec![Event::Write(self.start_turn(&thread, &text))],
                _ => vec![noticed(format!("the program did not take a message: {reason}"))],
            },
            Requested::Reason { question } => {
                let lost = noticed(format!("the program did not take the reason of a refusal: {reason}"));
                vec![Event::Write(decision(question, "decline")), lost]
            }
            Requested::Interrupt => vec![noticed(format!("the program did not stop: {reason}"))],
            Requested::Initialize | Requested::Thread if error.get("code") == Some(&NO_SUCH_METHOD.into()) => {
                vec![Event::Foreign { why: format!("it does not know how a conversation begins: {reason}") }]
            }
            Requested::Initialize | Requested::Thread | Requested::Turn => {
                self.turn = Turn::None;
                let id = format!("refused:{}", digest(&reason));
                let end = TurnEnd::Failed { reason, why: Failure::Agent };
                vec![observed(id, Observation::TurnEnded { end })]
            }
        }
    }

    fn done(&mut self, requested: Requested, frame: &Value) -> Vec<Event> {
        match requested {
            Requested::Thread => self.opened(frame),
            Requested::Turn => {
                let turn = text(frame, "/result/turn/id");
                if self.turn == Turn::Starting && !turn.is_empty() {
                    self.turn = Turn::Running(turn.to_owned());
                }
                Vec::new()
            }
            Requested::Reason { question } => vec![Event::Write(decision(question, "decline"))],
            Requested::Initialize | Requested::Steer { .. } | Requested::Interrupt => Vec::new(),
        }
    }

    fn opened(&mut self, frame: &Value) -> Vec<Event> {
        let thread = text(frame, "/result/thread/id").to_owned();
        if thread.is_empty() || self.opening.expected.as_ref().is_some_and(|expected| *expected != thread) {
            return vec![Event::Unreadable { why: format!("the program opened another thread: {thread}") }];
        }
        if text(frame, "/result/approvalPolicy") != "untrusted" {
            return vec![Event::Unacceptable { why: "it does not ask for permissions".to_owned() }];
        }
        self.thread = Some(thread.clone());
        let id = format!("session:{thread}");
        let mut events = vec![observed(id, Observation::Session { session_id: thread.clone() })];
        let prompt = std::mem::take(&mut self.prompt);
        if !prompt.is_empty() {
            events.push(Event::Write(self.start_turn(&thread, &prompt)));
        }
        events
    }

    fn asked(&mut self, method: &str, id: &Value, params: &Value) -> Vec<Event> {
        let ours = self.thread.as_deref() == Some(text(params, "/threadId"));
        let (Some(number), true) = (id.as_u64(), ours) else {
            return vec![Event::Write(not_done(id)), unreadable("asks for another thread", method.as_bytes())];
        };
        if self.asked.contains_key(&number) {
            return vec![asked_twice(&number.to_string())];
        }
        let item = text(params, "/itemId").to_owned();
        let proposed = match method {
            "item/commandExecution/requestApproval" => command(params),
            "item/fileChange/requestApproval" => change(self.changes.get(&item)),
            // Only our own server is there to ask, and it asks nothing by this way.
            "mcpServer/elicitation/request" => {
                return vec![Event::Write(line(&json!({ "id": id, "result": { "action": "decline" } })))];
            }
            _ => return vec![Event::Write(not_done(id))],
        };
        self.asked.insert(number, text(params, "/turnId").to_owned());
        vec![Event::Asked(PermissionAsked { request: number.to_string(), call: item, proposed })]
    }

    /// Whether a notification is about a thread that is not ours. Before ours is open, nothing is done or said in it.
    fn is_foreign(&self, method: &str, params: &Value) -> bool {
        match (self.thread.as_deref().or(self.opening.expected.as_deref()), text(params, "/threadId")) {
            (_, "") => false,
            (Some(ours), thread) => ours != thread,
            (None, _) => method.starts_with("item/") || method.starts_with("turn/"),
        }
    }

    fn told(&mut self, method: &str, params: &Value) -> Vec<Event> {
        match method {
            "item/started" => self.item_started(params),
            "item/completed" => self.item_completed(params),
            "item/agentMessage/delta" => vec![Event::Streamed { text: text(params, "/delta").to_owned() }],
            "thread/tokenUsage/updated" => {
                self.used += usage(params);
                Vec::new()
            }
            "turn/started" => {
                self.turn = Turn::Running(text(params, "/turn/id").to_owned());
                Vec::new()
            }
            "turn/completed" => self.turn_completed(params),
            "serverRequest/resolved" => {
                let request = number(params, "/requestId");
                self.asked.remove(&request).map(|_| withdrawn(request)).into_iter().collect()
            }
            "error" if params.get("willRetry") == Some(&Value::Bool(true)) => {
                let (message, details) = (text(params, "/error/message"), text(params, "/error/additionalDetails"));
                vec![noticed(kept(&format!("{message} {details}")))]
            }
            "warning" | "configWarning" | "deprecationNotice" => {
                let said = [text(params, "/message"), text(params, "/summary")];
                said.into_iter().find(|said| !said.is_empty()).map(|said| noticed(kept(said))).into_iter().collect()
            }
            kind => passed_over(kind, &PASSED_OVER),
        }
    }

    fn item_started(&mut self, params: &Value) -> Vec<Event> {
        let (item, turn) = (params.get("item").unwrap_or(&Value::Null), text(params, "/turnId"));
        let call = text(item, "/id").to_owned();
        let Some((tool, input)) = doing(item) else { return Vec::new() };
        if text(item, "/type") == "fileChange" && self.changes.len() < MOST_CHANGES {
            self.changes.insert(call.clone(), input.clone());
        }
        let id = format!("{turn}/{call}");
        vec![observed(id, Observation::Called { call, tool, input: kept_input(&input) })]
    }

    fn item_completed(&mut self, params: &Value) -> Vec<Event> {
        let (item, turn) = (params.get("item").unwrap_or(&Value::Null), text(params, "/turnId"));
        let call = text(item, "/id").to_owned();
        self.changes.remove(&call);
        if text(item, "/type") == "agentMessage" {
            self.said = kept(text(item, "/text"));
            let said = Observation::Said { text: self.said.clone() };
            return vec![observed(format!("{turn}/{call}"), said)];
        }
        if doing(item).is_none() {
            return Vec::new();
        }
        let exit_code = item.get("exitCode").and_then(Value::as_i64);
        let went_wrong = exit_code.is_some_and(|code| code != 0);
        let status = text(item, "/status");
        let is_error = went_wrong || status != "completed";
        let output = Some(output(item)).filter(|output| !output.is_empty()).unwrap_or_else(|| status.to_owned());
        let ran = exit_code.filter(|_| is_error).map(|_| Event::Ran { call: call.clone() });
        let ended = observed(format!("{turn}/{call}:ended"), Observation::CallEnded { call, is_error, output });
        ran.into_iter().chain([ended]).collect()
    }

    fn turn_completed(&mut self, params: &Value) -> Vec<Event> {
        let turn = text(params, "/turn/id");
        self.turn = Turn::None;
        self.changes.clear();
        let open: Vec<u64> = self.asked.iter().filter(|(_, of)| *of == turn).map(|(request, _)| *request).collect();
        let mut events = Vec::new();
        for request in open {
            self.asked.remove(&request);
            events.push(withdrawn(request));
        }
        let usage = std::mem::take(&mut self.used);
        if !usage.is_zero() {
            events.push(observed(format!("{turn}:used"), Observation::Used { usage, cost: None }));
        }
        let message = std::mem::take(&mut self.said);
        events.push(observed(format!("{turn}:ended"), Observation::TurnEnded { end: end(params, message) }));
        events
    }
}

impl Conversation for Talk {
    fn begin(&mut self) -> Vec<Vec<u8>> {
        let client = json!({ "clientInfo": { "name": "windlass", "version": env!("CARGO_PKG_VERSION") } });
        let initialize = self.request(Requested::Initialize, "initialize", &client);
        let (method, params) = (self.opening.method, std::mem::take(&mut self.opening.params));
        let thread = self.request(Requested::Thread, method, &params);
        vec![initialize, line(&json!({ "method": "initialized" })), thread]
    }

    fn read(&mut self, frame: &[u8]) -> Vec<Event> {
        let value = match object(frame) {
            Ok(value) => value,
            Err(events) => return events,
        };
        let params = value.get("params").unwrap_or(&Value::Null);
        match (value.get("method").and_then(Value::as_str), value.get("id")) {
            (Some(method), Some(id)) => self.asked(method, id, params),
            (Some(method), None) => {
                if self.is_foreign(method, params) {
                    return vec![unreadable("speaks for another thread", frame)];
                }
                self.told(method, params)
            }
            (None, Some(_)) => self.answered(&value),
            (None, None) => vec![unreadable("is neither question nor answer", frame)],
        }
    }

    fn tell(&mut self, tell: &Tell) -> Result<Vec<Vec<u8>>, Undeliverable> {
        let thread = self.thread.clone().ok_or(Undeliverable::NotReady)?;
        match (tell, &self.turn) {
            (_, Turn::Starting) => Err(Undeliverable::NotReady),
            (Tell::Say { text }, Turn::None) => Ok(vec![self.start_turn(&thread, text)]),
            (Tell::Say { text }, Turn::Running(turn)) => {
                let turn = turn.clone();
                Ok(vec![self.steer(Requested::Steer { text: text.clone() }, &thread, &turn, text)])
            }
            (Tell::Interrupt, Turn::None) => Ok(Vec::new()),
            (Tell::Interrupt, Turn::Running(turn)) => {
                let params = json!({ "threadId": thread, "turnId": turn });
                Ok(vec![self.request(Requested::Interrupt, "turn/interrupt", &params)])
            }
        }
    }

    fn answer(&mut self, request: &str, answer: &Answer) -> Vec<Vec<u8>> {
        let Some((question, turn)) = request.parse().ok().and_then(|id| self.asked.remove_entry(&id)) else {
            return Vec::new();
        };
        vec![match answer {
            Answer::Allow => decision(question, "accept"),
            Answer::Deny { reason } => {
                let thread = self.thread.clone().unwrap_or_default();
                let reason = format!("This was not allowed: {reason}");
                self.steer(Requested::Reason { question }, &thread, &turn, &reason)
            }
            Answer::Hold { .. } => decision(question, "cancel"),
        }]
    }
}

fn decision(question: u64, decision: &str) -> Vec<u8> {
    line(&json!({ "id": question, "result": { "decision": decision } }))
}

fn opening(launching: &Launching<'_>) -> Opening {
    let mut params = json!({
        "model": launching.model,
        "cwd": launching.workspace.display().to_string(),
        "approvalPolicy": "untrusted",
        "approvalsReviewer": "user",
        "sandbox": "danger-full-access",
    });
    if !launching.instructions.is_empty() {
        params["developerInstructions"] = launching.instructions.into();
    }
    let (method, of) = match launching.session {
        Session::New(_) => return Opening { method: "thread/start", params, expected: None },
        Session::Resume(id) => ("thread/resume", id),
        Session::Fork(id) => ("thread/fork", id),
    };
    params["threadId"] = of.into();
    // What was said before is told once.
    params["excludeTurns"] = true.into();
    let expected = (method == "thread/resume").then(|| of.to_owned());
    Opening { method, params, expected }
}

fn input(message: &str) -> Value {
    json!([{ "type": "text", "text": message }])
}

fn not_done(id: &Value) -> Vec<u8> {
    line(&json!({ "id": id, "error": { "code": -32601, "message": "Windlass does not do this" } }))
}

fn withdrawn(request: u64) -> Event {
    Event::Withdrawn { request: request.to_string() }
}
