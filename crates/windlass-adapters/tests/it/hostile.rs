//! Programs that lie, flood, stop in the middle of a word or speak for others: the worst that comes of it is a diagnostic.

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_adapters::{Adapter, Answer, ClaudeCode, Codex, Conversation, Event, Pi, Session, Tell, Undeliverable};
use windlass_domain::execution::{MOST_OBSERVED, Observation};

use crate::launching::{SESSION, Scene, scene};

const ALL: [&dyn Adapter; 3] = [&ClaudeCode, &Codex, &Pi];

fn begun(adapter: &dyn Adapter) -> Box<dyn Conversation> {
    let mut conversation = adapter.converse(&scene().launching());
    conversation.begin();
    conversation
}

/// Past the greetings: the program has said which conversation this is.
fn opened(adapter: &dyn Adapter) -> Box<dyn Conversation> {
    let mut conversation = begun(adapter);
    let greetings = match adapter.agent().id {
        "claude-code" => {
            vec![json!({ "type": "system", "subtype": "init", "session_id": SESSION, "permissionMode": "default" })]
        }
        "codex" => {
            vec![json!({ "id": 1, "result": { "thread": { "id": SESSION }, "approvalPolicy": "untrusted" } })]
        }
        _ => vec![
            json!({ "type": "extension_ui_request", "id": "n", "method": "notify", "message": "windlass gate" }),
            json!({ "type": "response", "id": "windlass-state", "success": true, "data": { "sessionId": SESSION } }),
        ],
    };
    let events: Vec<Event> = greetings.iter().flat_map(|greeting| read(&mut *conversation, greeting)).collect();
    let session = Observation::Session { session_id: SESSION.to_owned() };
    assert!(
        events.iter().any(|event| matches!(event, Event::Observed { observation, .. } if *observation == session)),
        "{} greets: {events:?}",
        adapter.agent().id
    );
    conversation
}

fn read(conversation: &mut dyn Conversation, frame: &Value) -> Vec<Event> {
    conversation.read(frame.to_string().as_bytes())
}

fn is_unreadable(events: &[Event]) -> bool {
    matches!(events, [Event::Unreadable { .. }])
}

/// So that it is not begun with in any other way either.
fn is_unacceptable(events: &[Event]) -> bool {
    matches!(events, [Event::Unacceptable { .. }])
}

/// A question about the command `true`, as each program asks it.
fn question(adapter: &dyn Adapter, number: u64) -> Value {
    match adapter.agent().id {
        "claude-code" => json!({ "type": "control_request", "request_id": number.to_string(), "request": {
            "subtype": "can_use_tool", "tool_name": "Bash", "input": { "command": "true" }, "tool_use_id": "c" } }),
        "codex" => json!({ "id": number, "method": "item/commandExecution/requestApproval", "params": {
            "threadId": SESSION, "turnId": "t", "itemId": "c", "command": "true" } }),
        _ => {
            let asked = json!({ "call": "c", "tool": "bash", "input": { "command": "true" } }).to_string();
            json!({ "type": "extension_ui_request", "id": number.to_string(), "method": "input",
                "title": "windlass permission", "placeholder": asked })
        }
    }
}

#[test]
fn half_a_line_and_other_noise_is_unreadable() {
    for adapter in ALL {
        for noise in ["{\"type\":\"assis", "Warning: something", "[1,2]", "\"text\"", "{}", "\u{1b}[31mred"] {
            assert!(is_unreadable(&begun(adapter).read(noise.as_bytes())), "{}: {noise}", adapter.agent().id);
        }
        assert!(is_unreadable(&begun(adapter).read(b"\xff\xfe")));
        assert!(begun(adapter).read(b"\r").is_empty(), "an empty line is none");
    }
}

#[test]
fn an_event_that_is_not_known_changes_nothing() {
    for adapter in ALL {
        let mut conversation = opened(adapter);
        let unknown = json!({ "type": "something/new", "method": "something/new", "params": {} });
        let events = read(&mut *conversation, &unknown);
        assert_eq!(events, [Event::Unknown { kind: "something/new".to_owned() }], "{}", adapter.agent().id);
    }
}

