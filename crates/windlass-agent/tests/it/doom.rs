//! An agent that goes in circles is told so three times, in the seed's words, and then the run ends with what it did.

use windlass_agent::Settings;
use windlass_domain::execution::{ExecutionEvent, Outcome};
use windlass_domain::{ErrorCode, Host, Message};

use crate::next::limited;
use crate::speaker::speakers;
use crate::support::{Judgement, Stage};

fn stage(script: &str) -> Stage {
    let limits = crate::compaction::wide();
    Stage::with(script, "go", speakers(&["look"]), |_| Judgement::Grant, limited("", limits), Settings::default())
}

#[test]
fn a_loop_is_named_three_times_and_then_ends_the_run() {
    let script = "version: 1\ntracks: { default: [{calls: [{tool: look, args: {say: same}}], repeat: forever}] }\n";
    let stage = stage(script);
    let Outcome::Failed(error) = stage.run() else { panic!("it goes on for ever") };
    assert_eq!(error.error_code, ErrorCode::DoomLoop);
    assert!(error.message.contains("look {\"say\":\"same\"}"), "{}", error.message);
    let state = stage.host.state();
    let told = state.transcript.iter().filter_map(|message| match message.as_ref() {
        Message::User { text, .. } if text.starts_with("[system]") => Some(text.as_str()),
        _ => None,
    });
    let told: Vec<&str> = told.collect();
    assert_eq!(told.len(), 3);
    assert!(told[0].contains("You appear to be repeating the same action. Reconsider your approach."), "{told:?}");
    assert!(told[1].contains("Stop and re-read your plan. What should you do differently?"), "{told:?}");
    assert_eq!(state.tool_calls, 12);
}

#[test]
fn an_agent_that_listens_goes_on() {
    let script = "version: 1\ntracks:\n  default:\n    - {calls: [{tool: look, args: {say: same}}], repeat: 3}\n    \
        - {when: {request: repeating the same action}, calls: [{tool: look, args: {say: other}}]}\n    - reply: done\n";
    let stage = stage(script);
    assert_eq!(stage.run(), Outcome::Completed { message: "done".to_owned() });
    let journal = stage.host.journal.lock().expect("one thread");
    assert_eq!(journal.iter().filter(|event| matches!(event, ExecutionEvent::DoomLoopDetected(_))).count(), 1);
}

#[test]
fn looking_at_what_changes_is_no_loop() {
    let lines: String = (0..12).map(|n| format!("    - calls: [{{tool: look, args: {{say: \"{n}\"}}}}]\n")).collect();
    let stage = stage(&format!("version: 1\ntracks:\n  default:\n{lines}    - reply: done\n"));
    assert_eq!(stage.run(), Outcome::Completed { message: "done".to_owned() });
    assert!(stage.host.journal.lock().expect("one thread").iter().all(|event| event.kind() != "doom_loop.detected"));
}
