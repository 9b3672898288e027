//! The talk with an agent over the Agent Client Protocol, version 1, seen from the client. We offer it neither files nor terminals: it has
//! its own, in the sandbox. Written over JSON values rather than the protocol's crate, whose types are those of one minor version, whose
//! connection wants a runtime, and whose errors end the talk where a diagnostic will do.
//!
//! The protocol has no ids that last for much of what it tells. Where it gives none, an event's id is a digest of all that was heard
//! until then, an old conversation's replay included: a stream read again says the same ids, and a conversation that is gone
//! on with says none of the old ones.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use serde_json::{Value, json};
use windlass_domain::execution::{Failure, MOST_OBSERVED, Observation, TurnEnd};
use windlass_domain::{Usage, Usd};

use super::call::Call;
use super::ending::{ended, failure, spoken};
use super::question::{Question, cancelled};
use crate::jsonrpc::{
    Message, NO_SUCH_METHOD, Refusal, Requests, kept, notice, number, observed, passed_over, read, refuse, reply, text,
    unreadable,
};
use crate::{Answer, Conversation, Event, PermissionAsked, Tell, Undeliverable};

/// The version of the protocol that is spoken here.
const VERSION: u64 = 1;

/// Calls that are remembered, and questions that nobody has answered: more than any agent has under way.
const MOST_OPEN: usize = 1_000;
/// What is remembered of them, in bytes.
const MOST_REMEMBERED: usize = 64 << 20;

/// Plans, thoughts, commands, modes: for the agent's own screen.
const PASSED_OVER: [&str; 7] = [
    "agent_thought_chunk",
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "plan",
    "session_info_update",
    "user_message_chunk",
];

/// How a conversation is begun.
#[derive(Debug, Clone)]
pub struct Opening {
    pub from: From,
    pub workspace: String,
    pub mcp: Option<Mcp>,
    pub prompt: String,
    /// The same where the old conversation cannot be gone on with.
    pub anew: String,
    pub steerable: bool,
    pub asks: Asks,
}

/// Our MCP server.
#[derive(Debug, Clone)]
pub struct Mcp {
    pub url: String,
    /// Its bearer.
    pub key: String,
    /// The program that passes on to it, for agents that take no address.
    pub bridge: Option<String>,
}

/// When an agent asks about a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// With all that there is to know about it, or after it.
    Knowingly,
    /// Maybe before it has told where the command will run, which it does by itself.
    Early,
}

#[derive(Debug, Clone)]
pub enum From {
    New,
    Old(String),
    Fork(String),
}

#[derive(Debug)]
pub struct Talk {
    opening: Opening,
    phase: Phase,
    requests: Requests,
    awaited: BTreeMap<u64, Awaited>,
    /// It takes an MCP server by its address.
    takes_http: bool,
    /// A new conversation stands for the old one, whose names for things it may use again.
    is_anew: bool,
    calls: BTreeMap<String, Call>,
    questions: BTreeMap<String, Question>,
    /// Questions about a call that is told of in part: they are put when the rest has come.
    early: Vec<(String, String)>,
    withdrawn: Vec<String>,
    saying: Saying,
    turn: Turn,
    cost: Cost,
    heard: u64,
}

