//! The sentences of the port, one by one, for the two talks: who says what here is written by hand, since no program does it on demand.

use serde_json::{Value, json};
use windlass_adapters::{
    Acp, Adapter, Agent, Answer, Conversation, Copilot, Dialect, Event, OpenCode, Permissions, Proposal, Session, Tell,
    Undeliverable,
};
use windlass_domain::execution::{Failure, Observation, TurnEnd};

use crate::launching::{Scene, scene};

const fn agent(can_be_steered: bool) -> Agent {
    Agent {
        id: "any",
        display_name: "Any agent over ACP",
        program: "any",
        tried: &[],
        dialects: &[Dialect::Chat],
        permissions: Permissions::Asked,
        takes_mcp: true,
        can_be_steered,
        can_resume: false,
        can_fork: true,
    }
}

static STEERED: Agent = agent(true);
static QUEUED: Agent = agent(false);

/// A talk, and what it has written that is not answered yet.
struct Table {
    talk: Box<dyn Conversation>,
    written: Vec<Value>,
}

impl Table {
    fn new(adapter: &dyn Adapter, scene: Scene<'_>) -> Self {
        let mut talk = adapter.converse(&scene.launching());
        let begun = talk.begin();
        let mut table = Self { talk, written: Vec::new() };
        table.take(&begun);
        table
    }

    fn take(&mut self, frames: &[Vec<u8>]) {
        self.written.extend(frames.iter().map(|frame| serde_json::from_slice::<Value>(frame).expect("JSON")));
    }

    /// The program says something; what is not for itself comes back.
    fn hears(&mut self, frame: &Value) -> Vec<Event> {
        let (ours, events): (Vec<Event>, Vec<Event>) = self
            .talk
            .read(frame.to_string().as_bytes())
            .into_iter()
            .partition(|event| matches!(event, Event::Write(_)));
        for event in ours {
            if let Event::Write(frame) = event {
                self.take(&[frame]);
            }
        }
        events
    }

    /// The program answers our oldest request of this method.
    fn answers(&mut self, method: &str, body: Value) -> Vec<Event> {
        let request = self.written.iter().position(|frame| frame["method"] == method);
        let request = self.written.remove(request.unwrap_or_else(|| panic!("no {method} among {:?}", self.written)));
        let mut frame = body;
        frame["id"] = request["id"].clone();
        self.hears(&frame)
    }

    fn wrote(&self, method: &str) -> Option<&Value> {
        self.written.iter().find(|frame| frame["method"] == method)
    }
}

fn greeting() -> Value {
    json!({ "result": { "protocolVersion": 1, "agentCapabilities": { "loadSession": true, "mcpCapabilities": { "http": true } } } })
}

/// A conversation over ACP whose first message is on its way.
fn acp(agent: &'static Agent) -> Table {
    let mut table = Table::new(&Acp::new(agent, ["acp"]), scene());
    table.answers("initialize", greeting());
    table.answers("session/new", json!({ "result": { "sessionId": "s1" } }));
    table
}

fn opencode() -> Table {
    let mut table = Table::new(&OpenCode, scene());
    table.answers("initialize", greeting());
    table.answers("session/new", json!({ "result": { "sessionId": "s1" } }));
    table
}

fn copilot() -> Table {
    let mut table = Table::new(&Copilot, scene());
    table.answers("ping", json!({ "result": { "protocolVersion": 3, "timestamp": "t" } }));
    table.answers("session.create", json!({ "result": { "sessionId": "s1" } }));
    table
}

fn update(session: &str, update: Value) -> Value {
    json!({ "method": "session/update", "params": { "sessionId": session, "update": update } })
}

fn chunk(words: &str) -> Value {
    update("s1", json!({ "sessionUpdate": "agent_message_chunk", "content": { "type": "text", "text": words } }))
}

fn question(id: u64, options: &[(&str, &str)]) -> Value {
    let options: Vec<Value> = options.iter().map(|(id, kind)| json!({ "optionId": id, "kind": kind })).collect();
    json!({ "id": id, "method": "session/request_permission", "params": { "sessionId": "s1", "options": options,
        "toolCall": { "toolCallId": "c1", "kind": "execute", "title": "rm x", "rawInput": { "command": "rm x" } } } })
}

const USUAL: [(&str, &str); 3] = [("y", "allow_once"), ("a", "allow_always"), ("n", "reject_once")];

fn event(kind: &str, data: Value) -> Value {
    json!({ "method": "session.event", "params": { "sessionId": "s1", "event": { "type": kind, "id": kind, "data": data } } })
}

