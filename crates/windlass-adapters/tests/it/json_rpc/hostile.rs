//! Whatever a program prints, the worst that comes of it is a diagnostic: bytes of any kind, half of a frame, a frame with a part of it
//! replaced, and a flood of questions.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use serde_json::{Value, json};
use windlass_adapters::{Adapter, Answer, Conversation, Copilot, Event, OpenCode, Tell};

use super::gemini::gemini;

use crate::launching::scene;

/// A talk that is under way, and what the real program said in it.
struct Scenario {
    talk: Box<dyn Conversation>,
    frames: Vec<String>,
}

fn scenarios() -> [Scenario; 3] {
    let ping = json!({ "id": 1, "result": { "protocolVersion": 3, "timestamp": "t" } });
    let greeting = json!({ "id": 1, "result": { "protocolVersion": 1 } });
    [
        scenario(&Copilot, "copilot/asked.jsonl", &ping),
        scenario(&OpenCode, "acp/opencode-asked.jsonl", &greeting),
        // Of an agent that is added by its command line nothing is known: what another said is as good as anything.
        scenario(&gemini(), "acp/opencode-asked.jsonl", &greeting),
    ]
}

fn scenario(adapter: &dyn Adapter, file: &str, greeting: &Value) -> Scenario {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(file);
    let stream = fs::read_to_string(path).expect("text");
    let frames: Vec<String> =
        stream.lines().filter(|line| line.starts_with("{\"dir\":\"<\"")).map(str::to_owned).collect();
    let named: Vec<Value> = frames.iter().map(|frame| serde_json::from_str(frame).expect("JSON")).collect();
    let session = named.iter().find_map(|frame| frame.pointer("/params/sessionId")).expect("a name");
    let mut talk = adapter.converse(&scene().launching());
    talk.begin();
    talk.read(greeting.to_string().as_bytes());
    talk.read(json!({ "id": 2, "result": { "sessionId": session } }).to_string().as_bytes());
    Scenario { talk, frames }
}

/// Otherwise the others would prove nothing.
#[test]
fn undisturbed_they_ask() {
    for Scenario { mut talk, frames } in scenarios() {
        let events: Vec<Event> = frames.iter().flat_map(|frame| talk.read(frame.as_bytes())).collect();
        let asked = events.iter().filter(|event| matches!(event, Event::Asked(_))).count();
        assert!(asked > 5, "{asked} of {events:?}");
    }
}

/// Reads it, and answers and says whatever can be answered and said after it.
fn survive(talk: &mut dyn Conversation, frame: &[u8]) {
    for event in talk.read(frame) {
        if let Event::Asked(asked) = event {
            talk.answer(&asked.request, &Answer::Hold { reason: "no".to_owned() });
        }
    }
    let _ = talk.tell(&Tell::Say { text: "x".to_owned() });
    let _ = talk.tell(&Tell::Interrupt);
}

/// Anything that may stand where something else did.
fn anything() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([{ "a": [null, "\u{1F600}"] }])),
    ]
}

fn replace(value: &mut Value, place: usize, with: &Value) -> usize {
    if place == 0 {
        *value = with.clone();
        return 0;
    }
    let mut left = place;
    let children: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(fields) => fields.values_mut().collect(),
        _ => Vec::new(),
    };
    for child in children {
        left -= 1;
        left = replace(child, left, with);
        if left == 0 {
            return 0;
        }
    }
    left
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_of_any_kind(frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 0..8)) {
        for Scenario { mut talk, .. } in scenarios() {
            for frame in &frames {
                survive(talk.as_mut(), frame);
            }
        }
    }

    /// Every real frame in its order, one of them cut short and one with something else in one place.
    #[test]
    fn frames_that_are_not_as_they_were(cut in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(),
                                        changed in any::<prop::sample::Index>(), place in 0..60_usize, with in anything()) {
        for Scenario { mut talk, frames } in scenarios() {
            let (cut, changed) = (cut.index(frames.len()), changed.index(frames.len()));
            for (number, frame) in frames.iter().enumerate() {
                let mut bytes = frame.clone().into_bytes();
                if number == changed {
                    let mut value: Value = serde_json::from_str(frame).expect("JSON");
                    replace(&mut value, place, &with);
                    bytes = value.to_string().into_bytes();
                }
                if number == cut {
                    bytes.truncate(at.index(frame.len()));
                }
                survive(talk.as_mut(), &bytes);
            }
        }
    }
}

#[test]
fn half_a_line_says_nothing() {
    for Scenario { mut talk, frames } in scenarios() {
        for frame in frames {
            let half = &frame.as_bytes()[..frame.len() / 2];
            assert!(matches!(talk.read(half).as_slice(), [Event::Unreadable { .. }]));
        }
    }
}

#[test]
fn an_unreadable_frame_is_shown_in_part() {
    for Scenario { mut talk, .. } in scenarios() {
        let events = talk.read(&vec![b'x'; 1 << 20]);
        let [Event::Unreadable { why }] = events.as_slice() else { panic!("{events:?}") };
        assert!(why.len() < 300);
    }
}