#[derive(Debug)]
enum Phase {
    Greeting,
    /// A session is asked for; what is told until it is there is an old conversation's.
    Entering,
    Open {
        session: String,
    },
    /// It cannot be talked to; why was said.
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Awaited {
    Greeting,
    Session,
    Prompt,
}

/// What the agent is saying now, until it does something else.
#[derive(Debug, Default)]
struct Saying {
    message: Option<String>,
    text: String,
    /// How many texts this message had before.
    parts: u32,
}

#[derive(Debug, Default)]
struct Turn {
    last_said: String,
    stopped: bool,
    /// Why a call was denied, for as long as the agent has not gone on by itself.
    denied: Option<String>,
}

/// What the conversation has cost; agents tell the sum.
#[derive(Debug, Default)]
struct Cost {
    sum: Usd,
    told: Usd,
}

impl Saying {
    /// What nobody would be shown is not remembered either: a message may have no end.
    fn hear(&mut self, words: &str) {
        let room = MOST_OBSERVED.saturating_sub(self.text.len());
        self.text.push_str(&words[..words.floor_char_boundary(room)]);
    }
}

impl Talk {
    pub fn new(opening: Opening) -> Self {
        Self {
            opening,
            phase: Phase::Greeting,
            requests: Requests::default(),
            awaited: BTreeMap::new(),
            takes_http: false,
            is_anew: false,
            calls: BTreeMap::new(),
            questions: BTreeMap::new(),
            early: Vec::new(),
            withdrawn: Vec::new(),
            saying: Saying::default(),
            turn: Turn::default(),
            cost: Cost::default(),
            heard: 0xcbf2_9ce4_8422_2325,
        }
    }

    fn request(&mut self, awaited: Awaited, method: &str, params: &Value) -> Vec<u8> {
        let (id, frame) = self.requests.write(method, params);
        self.awaited.insert(id, awaited);
        frame
    }

    fn working(&self) -> bool {
        self.awaited.values().any(|awaited| *awaited == Awaited::Prompt)
    }

    fn session(&self) -> Result<String, Undeliverable> {
        match &self.phase {
            Phase::Open { session } => Ok(session.clone()),
            Phase::Greeting | Phase::Entering => Err(Undeliverable::NotReady),
            Phase::Over => Err(Undeliverable::NotAble),
        }
    }

    fn prompt(&mut self, session: &str, words: &str) -> Vec<u8> {
        let params = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": words }] });
        self.request(Awaited::Prompt, "session/prompt", &params)
    }