fn asks(events: &[Event]) -> &str {
    events
        .iter()
        .find_map(|event| if let Event::Asked(asked) = event { Some(asked.request.as_str()) } else { None })
        .unwrap_or_else(|| panic!("nothing is asked: {events:?}"))
}

fn end(events: &[Event]) -> Option<&TurnEnd> {
    events.iter().find_map(|event| match event {
        Event::Observed { observation: Observation::TurnEnded { end }, .. } => Some(end),
        _ => None,
    })
}

fn failed(events: &[Event]) -> Failure {
    match end(events) {
        Some(TurnEnd::Failed { why, .. }) => *why,
        other => panic!("no failure: {other:?}"),
    }
}

/// The option that is chosen for an answer, `None` for "cancelled".
fn chosen(options: &[(&str, &str)], answer: &Answer) -> Option<String> {
    let mut table = acp(&STEERED);
    let events = table.hears(&question(7, options));
    let frames = table.talk.answer(asks(&events), answer);
    let reply: Value = serde_json::from_slice(&frames[0]).expect("JSON");
    assert_eq!(reply["id"], 7);
    reply["result"]["outcome"]["optionId"].as_str().map(str::to_owned)
}

#[test]
fn an_answer_is_the_narrowest_option_that_means_it() {
    let deny = Answer::Deny { reason: "no".to_owned() };
    assert_eq!(chosen(&USUAL, &Answer::Allow).as_deref(), Some("y"));
    assert_eq!(chosen(&USUAL, &deny).as_deref(), Some("n"));
    assert_eq!(chosen(&[("n", "reject_always"), ("a", "allow_always")], &deny).as_deref(), Some("n"));
    assert_eq!(chosen(&[("n", "reject_always"), ("a", "allow_always")], &Answer::Allow).as_deref(), Some("a"));
    assert_eq!(chosen(&[("y", "allow_once")], &deny), None);
    assert_eq!(chosen(&[("n", "reject_once")], &Answer::Allow), None);
    assert_eq!(chosen(&[], &Answer::Allow), None);
}

#[test]
fn a_question_is_answered_once() {
    let mut table = acp(&STEERED);
    let events = table.hears(&question(7, &USUAL));
    let request = asks(&events).to_owned();
    assert_eq!(table.talk.answer(&request, &Answer::Allow).len(), 1);
    assert_eq!(table.talk.answer(&request, &Answer::Allow), Vec::<Vec<u8>>::new());
    assert_eq!(table.talk.answer("question:8", &Answer::Allow), Vec::<Vec<u8>>::new());

    let mut table = copilot();
    let asked = json!({ "requestId": "q", "permissionRequest": { "kind": "shell", "fullCommandText": "rm x" } });
    let events = table.hears(&event("permission.requested", asked.clone()));
    assert_eq!(asks(&events), "q");
    assert_eq!(table.talk.answer("q", &Answer::Allow).len(), 1);
    assert_eq!(table.talk.answer("q", &Answer::Allow), Vec::<Vec<u8>>::new());
    assert_eq!(table.talk.answer("p", &Answer::Allow), Vec::<Vec<u8>>::new());
}

#[test]
fn copilot_is_allowed_once_or_told_why() {
    let deny = Answer::Deny { reason: "because".to_owned() };
    for (answer, expected) in
        [(Answer::Allow, json!({ "kind": "approve-once" })), (deny, json!({ "kind": "reject", "feedback": "because" }))]
    {
        let mut table = copilot();
        table.hears(&event(
            "permission.requested",
            json!({ "requestId": "q", "permissionRequest": { "kind": "shell" } }),
        ));
        let frames = table.talk.answer("q", &answer);
        let sent: Value = serde_json::from_slice(&frames[0]).expect("JSON");
        assert_eq!(sent["params"], json!({ "sessionId": "s1", "requestId": "q", "result": expected }));
    }
}

#[test]
fn a_held_question_ends_the_turn() {
    let hold = Answer::Hold { reason: "a person is asked".to_owned() };
    let mut table = acp(&STEERED);
    let events = table.hears(&question(7, &USUAL));
    let frames = table.talk.answer(asks(&events), &hold);
    let frames: Vec<Value> = frames.iter().map(|frame| serde_json::from_slice(frame).expect("JSON")).collect();
    assert_eq!(frames[0]["method"], "session/cancel");
    assert_eq!(frames[1]["result"]["outcome"]["outcome"], "cancelled");
    // Whatever the program calls it.
    let events = table.answers("session/prompt", json!({ "result": { "stopReason": "end_turn" } }));
    assert_eq!(end(&events), Some(&TurnEnd::Interrupted));
}