#[test]
fn who_speaks_for_another_session_is_not_believed() {
    let ended = [
        json!({ "type": "result", "session_id": "another", "is_error": false, "result": "Done.", "uuid": "u" }),
        json!({ "method": "turn/completed", "params": { "threadId": "another", "turn": { "status": "completed" } } }),
    ];
    for (adapter, frame) in ALL.into_iter().zip(&ended) {
        assert!(is_unreadable(&read(&mut *opened(adapter), frame)), "{}", adapter.agent().id);
    }
    // Pi names its session once.
    let mut conversation = begun(&Pi);
    let gate = json!({ "type": "extension_ui_request", "id": "n", "method": "notify", "message": "windlass gate" });
    read(&mut *conversation, &gate);
    let state =
        json!({ "type": "response", "id": "windlass-state", "success": true, "data": { "sessionId": "another" } });
    assert!(is_unreadable(&read(&mut *conversation, &state)));
    assert!(conversation.tell(&Tell::Say { text: "hello".to_owned() }).is_err());
}

#[test]
fn a_question_of_another_thread_is_refused_by_the_program_s_own_means() {
    let mut conversation = opened(&Codex);
    let question = json!({ "id": 7, "method": "item/commandExecution/requestApproval",
        "params": { "threadId": "another", "turnId": "t", "itemId": "c", "command": "true" } });
    let events = read(&mut *conversation, &question);
    assert!(matches!(&events[..], [Event::Write(_), Event::Unreadable { .. }]), "{events:?}");
    assert!(conversation.answer("7", &Answer::Allow).is_empty());
}

#[test]
fn a_program_that_does_not_ask_is_not_believed() {
    let init =
        json!({ "type": "system", "subtype": "init", "session_id": SESSION, "permissionMode": "bypassPermissions" });
    assert!(is_unacceptable(&read(&mut *begun(&ClaudeCode), &init)));
    let thread = json!({ "id": 1, "result": { "thread": { "id": "t" }, "approvalPolicy": "never" } });
    assert!(is_unacceptable(&read(&mut *begun(&Codex), &thread)), "and no prompt is sent");
    let state =
        json!({ "type": "response", "id": "windlass-state", "success": true, "data": { "sessionId": SESSION } });
    assert!(is_unacceptable(&read(&mut *begun(&Pi), &state)), "and no prompt is sent");
}

/// Its protocol has no version; one that has lost the methods it begins with is another.
#[test]
fn a_codex_that_knows_no_threads_is_of_another_version() {
    for id in [0, 1] {
        let refused = json!({ "id": id, "error": { "code": -32601, "message": "unknown method" } });
        let events = read(&mut *begun(&Codex), &refused);
        assert!(matches!(&events[..], [Event::Foreign { .. }]), "{events:?}");
        let refused = json!({ "id": id, "error": { "code": -32600, "message": "no such thread" } });
        let events = read(&mut *begun(&Codex), &refused);
        assert!(matches!(&events[..], [Event::Observed { observation: Observation::TurnEnded { .. }, .. }]));
    }
}

#[test]
fn an_answer_that_nobody_asked_for_or_that_was_given_is_nothing() {
    for adapter in ALL {
        let mut conversation = opened(adapter);
        assert!(conversation.answer("7", &Answer::Allow).is_empty());
        let events = read(&mut *conversation, &question(adapter, 7));
        assert!(
            matches!(&events[..], [Event::Asked(asked)] if asked.request == "7" && asked.call == "c"),
            "{events:?}"
        );
        assert!(!conversation.answer("7", &Answer::Deny { reason: "no".to_owned() }).is_empty());
        assert!(conversation.answer("7", &Answer::Allow).is_empty(), "{}", adapter.agent().id);
    }
}

#[test]
fn a_question_by_the_name_of_an_open_one_is_not_asked() {
    for adapter in ALL {
        let mut conversation = opened(adapter);
        read(&mut *conversation, &question(adapter, 7));
        let other = question(adapter, 7).to_string().replace("true", "false");
        assert!(is_unreadable(&conversation.read(other.as_bytes())), "{}", adapter.agent().id);
        let answer = conversation.answer("7", &Answer::Allow).concat();
        assert!(!String::from_utf8_lossy(&answer).contains("false"), "what runs is what was shown");
    }
}

