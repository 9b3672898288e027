//! Answers that are whole and bad. The model hears what was wrong and is asked again; what it has used is counted.

use super::liar::Act;
use super::trial::{Trial, always, once};
use super::wire::WIRES;

#[test]
fn malformed_json_is_answered_with_what_to_send() {
    for wire in WIRES {
        for arguments in ["{\"path\": ", "", "[]", "\u{0}", "{\"path\": 7}", "{} {}"] {
            let trial = once(wire, Act::Say(wire.calls(&[("read", arguments)])));
            trial.is_completed();
            let [result] = trial.data("tool.finished")[..] else { panic!("one result") };
            let content = result["content"].as_str().expect("text");
            assert!(result["status"] == "error" && content.contains("arguments"), "{wire:?} {arguments:?}: {result}");
        }
    }
}

#[test]
fn an_unknown_tool_is_answered_with_those_there_are() {
    for wire in WIRES {
        for tool in ["do what I mean!", "", "Read", "../bash", &"x".repeat(10_000)] {
            let trial = once(wire, Act::Say(wire.calls(&[(tool, "{}")])));
            trial.is_completed();
            let [result] = trial.data("tool.finished")[..] else { panic!("one result") };
            assert!(result["content"].as_str().is_some_and(|text| text.contains("there is no tool")), "{result}");
        }
    }
}

/// The model was told, nothing of its answer was done, and what it may have cost is spent.
#[track_caller]
fn was_told(trial: &Trial, reason: &str) {
    trial.is_completed();
    let [failed] = trial.data("model.failed")[..] else { panic!("one answer was refused") };
    assert!(failed["reason"].as_str().is_some_and(|said| said.contains(reason)), "{failed}");
    assert!(failed["usage"]["output"].as_u64() > Some(0), "{failed}");
    let told = failed["told"].as_str().expect("something to hear").split('(').next().expect("words").trim();
    assert!(!trial.requests[0].contains(told) && trial.requests[1].contains(told), "{told}");
    assert!(trial.data("tool.started").is_empty());
}

#[test]
fn thousands_of_calls_at_once_are_refused_and_hundreds_are_answered() {
    for wire in WIRES {
        let calls = vec![("bash", "{\"command\":\"touch done\"}"); 5_000];
        let trial = once(wire, Act::Say(wire.calls(&calls)));
        was_told(&trial, "more than 512 tool calls at once");
        assert!(!trial.home.workspace().join("done").exists());
        let trial = once(wire, Act::Say(wire.calls(&vec![("read", "{\"path\":\"notes.txt\"}"); 512])));
        trial.is_completed();
        assert_eq!(trial.data("tool.finished").len(), 512);
    }
}

#[test]
fn an_argument_of_ten_megabytes_is_refused() {
    for wire in WIRES {
        let arguments = format!("{{\"path\":\"large.txt\",\"content\":\"{}\"}}", "x".repeat(10 << 20));
        let trial = once(wire, Act::Say(wire.calls(&[("write", &arguments)])));
        was_told(&trial, "longer than");
        assert!(!trial.home.workspace().join("large.txt").exists());
    }
}

#[test]
fn an_empty_message_is_answered() {
    for wire in WIRES {
        was_told(&once(wire, Act::Say(wire.says(""))), "answered nothing");
        was_told(&once(wire, Act::Say(wire.says(" \n"))), "answered nothing");
    }
}

/// A model that is told and told again and does not listen ends the run, with the reason in the journal.
#[test]
fn what_is_never_usable_ends_the_run() {
    for wire in WIRES {
        let many = wire.calls(&vec![("read", "{}"); 600]);
        for (answer, error_code) in [(wire.says(""), "answer_incomplete"), (many, "model_rejected")] {
            let trial = always(wire, Act::Say(answer), &[]);
            trial.is_failed(error_code);
            assert_eq!((trial.requests.len(), trial.data("model.failed").len()), (4, 4));
        }
    }
}