#[test]
fn a_denial_reaches_an_agent_that_stops_at_it() {
    let mut table = acp(&STEERED);
    let events = table.hears(&question(7, &USUAL));
    table.talk.answer(asks(&events), &Answer::Deny { reason: "because".to_owned() });
    let events = table.answers("session/prompt", json!({ "result": { "stopReason": "end_turn" } }));
    assert_eq!(end(&events), None);
    let words = table.wrote("session/prompt").expect("it is told why")["params"]["prompt"][0]["text"].clone();
    assert!(words.as_str().expect("words").contains("because"));
}

#[test]
fn an_agent_that_went_on_after_a_denial_is_not_told_again() {
    let mut table = acp(&STEERED);
    let events = table.hears(&question(7, &USUAL));
    table.talk.answer(asks(&events), &Answer::Deny { reason: "because".to_owned() });
    table.hears(&chunk("Then not."));
    let events = table.answers("session/prompt", json!({ "result": { "stopReason": "end_turn" } }));
    assert_eq!(end(&events), Some(&TurnEnd::Completed { message: "Then not.".to_owned() }));
    assert!(table.wrote("session/prompt").is_none());
}

/// OpenCode was seen to end a call after the turn that it had cut off.
#[test]
fn a_call_that_ends_after_its_turn_is_told_once() {
    let mut table = acp(&STEERED);
    let events = table.hears(&question(7, &USUAL));
    table.talk.answer(asks(&events), &Answer::Hold { reason: "a person is asked".to_owned() });
    table.answers("session/prompt", json!({ "result": { "stopReason": "cancelled" } }));
    let late = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "failed" });
    let events = table.hears(&update("s1", late.clone()));
    assert!(
        matches!(events.as_slice(), [Event::Observed { observation: Observation::CallEnded { .. }, .. }]),
        "{events:?}"
    );
    assert_eq!(table.hears(&update("s1", late)), []);
}

#[test]
fn an_interrupt_takes_back_what_was_asked() {
    let mut table = acp(&STEERED);
    let events = table.hears(&question(7, &USUAL));
    let request = asks(&events).to_owned();
    let frames = table.talk.tell(&Tell::Interrupt).expect("it can be told");
    assert_eq!(frames.len(), 2, "the protocol wants open questions answered with the cancellation");
    assert_eq!(table.talk.answer(&request, &Answer::Allow), Vec::<Vec<u8>>::new());
    let events = table.answers("session/prompt", json!({ "result": { "stopReason": "cancelled" } }));
    assert_eq!(events[0], Event::Withdrawn { request });
    assert_eq!(end(&events), Some(&TurnEnd::Interrupted));
    assert_eq!(table.talk.tell(&Tell::Interrupt), Ok(Vec::new()), "nothing is at work");
}

#[test]
fn a_question_that_the_program_takes_back_is_withdrawn() {
    let mut table = copilot();
    table.hears(&event("permission.requested", json!({ "requestId": "q", "permissionRequest": { "kind": "shell" } })));
    let events =
        table.hears(&event("permission.completed", json!({ "requestId": "q", "result": { "kind": "cancelled" } })));
    assert_eq!(events, [Event::Withdrawn { request: "q".to_owned() }]);
    assert_eq!(table.talk.answer("q", &Answer::Allow), Vec::<Vec<u8>>::new());
}

#[test]
fn another_conversation_is_not_believed() {
    let mut table = acp(&STEERED);
    let foreign =
        update("s2", json!({ "sessionUpdate": "agent_message_chunk", "content": { "text": "I am another" } }));
    assert!(matches!(table.hears(&foreign).as_slice(), [Event::Unreadable { .. }]));
    let mut asked = question(9, &USUAL);
    asked["params"]["sessionId"] = json!("s2");
    assert!(matches!(table.hears(&asked).as_slice(), [Event::Unreadable { .. }]));
    let refused = table.written.last().expect("it is answered");
    assert_eq!(refused["result"]["outcome"]["outcome"], "cancelled");

    let mut table = copilot();
    let mut foreign = event("assistant.message", json!({ "content": "I am another" }));
    foreign["params"]["sessionId"] = json!("s2");
    assert!(matches!(table.hears(&foreign).as_slice(), [Event::Unreadable { .. }]));
}