#[test]
fn claude_code_does_not_work_without_the_tools_that_it_was_given() {
    let mcp = Some("http://127.0.0.1:4000/mcp");
    for (status, works) in [("connected", true), ("pending", true), ("failed", false), ("needs-auth", false)] {
        let mut conversation = ClaudeCode.converse(&Scene { mcp, ..scene() }.launching());
        let init = json!({ "type": "system", "subtype": "init", "session_id": SESSION, "permissionMode": "default",
            "mcp_servers": [{ "name": "windlass", "status": status }] });
        assert_eq!(!is_unacceptable(&read(&mut *conversation, &init)), works, "{status}");
    }
}

#[test]
fn a_question_that_is_taken_back_takes_no_answer() {
    let withdrawals = [
        json!({ "type": "control_cancel_request", "request_id": "7" }),
        json!({ "method": "serverRequest/resolved", "params": { "threadId": SESSION, "requestId": 7 } }),
        json!({ "type": "agent_settled" }),
    ];
    for (adapter, withdrawal) in ALL.into_iter().zip(&withdrawals) {
        let mut conversation = opened(adapter);
        read(&mut *conversation, &question(adapter, 7));
        let events = read(&mut *conversation, withdrawal);
        assert!(matches!(&events[0], Event::Withdrawn { request } if request == "7"), "{events:?}");
        assert!(conversation.answer("7", &Answer::Allow).is_empty(), "{}", adapter.agent().id);
    }
}

#[test]
fn what_cannot_be_delivered_is_said() {
    let hello = Tell::Say { text: "hello".to_owned() };
    assert_eq!(begun(&Codex).tell(&hello), Err(Undeliverable::NotReady));
    assert_eq!(begun(&Pi).tell(&hello), Err(Undeliverable::NotReady));
    let mut starting = opened(&Codex);
    assert_eq!(starting.tell(&hello), Err(Undeliverable::NotReady), "the turn has no name yet");
    assert_eq!(starting.tell(&Tell::Interrupt), Err(Undeliverable::NotReady));
}

#[test]
fn an_interruption_of_nothing_is_nothing() {
    let ends = [
        json!({ "type": "result", "session_id": SESSION, "is_error": false, "result": "Done.", "uuid": "u" }),
        json!({ "method": "turn/completed", "params": { "threadId": SESSION, "turn": { "id": "t", "status": "completed" } } }),
        json!({ "type": "agent_settled" }),
    ];
    for (adapter, end) in ALL.into_iter().zip(&ends) {
        let mut conversation = opened(adapter);
        read(&mut *conversation, end);
        assert_eq!(conversation.tell(&Tell::Interrupt), Ok(Vec::new()), "{}", adapter.agent().id);
        let said = conversation.tell(&Tell::Say { text: "hello".to_owned() }).expect("it waits");
        assert_eq!(said.len(), 1, "{}", adapter.agent().id);
    }
}