    /// FNV-1a over everything that came, in order.
    fn hear(&mut self, frame: &[u8]) {
        for byte in frame {
            self.heard = (self.heard ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn id_of(&self, what: &str) -> String {
        format!("{what}:{:016x}", self.heard)
    }

    fn answered(&mut self, id: u64, result: Result<Value, Refusal>) -> Vec<Event> {
        match (self.awaited.remove(&id), result) {
            (Some(Awaited::Greeting), Ok(greeting)) => self.greeted(&greeting),
            (Some(Awaited::Session), Ok(opened)) => self.entered(&opened),
            (Some(Awaited::Prompt), Ok(ended)) => self.prompt_ended(&ended),
            (Some(Awaited::Prompt), Err(refusal)) => self.prompt_failed(&refusal),
            (Some(Awaited::Greeting), Err(refusal)) if refusal.code == NO_SUCH_METHOD => {
                self.not_spoken("it does not know how the Agent Client Protocol begins".to_owned())
            }
            (Some(Awaited::Session), Err(refusal)) if self.is_lost(&refusal) => self.begin_anew(&spoken(&refusal)),
            (Some(Awaited::Greeting | Awaited::Session), Err(refusal)) => {
                let reason = format!("the conversation cannot begin: {}", spoken(&refusal));
                self.give_up(&reason, failure(&refusal))
            }
            (None, _) => vec![unreadable("answers nothing that was asked", id.to_string().as_bytes())],
        }
    }

    fn greeted(&mut self, greeting: &Value) -> Vec<Event> {
        let version = number(greeting, "/protocolVersion");
        if version != VERSION {
            let why = format!("it speaks version {version} of the Agent Client Protocol, and Windlass {VERSION}");
            return self.not_spoken(why);
        }
        self.takes_http = flag(greeting, "/agentCapabilities/mcpCapabilities/http");
        let (method, old) = match self.opening.from.clone() {
            From::New => ("session/new", None),
            // Loading tells the old conversation over again, which is what makes the ids of the new words new.
            From::Old(id) if flag(greeting, "/agentCapabilities/loadSession") => ("session/load", Some(id)),
            From::Old(id) if able(greeting, "resume") => ("session/resume", Some(id)),
            From::Fork(id) if able(greeting, "fork") => ("session/fork", Some(id)),
            From::Old(_) => return self.begin_anew("it says that it cannot"),
            From::Fork(_) => return self.give_up("the program cannot fork a conversation", Failure::Agent),
        };
        self.enter(method, old)
    }

    /// Its home may have lost the old one, too. Whoever is not let in is not let in anew either.
    fn is_lost(&self, refusal: &Refusal) -> bool {
        matches!(self.opening.from, From::Old(_)) && failure(refusal) == Failure::Agent
    }

    /// Nothing is left of the old conversation: what it has to know is said again.
    fn begin_anew(&mut self, why: &str) -> Vec<Event> {
        self.opening.from = From::New;
        self.opening.prompt = mem::take(&mut self.opening.anew);
        self.cost = Cost::default();
        self.is_anew = true;
        let text = format!("the program cannot go on with its conversation, and begins a new one with the task: {why}");
        let mut events = vec![observed(self.id_of("anew"), Observation::Noticed { text })];
        events.extend(self.enter("session/new", None));
        events
    }

    fn enter(&mut self, method: &str, old: Option<String>) -> Vec<Event> {
        let Some(servers) = self.servers() else {
            return self.give_up("the program takes no MCP server over HTTP, and there is no other", Failure::Agent);
        };
        let mut params = json!({ "cwd": self.opening.workspace, "mcpServers": servers });
        if let Some(id) = old {
            params["sessionId"] = Value::String(id);
        }
        self.phase = Phase::Entering;
        vec![Event::Write(self.request(Awaited::Session, method, &params))]
    }

    /// As an address where it takes one, and otherwise as a program, which the protocol has everybody take.
    fn servers(&self) -> Option<Value> {
        let Some(Mcp { url, key, bridge }) = &self.opening.mcp else { return Some(json!([])) };
        if self.takes_http {
            let bearer = json!({ "name": "Authorization", "value": format!("Bearer {key}") });
            return Some(json!([{ "type": "http", "name": "windlass", "url": url, "headers": [bearer] }]));
        }
        let env = [("WINDLASS_MCP_URL", url), ("WINDLASS_MCP_TOKEN", key)];
        let env = env.map(|(name, value)| json!({ "name": name, "value": value }));
        let program = bridge.as_ref()?;
        Some(json!([{ "name": "windlass", "command": program, "args": ["mcp", "bridge"], "env": env }]))
    }

    fn entered(&mut self, opened: &Value) -> Vec<Event> {
        let session = match (text(opened, "/sessionId"), &self.opening.from) {
            ("", From::Old(id)) => id.clone(),
            ("", _) => return self.give_up("the program gave its conversation no name", Failure::Agent),
            (id, _) => id.to_owned(),
        };
        self.phase = Phase::Open { session: session.clone() };
        let words = mem::take(&mut self.opening.prompt);
        let prompt = self.prompt(&session, &words);
        let session_id = session.clone();
        vec![observed(format!("session:{session}"), Observation::Session { session_id }), Event::Write(prompt)]
    }

    fn give_up(&mut self, reason: &str, why: Failure) -> Vec<Event> {
        self.phase = Phase::Over;
        let end = TurnEnd::Failed { reason: reason.to_owned(), why };
        vec![observed(self.id_of("turn"), Observation::TurnEnded { end })]
    }

    fn not_spoken(&mut self, why: String) -> Vec<Event> {
        self.phase = Phase::Over;
        vec![Event::Foreign { why }]
    }

    fn prompt_ended(&mut self, result: &Value) -> Vec<Event> {
        let mut events = self.said();
        events.extend(self.used(result));
        let end = if self.turn.stopped { TurnEnd::Interrupted } else { ended(result, &self.turn.last_said) };
        events.extend(self.turn_ended(end));
        events
    }

    fn prompt_failed(&mut self, refusal: &Refusal) -> Vec<Event> {
        let mut events = self.said();
        let end = if self.turn.stopped {
            TurnEnd::Interrupted
        } else {
            TurnEnd::Failed { reason: spoken(refusal), why: failure(refusal) }
        };
        events.extend(self.turn_ended(end));
        events
    }

    /// A message that joined a turn has an answer of its own: the turn has ended when the last of them is there.
    fn turn_ended(&mut self, end: TurnEnd) -> Vec<Event> {
        if self.working() {
            return Vec::new();
        }
        let mut events: Vec<Event> = self.take_back().into_iter().map(Event::Write).collect();
        events.extend(self.withdrawn());
        // Some are cut off before they were said to be at work. All are kept, since their end may be told after the turn's.
        events.extend(self.calls.values_mut().flat_map(Call::begun));
        let turn = mem::take(&mut self.turn);
        match (turn.denied, &end, self.session()) {
            // The protocol has no words for why a call was denied, and some agents end their turn there.
            (Some(reason), TurnEnd::Completed { .. }, Ok(session)) => {
                let words = format!("The call was denied: {reason}\nGo on without it.");
                events.push(Event::Write(self.prompt(&session, &words)));
            }
            _ => events.push(observed(self.id_of("turn"), Observation::TurnEnded { end })),
        }
        events
    }

    fn used(&mut self, ended: &Value) -> Option<Event> {
        let input = number(ended, "/usage/inputTokens") + number(ended, "/_meta/quota/token_count/input_tokens");
        let output = number(ended, "/usage/outputTokens") + number(ended, "/_meta/quota/token_count/output_tokens");
        let usage = Usage {
            input,
            output,
            cached_input: number(ended, "/usage/cachedReadTokens"),
            cache_write: number(ended, "/usage/cachedWriteTokens"),
        };
        let cost = self.cost.sum.minus(self.cost.told);
        self.cost.told = self.cost.sum;
        let cost = (!cost.is_zero()).then_some(cost);
        (!usage.is_zero()).then(|| observed(self.id_of("used"), Observation::Used { usage, cost }))
    }

    fn told(&mut self, params: &Value) -> Vec<Event> {
        match &self.phase {
            Phase::Open { session } if text(params, "/sessionId") != session => {
                return vec![unreadable("is of another conversation", text(params, "/sessionId").as_bytes())];
            }
            Phase::Open { .. } => {}
            Phase::Entering => {
                self.cost.told = cost(params.get("update").unwrap_or(&Value::Null)).unwrap_or(self.cost.told);
                return Vec::new();
            }
            Phase::Greeting | Phase::Over => return Vec::new(),
        }
        let update = params.get("update").unwrap_or(&Value::Null);
        match text(update, "/sessionUpdate") {
            "agent_message_chunk" => self.heard_words(update),
            "tool_call" | "tool_call_update" => {
                let mut events = self.said();
                events.extend(self.call(update));
                if text(update, "/status") == "in_progress" {
                    events.extend(self.put(text(update, "/toolCallId")));
                }
                events
            }
            "usage_update" => {
                self.cost.sum = cost(update).unwrap_or(self.cost.sum);
                Vec::new()
            }
            "" => vec![unreadable("tells nothing", params.to_string().as_bytes())],
            kind => passed_over(kind, &PASSED_OVER),
        }
    }

    fn heard_words(&mut self, update: &Value) -> Vec<Event> {
        let words = text(update, "/content/text");
        if words.is_empty() {
            return Vec::new();
        }
        let message = update.get("messageId").and_then(Value::as_str).map(str::to_owned);
        let mut events = if message == self.saying.message { Vec::new() } else { self.said() };
        if message != self.saying.message {
            self.saying = Saying { message, ..Saying::default() };
        }
        self.turn.denied = None;
        self.saying.hear(words);
        events.push(Event::Streamed { text: words.to_owned() });
        events
    }

    /// What was being said is said: something else happens now.
    fn said(&mut self) -> Vec<Event> {
        let text = mem::take(&mut self.saying.text);
        if text.is_empty() {
            return Vec::new();
        }
        let text = kept(&text);
        self.turn.last_said.clone_from(&text);
        let id = match &self.saying.message {
            Some(message) => format!("{message}:{}", self.saying.parts),
            None => self.id_of("said"),
        };
        self.saying.parts += 1;
        vec![observed(id, Observation::Said { text })]
    }

    fn call(&mut self, told: &Value) -> Vec<Event> {
        let id = text(told, "/toolCallId");
        if id.is_empty() {
            return vec![unreadable("tells of a call without a name", told.to_string().as_bytes())];
        }
        if !self.calls.contains_key(id) {
            self.turn.denied = None;
        }
        let events = self.calls.entry(id.to_owned()).or_insert_with(|| Call::new(id)).update(told);
        self.unless_flooded(events)
    }

    /// Who begins more than can be remembered is ended. One that has ended is forgotten first: told of again, it says what it has said, under
    /// the same names.
    fn unless_flooded(&mut self, events: Vec<Event>) -> Vec<Event> {
        if self.is_within_bounds() {
            return events;
        }
        self.calls.retain(|_, call| !call.has_ended());
        if self.is_within_bounds() {
            return events;
        }
        self.calls.clear();
        self.questions.clear();
        self.early.clear();
        self.phase = Phase::Over;
        vec![Event::Flood { what: "it begins one thing after the other and ends none" }]
    }

    fn is_within_bounds(&self) -> bool {
        let calls = self.calls.values().map(Call::weight).sum::<usize>();
        let questions = self.questions.iter().map(|(name, question)| name.len() + question.weight()).sum::<usize>();
        self.calls.len().max(self.questions.len()) <= MOST_OPEN && calls + questions <= MOST_REMEMBERED
    }

    fn asked(&mut self, id: Value, method: &str, params: &Value) -> Vec<Event> {
        if method != "session/request_permission" {
            return vec![Event::Write(refuse(&id, NO_SUCH_METHOD, "the client offers neither files nor terminals"))];
        }
        let ours = self.session().is_ok_and(|session| session == text(params, "/sessionId"));
        let call = text(params, "/toolCall/toolCallId").to_owned();
        let request = format!("question:{id}");
        if !ours || call.is_empty() || self.questions.contains_key(&request) {
            let why = unreadable("asks about nothing of this conversation", params.to_string().as_bytes());
            return vec![Event::Write(reply(&id, &cancelled())), why];
        }
        let mut events = self.said();
        let told = params.get("toolCall").unwrap_or(&Value::Null);
        let known = self.calls.entry(call.clone()).or_insert_with(|| Call::new(&call));
        events.extend(known.update(told));
        let is_early = self.opening.asks == Asks::Early && known.is_half_told();
        self.questions.insert(request.clone(), Question::new(id, params));
        self.early.push((request, call.clone()));
        if !is_early {
            events.extend(self.put(&call));
        }
        self.unless_flooded(events)
    }

    /// Puts the questions about a call.
    fn put(&mut self, call: &str) -> Vec<Event> {
        let Some(known) = self.calls.get_mut(call) else { return Vec::new() };
        let mut events = known.begun();
        let asked = self.early.extract_if(.., |(_, early)| early == call);
        let open = asked.filter(|(request, _)| self.questions.contains_key(request));
        events.extend(
            open.map(|(request, call)| Event::Asked(PermissionAsked { request, call, proposed: known.proposed() })),
        );
        events
    }

    /// Answers what is still open with "cancelled", as the protocol wants it of who stops a turn.
    fn take_back(&mut self) -> Vec<Vec<u8>> {
        self.early.clear();
        let open = mem::take(&mut self.questions);
        let answers = open.values().map(Question::cancel).collect();
        self.withdrawn.extend(open.into_keys());
        answers
    }

    fn withdrawn(&mut self) -> Vec<Event> {
        let once: BTreeSet<String> = mem::take(&mut self.withdrawn).into_iter().collect();
        once.into_iter().map(|request| Event::Withdrawn { request }).collect()
    }

    fn stop(&mut self) -> Vec<Vec<u8>> {
        let Ok(session) = self.session() else { return Vec::new() };
        if !self.working() {
            return Vec::new();
        }
        self.turn.stopped = true;
        let mut frames = vec![notice("session/cancel", &json!({ "sessionId": session }))];
        frames.extend(self.take_back());
        frames
    }
}

impl Conversation for Talk {
    fn begin(&mut self) -> Vec<Vec<u8>> {
        let params = json!({
            "protocolVersion": VERSION,
            "clientInfo": { "name": "windlass", "version": env!("CARGO_PKG_VERSION") },
            "clientCapabilities": { "fs": { "readTextFile": false, "writeTextFile": false }, "terminal": false },
        });
        vec![self.request(Awaited::Greeting, "initialize", &params)]
    }

    fn read(&mut self, frame: &[u8]) -> Vec<Event> {
        self.hear(frame);
        let mut events = self.withdrawn();
        events.extend(match read(frame) {
            Err(why) => vec![Event::Unreadable { why }],
            Ok(Some(Message::Reply { id, result })) => self.answered(id, result),
            Ok(Some(Message::Request { id, method, params })) => self.asked(id, &method, &params),
            Ok(Some(Message::Notice { method, params })) if method == "session/update" => self.told(&params),
            Ok(Some(Message::Notice { .. }) | None) => Vec::new(),
        });
        if let (true, Phase::Open { session }) = (self.is_anew, &self.phase) {
            events.iter_mut().for_each(|event| event.of_session(session));
        }
        events
    }

    fn tell(&mut self, message: &Tell) -> Result<Vec<Vec<u8>>, Undeliverable> {
        let session = self.session()?;
        match message {
            Tell::Say { .. } if self.working() && !self.opening.steerable => Err(Undeliverable::WhileWorking),
            Tell::Say { text } => Ok(vec![self.prompt(&session, text)]),
            Tell::Interrupt => Ok(self.stop()),
        }
    }

    fn answer(&mut self, request: &str, answer: &Answer) -> Vec<Vec<u8>> {
        let Some(question) = self.questions.remove(request) else { return Vec::new() };
        match answer {
            Answer::Allow => vec![question.allow()],
            Answer::Deny { reason } => {
                self.turn.denied = Some(reason.clone());
                vec![question.reject()]
            }
            Answer::Hold { .. } => {
                // Cancelled first: an agent that ends its turn at a refusal would say that it was done.
                let mut frames = self.stop();
                frames.push(question.cancel());
                frames
            }
        }
    }
}

impl Event {
    /// Under a name of its own, where an earlier conversation may have told another thing under the same.
    fn of_session(&mut self, session: &str) {
        if let Self::Observed { event_id, .. } | Self::Lingers { event_id, .. } = self {
            *event_id = format!("{session}/{event_id}");
        }
    }
}

fn cost(update: &Value) -> Option<Usd> {
    let amount = update.pointer("/cost/amount").and_then(Value::as_f64)?;
    (text(update, "/cost/currency") == "USD").then(|| Usd::from_dollars(amount))
}

fn flag(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).and_then(Value::as_bool).unwrap_or_default()
}

fn able(greeting: &Value, what: &str) -> bool {
    greeting
        .pointer("/agentCapabilities/sessionCapabilities")
        .and_then(|able| able.get(what))
        .is_some_and(|able| !able.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_without_an_end_is_remembered_as_far_as_it_is_shown() {
        let mut saying = Saying::default();
        for _ in 0..3 {
            saying.hear(&"ä".repeat(MOST_OBSERVED / 2 - 1));
        }
        assert_eq!(saying.text, "ä".repeat(MOST_OBSERVED / 2));
        saying.hear("more");
        assert_eq!(saying.text.len(), MOST_OBSERVED);
    }
}