#[test]
fn a_message_joins_a_turn_where_the_program_can() {
    let say = Tell::Say { text: "and this".to_owned() };
    assert_eq!(acp(&QUEUED).talk.tell(&say), Err(Undeliverable::WhileWorking));

    let mut table = acp(&STEERED);
    let frames = table.talk.tell(&say).expect("it can be told");
    table.take(&frames);
    table.hears(&chunk("Both."));
    // Some end the first as cancelled when the second comes.
    let events = table.answers("session/prompt", json!({ "result": { "stopReason": "cancelled" } }));
    assert_eq!(end(&events), None, "one of the two is still at work");
    let events = table.answers("session/prompt", json!({ "result": { "stopReason": "end_turn" } }));
    assert_eq!(end(&events), Some(&TurnEnd::Completed { message: "Both.".to_owned() }));

    let mut table = copilot();
    let frames = table.talk.tell(&say).expect("it can be told");
    let sent: Value = serde_json::from_slice(&frames[0]).expect("JSON");
    assert_eq!(sent["params"]["mode"], "immediate");
}

#[test]
fn nothing_is_told_before_the_program_is_ready() {
    for adapter in [&Acp::new(&STEERED, ["acp"]) as &dyn Adapter, &Copilot] {
        let mut table = Table::new(adapter, scene());
        assert_eq!(table.talk.tell(&Tell::Interrupt), Err(Undeliverable::NotReady));
        assert_eq!(table.talk.tell(&Tell::Say { text: "x".to_owned() }), Err(Undeliverable::NotReady));
    }
}

/// So that it is not read on a guess, and goes on on its screen where it has one.
#[test]
fn another_version_of_a_protocol_is_not_spoken() {
    let is_foreign = |events: &[Event]| matches!(events, [Event::Foreign { .. }]);
    let no_such_method = json!({ "error": { "code": -32601, "message": "Method not found" } });
    for greeting in [json!({ "result": { "protocolVersion": 2 } }), json!({ "result": {} }), no_such_method.clone()] {
        let mut table = Table::new(&Acp::new(&STEERED, ["acp"]), scene());
        let events = table.answers("initialize", greeting);
        assert!(is_foreign(&events), "{events:?}");
        assert!(table.wrote("session/new").is_none());
        assert_eq!(table.talk.tell(&Tell::Interrupt), Err(Undeliverable::NotAble));
    }
    let other = json!({ "result": { "protocolVersion": 4, "timestamp": "t" } });
    for greeting in [other.clone(), json!({ "result": { "timestamp": "t" } }), no_such_method] {
        let mut table = Table::new(&Copilot, scene());
        let events = table.answers("ping", greeting);
        assert!(is_foreign(&events), "{events:?}");
        table.answers("session.create", json!({ "result": { "sessionId": "s1" } }));
        assert!(table.wrote("session.send").is_none());
    }
    let mut table = Table::new(&Copilot, scene());
    table.answers("session.create", json!({ "result": { "sessionId": "s1" } }));
    assert!(is_foreign(&table.answers("ping", other)), "whatever it said before");
}

#[test]
fn an_agent_without_its_mcp_server_does_not_work() {
    let with = Scene { mcp: Some("http://127.0.0.1:4000/mcp"), ..scene() };
    let mut table = Table::new(&Acp::new(&STEERED, ["acp"]), with);
    let events = table.answers("initialize", json!({ "result": { "protocolVersion": 1, "agentCapabilities": {} } }));
    assert_eq!(failed(&events), Failure::Agent);

    let mut table = Table::new(&Acp::new(&STEERED, ["acp"]), with);
    table.answers("initialize", greeting());
    let server = &table.wrote("session/new").expect("a session is asked for")["params"]["mcpServers"][0];
    assert_eq!(server["url"], "http://127.0.0.1:4000/mcp");
    assert_eq!(server["headers"][0]["value"], format!("Bearer {}", with.launching().key));
    assert!(server.get("command").is_none());

    let bridged = Scene { bridge: Some(std::path::Path::new("/agents/windlass")), ..with };
    let mut table = Table::new(&Acp::new(&STEERED, ["acp"]), bridged);
    table.answers("initialize", json!({ "result": { "protocolVersion": 1, "agentCapabilities": {} } }));
    let server = &table.wrote("session/new").expect("a session is asked for")["params"]["mcpServers"][0];
    let env = json!([
        { "name": "WINDLASS_MCP_URL", "value": "http://127.0.0.1:4000/mcp" },
        { "name": "WINDLASS_MCP_TOKEN", "value": with.launching().key },
    ]);
    let program = json!({ "name": "windlass", "command": "/agents/windlass", "args": ["mcp", "bridge"], "env": env });
    assert_eq!(*server, program, "who takes no address is given a program");

    let changed = |server: &str, status: &str| {
        let changed = json!({ "serverName": server, "status": status, "error": "refused" });
        copilot().hears(&event("session.mcp_server_status_changed", changed))
    };
    for status in ["failed", "needs-auth", "disabled", "stopped"] {
        assert_eq!(failed(&changed("windlass", status)), Failure::Agent);
    }
    assert_eq!(changed("windlass", "connected"), []);
    assert_eq!(changed("another", "failed"), []);
}