#[test]
fn a_flood_is_cut_for_the_record_and_shown_whole_to_who_decides() {
    let flood = "ä".repeat(MOST_OBSERVED);
    let said = json!({ "type": "assistant", "uuid": "u", "session_id": SESSION,
        "message": { "content": [{ "type": "text", "text": flood }] } });
    let events = read(&mut *opened(&ClaudeCode), &said);
    let [Event::Observed { observation: Observation::Said { text }, .. }] = &events[..] else { panic!("{events:?}") };
    assert_eq!(text.len(), MOST_OBSERVED);

    let asked = json!({ "type": "control_request", "request_id": "7", "request": { "subtype": "can_use_tool",
        "tool_name": "Bash", "input": { "command": flood }, "tool_use_id": "c" } });
    let events = read(&mut *opened(&ClaudeCode), &asked);
    let [Event::Asked(asked)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(asked.proposed.arguments["command"], json!(flood));
}

#[test]
fn an_id_that_is_missing_or_endless_still_tells_two_events_apart() {
    for id in [String::new(), "x".repeat(1 << 20)] {
        let said = |text: &str| {
            let frame = json!({ "type": "assistant", "uuid": id, "session_id": SESSION,
                "message": { "content": [{ "type": "text", "text": text }] } });
            match read(&mut *opened(&ClaudeCode), &frame).remove(0) {
                Event::Observed { event_id, .. } => event_id,
                other => panic!("{other:?}"),
            }
        };
        assert_ne!(said("one"), said("two"));
        assert_eq!(said("one"), said("one"));
        assert!(said("one").len() < 300);
    }
}

#[test]
fn a_change_that_was_not_announced_is_not_taken_for_one_of_no_files() {
    let question = json!({ "id": 7, "method": "item/fileChange/requestApproval",
        "params": { "threadId": SESSION, "turnId": "t", "itemId": "c" } });
    let events = read(&mut *opened(&Codex), &question);
    let [Event::Asked(asked)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(asked.proposed.proposal, windlass_adapters::Proposal::Other);
}

#[test]
fn a_message_that_came_too_late_for_its_turn_starts_the_next() {
    let mut conversation = opened(&Codex);
    let started = json!({ "method": "turn/started", "params": { "threadId": SESSION, "turn": { "id": "t" } } });
    read(&mut *conversation, &started);
    let steer = conversation.tell(&Tell::Say { text: "and that".to_owned() }).expect("it works");
    let steer: Value = serde_json::from_slice(&steer[0]).expect("JSON");
    assert_eq!(steer["method"], "turn/steer");
    let ended = json!({ "method": "turn/completed",
        "params": { "threadId": SESSION, "turn": { "id": "t", "status": "completed" } } });
    read(&mut *conversation, &ended);
    let refusal = json!({ "id": steer["id"], "error": { "code": -32600, "message": "no active turn to steer" } });
    let events = read(&mut *conversation, &refusal);
    let [Event::Write(frame)] = &events[..] else { panic!("{events:?}") };
    let frame: Value = serde_json::from_slice(frame).expect("JSON");
    assert_eq!((&frame["method"], &frame["params"]["input"][0]["text"]), (&json!("turn/start"), &json!("and that")));
}

/// Frames that are nearly right: the words that the adapters look for, with anything below them.
fn nearly_right() -> impl Strategy<Value = Vec<u8>> {
    let word = prop::sample::select(vec![
        "type",
        "system",
        "subtype",
        "init",
        "assistant",
        "user",
        "result",
        "message",
        "content",
        "text",
        "tool_use",
        "control_request",
        "request",
        "request_id",
        "can_use_tool",
        "input",
        "id",
        "method",
        "params",
        "item",
        "turn",
        "item/started",
        "item/completed",
        "turn/started",
        "turn/completed",
        "fileChange",
        "changes",
        "path",
        "threadId",
        "item/fileChange/requestApproval",
        "response",
        "extension_ui_request",
        "windlass permission",
        "placeholder",
        "message_end",
        "agent_settled",
        "role",
        "toolResult",
        "timestamp",
        "usage",
        "cost",
        "total",
        "error",
        "status",
    ]);
    let leaf = prop_oneof![
        word.clone().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        ".{0,8}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(4, 32, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((word.clone(), inner), 0..6)
                .prop_map(|pairs| pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()),
        ]
    });
    prop_oneof![value.prop_map(|value| value.to_string().into_bytes()), prop::collection::vec(any::<u8>(), 0..64),]
}

proptest! {
    #[test]
    fn no_bytes_make_a_conversation_panic(frames in prop::collection::vec(nearly_right(), 0..12)) {
        for adapter in ALL {
            for mut conversation in [begun(adapter), opened(adapter)] {
                for frame in &frames {
                    for event in conversation.read(frame) {
                        if let Event::Asked(asked) = event {
                            conversation.answer(&asked.request, &Answer::Hold { reason: String::new() });
                        }
                    }
                    let _ = conversation.tell(&Tell::Interrupt);
                    let _ = conversation.tell(&Tell::Say { text: "go on".to_owned() });
                }
            }
        }
    }

    /// A recorded stream that is cut, doubled and mixed is read without harm, and what is said twice has one name.
    #[test]
    fn a_stream_told_twice_has_the_same_names(cut in 0_usize..4_000) {
        let stream = include_str!("../fixtures/claude-code/resumed.jsonl");
        let told = |stream: &str| {
            let mut conversation = ClaudeCode.converse(&Scene { session: Session::Resume(SESSION), ..scene() }.launching());
            let events: Vec<Event> = stream.lines().flat_map(|line| conversation.read(line.as_bytes())).collect();
            let mut names: Vec<String> = events.into_iter().filter_map(|event| match event {
                Event::Observed { event_id, .. } => Some(event_id),
                _ => None,
            }).collect();
            names.sort();
            names.dedup();
            names
        };
        let whole = told(stream);
        prop_assert_eq!(&told(&format!("{stream}{stream}")), &whole);
        let part: String = stream.chars().take(cut).collect();
        prop_assert!(told(&part).iter().all(|name| whole.contains(name)));
    }
}