#[test]
fn an_agent_that_cannot_fork_says_so() {
    let session = Session::Fork("s0");
    let mut table = Table::new(&Acp::new(&STEERED, ["acp"]), Scene { session, ..scene() });
    let events = table.answers("initialize", json!({ "result": { "protocolVersion": 1, "agentCapabilities": {} } }));
    assert_eq!(failed(&events), Failure::Agent);
}

/// Regression: after every card, pause or crash such an agent had failed.
#[test]
fn an_agent_that_cannot_go_on_begins_anew_with_all_that_it_has_to_know() {
    let scene = Scene { session: Session::Resume("s0"), instructions: "be brief", ..scene() };
    let cannot = |table: &mut Table| {
        table.answers("initialize", json!({ "result": { "protocolVersion": 1, "agentCapabilities": {} } }))
    };
    // Some say that they can, and then do not find it.
    let does_not = |table: &mut Table| {
        table.answers("initialize", greeting());
        table.hears(&chunk("Long ago."));
        table.answers("session/load", json!({ "error": { "code": -32603, "message": "No previous sessions" } }))
    };
    for begin in [&cannot as &dyn Fn(&mut Table) -> Vec<Event>, &does_not] {
        let mut table = Table::new(&Acp::new(&STEERED, ["acp"]), scene);
        let events = begin(&mut table);
        let said = |observation: &Observation| matches!(observation, Observation::Noticed { text } if text.contains("begins a new one"));
        assert!(matches!(events.as_slice(), [Event::Observed { observation, .. }] if said(observation)), "{events:?}");
        table.answers("session/new", json!({ "result": { "sessionId": "s1" } }));
        let prompt = table.wrote("session/prompt").expect("it is told")["params"]["prompt"][0]["text"].clone();
        assert_eq!(prompt, "be brief\n\nbegin anew");
        // What the old one told under these names was another thing.
        let call =
            json!({ "sessionUpdate": "tool_call", "toolCallId": "c1", "status": "in_progress", "title": "bash" });
        let events = table.hears(&update("s1", call));
        assert!(
            matches!(events.as_slice(), [Event::Observed { event_id, .. }, ..] if event_id.starts_with("s1/")),
            "{events:?}"
        );
    }
    // Whoever is not let in is not let in anew.
    let mut table = Table::new(&Acp::new(&STEERED, ["acp"]), scene);
    table.answers("initialize", greeting());
    let refused = json!({ "error": { "code": -32000, "message": "Authentication required" } });
    assert_eq!(failed(&table.answers("session/load", refused)), Failure::Login);
}

#[test]
fn what_an_old_conversation_tells_over_again_is_not_told() {
    let mut table = Table::new(&Acp::new(&STEERED, ["acp"]), Scene { session: Session::Resume("s1"), ..scene() });
    table.answers("initialize", greeting());
    assert_eq!(table.hears(&chunk("Long ago.")), []);
    let old_call = json!({ "sessionUpdate": "tool_call", "toolCallId": "c1", "status": "completed", "title": "bash" });
    assert_eq!(table.hears(&update("s1", old_call)), []);
    let events = table.answers("session/load", json!({ "result": {} }));
    assert!(matches!(events.as_slice(), [Event::Observed { observation: Observation::Session { .. }, .. }]));
    table.hears(&chunk("Now."));
    let events = table.answers("session/prompt", json!({ "result": { "stopReason": "end_turn" } }));
    assert_eq!(end(&events), Some(&TurnEnd::Completed { message: "Now.".to_owned() }));
}

/// Two processes that go on with one conversation say the same words in it, and both are heard.
#[test]
fn the_same_words_twice_have_two_ids() {
    let ids = |before: &[&str]| {
        let mut table = Table::new(&Acp::new(&STEERED, ["acp"]), Scene { session: Session::Resume("s1"), ..scene() });
        table.answers("initialize", greeting());
        for words in before {
            table.hears(&chunk(words));
        }
        table.answers("session/load", json!({ "result": {} }));
        table.hears(&chunk("Done."));
        let events = table.answers("session/prompt", json!({ "result": { "stopReason": "end_turn" } }));
        events
            .into_iter()
            .filter_map(|event| if let Event::Observed { event_id, .. } = event { Some(event_id) } else { None })
            .collect::<Vec<String>>()
    };
    let (first, second) = (ids(&["Go."]), ids(&["Go.", "Done.", "Go."]));
    assert_eq!(first.len(), 2);
    assert!(first.iter().all(|id| !second.contains(id)), "{first:?} {second:?}");
}

#[test]
fn failures_are_told_apart() {
    let over_acp = |error: Value| failed(&acp(&STEERED).answers("session/prompt", json!({ "error": error })));
    assert_eq!(over_acp(json!({ "code": -32000, "message": "Authentication required" })), Failure::Login);
    assert_eq!(over_acp(json!({ "code": 401, "message": "no" })), Failure::Login);
    assert_eq!(over_acp(json!({ "code": 400, "message": "no" })), Failure::Model);
    assert_eq!(over_acp(json!({ "code": -32603, "message": "Incorrect API key provided" })), Failure::Login);
    let api = json!({ "code": -32603, "message": "no", "data": { "errorName": "APIError" } });
    assert_eq!(over_acp(api), Failure::Model);
    assert_eq!(over_acp(json!({ "code": -32603, "message": "HTTP 401" })), Failure::Login);
    assert_eq!(over_acp(json!({ "code": -32603, "message": "Internal error" })), Failure::Agent);
    assert_eq!(over_acp(json!({ "code": -32603, "message": "gave up after 4013 ms" })), Failure::Agent);
    let stopped =
        |reason: &str| failed(&acp(&STEERED).answers("session/prompt", json!({ "result": { "stopReason": reason } })));
    assert_eq!(stopped("refusal"), Failure::Model);
    assert_eq!(stopped("max_turn_requests"), Failure::Agent);
    assert_eq!(stopped("something new"), Failure::Agent);

    let of_copilot = |error: Value| {
        let mut table = copilot();
        table.hears(&event("session.error", error));
        table.hears(&event("assistant.idle", json!({})));
        failed(&table.hears(&event("session.idle", json!({}))))
    };
    assert_eq!(of_copilot(json!({ "errorType": "authentication", "message": "no" })), Failure::Login);
    assert_eq!(of_copilot(json!({ "errorType": "query", "statusCode": 403, "message": "no" })), Failure::Login);
    assert_eq!(of_copilot(json!({ "errorType": "rate_limit", "statusCode": 429, "message": "no" })), Failure::Model);
    assert_eq!(of_copilot(json!({ "errorType": "unknown", "message": "no" })), Failure::Agent);
}

/// A command in the background keeps its session from being idle, and its call open.
#[test]
fn copilot_lingers_while_a_command_runs_on() {
    let mut table = copilot();
    let bash = json!({ "toolCallId": "c1", "toolName": "bash", "arguments": { "command": "make", "mode": "async" } });
    table.hears(&event("tool.execution_start", bash));
    let begun = json!({ "toolCallId": "c1", "success": true, "result": { "content": "<command started in background with shellId: 0>" } });
    assert_eq!(table.hears(&event("tool.execution_complete", begun)), []);
    table.hears(&event("assistant.message", json!({ "content": "Done." })));
    assert_eq!(table.hears(&event("assistant.idle", json!({}))), []);
    let running = json!({ "result": { "tasks": [{ "id": "0", "status": "running" }] } });
    let events = table.answers("session.tasks.list", running);
    let done = TurnEnd::Completed { message: "Done.".to_owned() };
    assert!(matches!(events.as_slice(), [Event::Lingers { end, .. }] if *end == done), "{events:?}");
    table.hears(&event("tool.execution_partial_result", json!({ "toolCallId": "c1", "partialOutput": "built" })));
    // The command has ended, and its agent has not heard of it yet.
    assert_eq!(table.hears(&event("session.idle", json!({}))), []);
    let kind = json!({ "type": "shell_completed", "shellId": "0", "exitCode": 3 });
    assert_eq!(
        told(&table.hears(&event("system.notification", json!({ "kind": kind })))),
        [(false, "built\n<completed in the background with exit code 3>")]
    );
    table.hears(&event("assistant.turn_start", json!({})));
    table.hears(&event("assistant.idle", json!({})));
    assert_eq!(end(&table.hears(&event("session.idle", json!({})))), Some(&done));
}

#[test]
fn copilot_that_is_broken_off_does_not_linger() {
    let mut table = copilot();
    table.hears(&event("assistant.idle", json!({ "aborted": true })));
    let events = table.answers("session.tasks.list", json!({ "result": { "tasks": [{ "status": "running" }] } }));
    assert_eq!(end(&events), Some(&TurnEnd::Interrupted));
}

#[test]
fn copilot_that_fails_or_is_broken_off_while_it_lingers_waits_for_nothing() {
    let lingering = || {
        let mut table = copilot();
        table.hears(&event("tool.execution_start", json!({ "toolCallId": "c1", "toolName": "bash" })));
        let begun = "<command started in background with shellId: 0>";
        let begun = json!({ "toolCallId": "c1", "success": true, "result": { "content": begun } });
        table.hears(&event("tool.execution_complete", begun));
        table.hears(&event("assistant.idle", json!({})));
        let running = json!({ "result": { "tasks": [{ "id": "0", "status": "running" }] } });
        table.answers("session.tasks.list", running);
        table
    };
    let mut table = lingering();
    table.hears(&event("assistant.idle", json!({ "aborted": true })));
    assert_eq!(end(&table.hears(&event("session.idle", json!({})))), Some(&TurnEnd::Interrupted));
    let mut table = lingering();
    table.hears(&event("session.error", json!({ "errorType": "authentication", "message": "no" })));
    assert_eq!(failed(&table.hears(&event("session.idle", json!({})))), Failure::Login);
}

/// By whatever an agent hears of the command that it left running.
#[test]
fn a_call_that_copilot_left_running_ends_with_its_command() {
    let left = || {
        let mut table = copilot();
        table.hears(&event("tool.execution_start", json!({ "toolCallId": "c1", "toolName": "bash" })));
        let moved = "<command with shellId: s1 moved to background by the user.>";
        let moved = json!({ "toolCallId": "c1", "success": true, "result": { "content": moved } });
        assert_eq!(table.hears(&event("tool.execution_complete", moved)), []);
        table
    };
    let mut table = left();
    let read = json!({ "toolCallId": "c2", "toolName": "read_bash", "arguments": { "shellId": "s1" } });
    table.hears(&event("tool.execution_start", read));
    let exit = json!([{ "type": "shell_exit", "shellId": "s1", "exitCode": 0 }]);
    let read = json!({ "toolCallId": "c2", "success": true, "result": { "content": "late", "contents": exit } });
    assert_eq!(told(&table.hears(&event("tool.execution_complete", read))), [(false, "late"), (false, "late")]);

    let mut table = left();
    let stop = json!({ "toolCallId": "c2", "toolName": "stop_bash", "arguments": { "shellId": "s1" } });
    table.hears(&event("tool.execution_start", stop));
    let stopped = json!({ "toolCallId": "c2", "success": true, "result": { "content": "stopped" } });
    assert_eq!(
        told(&table.hears(&event("tool.execution_complete", stopped))),
        [(false, "stopped"), (true, "stopped by the agent")]
    );
}

/// How calls ended.
fn told(events: &[Event]) -> Vec<(bool, &str)> {
    let ended = events.iter().filter_map(|event| match event {
        Event::Observed { observation: Observation::CallEnded { is_error, output, .. }, .. } => {
            Some((*is_error, output.as_str()))
        }
        _ => None,
    });
    ended.collect()
}

#[test]
fn sub_agents_speak_for_themselves() {
    let mut table = copilot();
    table.hears(&event("assistant.message", json!({ "content": "Mine." })));
    let mut theirs = event("assistant.message", json!({ "content": "Theirs." }));
    theirs["params"]["event"]["agentId"] = json!("a1");
    assert_eq!(table.hears(&theirs), []);
    let mut asked = event(
        "permission.requested",
        json!({ "requestId": "q", "permissionRequest": { "kind": "shell", "toolCallId": "c1" } }),
    );
    asked["params"]["event"]["agentId"] = json!("a1");
    let events = table.hears(&asked);
    assert!(matches!(events.as_slice(), [Event::Asked(asked)] if asked.call == "a1/c1"), "{events:?}");
    table.hears(&event("assistant.idle", json!({})));
    let events = table.hears(&event("session.idle", json!({})));
    assert_eq!(end(&events), Some(&TurnEnd::Completed { message: "Mine.".to_owned() }));
}

#[test]
fn files_and_terminals_are_not_offered() {
    let mut table = acp(&STEERED);
    for method in ["fs/write_text_file", "fs/read_text_file", "terminal/create", "something/new"] {
        assert_eq!(table.hears(&json!({ "id": 5, "method": method, "params": { "path": "/etc/passwd" } })), []);
        let refused = table.written.pop().expect("it is answered");
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(5), &json!(-32601)));
    }
}

/// The review found it: OpenCode asks about a command before it has said where that will run, and a person was shown another place.
#[test]
fn a_question_waits_for_where_its_command_will_run() {
    let told = |status: &str, input: Value| {
        update(
            "s1",
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": "c1", "kind": "execute", "status": status, "rawInput": input }),
        )
    };
    let place = |events: &[Event]| {
        events.iter().find_map(|event| match event {
            Event::Asked(asked) => match &asked.proposed.proposal {
                Proposal::Command { cwd, .. } => cwd.clone(),
                other => panic!("{other:?}"),
            },
            _ => None,
        })
    };
    let mut early = opencode();
    assert_eq!(early.hears(&told("pending", json!({ "cwd": "/workspace" }))), []);
    assert_eq!(early.hears(&question(7, &USUAL)), [], "where is not known yet");
    let whole = json!({ "command": "rm x", "workdir": "/workspace/sub" });
    let asked = early.hears(&told("in_progress", whole.clone()));
    assert_eq!(place(&asked), Some("/workspace/sub".into()));
    assert_eq!(early.talk.answer(asks(&asked), &Answer::Allow).len(), 1);
    assert_eq!(early.hears(&told("in_progress", whole.clone())), [], "it is asked once");

    let mut late = opencode();
    late.hears(&told("in_progress", whole));
    assert_eq!(place(&late.hears(&question(7, &USUAL))), Some("/workspace/sub".into()));

    // Whoever is interrupted has nothing left to be asked.
    let mut stopped = opencode();
    stopped.hears(&question(7, &USUAL));
    stopped.talk.tell(&Tell::Interrupt).expect("it works");
    let after = stopped.hears(&told("in_progress", json!({ "command": "rm x" })));
    assert!(!after.iter().any(|event| matches!(event, Event::Asked(_))), "{after:?}");
}

fn told_of(call: usize, status: &str, input: &str) -> Value {
    update(
        "s1",
        json!({ "sessionUpdate": "tool_call", "toolCallId": format!("c{call}"), "kind": "other", "title": "think",
            "status": status, "rawInput": { "thought": input } }),
    )
}

fn floods(events: &[Event]) -> bool {
    matches!(events, [Event::Flood { .. }])
}

/// Regression: what was announced and never begun was told to nobody, counted by nobody, and remembered for ever.
#[test]
fn who_begins_more_than_can_be_remembered_is_ended() {
    let mut table = acp(&STEERED);
    assert!((0..1_000).all(|call| table.hears(&told_of(call, "pending", "x")).is_empty()));
    assert!(floods(&table.hears(&told_of(1_000, "pending", "x"))));

    let (mut table, large) = (acp(&STEERED), "x".repeat(10 << 20));
    assert!((0..6).all(|call| table.hears(&told_of(call, "pending", &large)).is_empty()));
    assert!(floods(&table.hears(&told_of(6, "pending", &large))), "however few they are");

    let mut table = opencode();
    let early = |id: u64| {
        json!({ "id": id, "method": "session/request_permission", "params": { "sessionId": "s1", "options": [],
            "toolCall": { "toolCallId": "c1", "kind": "execute", "rawInput": { "command": "make" } } } })
    };
    assert!((0..1_000).all(|id| table.hears(&early(id)).is_empty()));
    assert!(floods(&table.hears(&early(1_000))));
}

#[test]
fn a_long_conversation_is_none() {
    let mut table = acp(&STEERED);
    for call in 0..3_000 {
        let told =
            [table.hears(&told_of(call, "pending", "x")), table.hears(&told_of(call, "completed", "x"))].concat();
        assert!(matches!(&told[..], [Event::Observed { .. }, Event::Observed { .. }]), "{call}: {told:?}");
    }
    let large = "x".repeat(10 << 20);
    for call in 3_000..3_007 {
        assert!(!floods(&table.hears(&told_of(call, "completed", &large))), "what has ended weighs nothing");
    }
}

/// Each time it is asked what still runs.
#[test]
fn a_copilot_that_answers_nothing_is_ended() {
    let mut table = copilot();
    let mut said = (0..2_000).map(|_| table.hears(&event("assistant.idle", json!({}))));
    assert!(said.any(|events| floods(&events)));
}
