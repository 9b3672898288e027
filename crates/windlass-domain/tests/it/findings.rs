//! What these tests once found wrong in the domain, so that it stays mended.

use std::collections::BTreeMap;

use proptest::prelude::*;

use windlass_domain::execution::{Answer, ExecutionCommand, ExecutionEvent, ExecutionState, decide};
use windlass_domain::task::{ExecutionConfig, Move, TaskCreated, TaskEvent, next_move};
use windlass_domain::{
    CallStatus, CheckProbe, Dialect, Digest, Effect, Expectation, Finished, Image, MediaType, Probe, Reach, Reasoning,
    ToolCall, UsageMetrics,
};

use crate::notation::{START, Story, command, finished, id, outcome};
use crate::task_notation::{created, recorded, told};

/// The owner dies; hours later somebody finds out. Those hours are not the agent's.
#[test]
fn time_in_which_nobody_was_there_is_not_active_time() {
    let story = Story::told("create[ms=60000] launching running +1000 ask +36000000 lost launching running");
    assert!(story.state.spent.active_ms <= 1_000, "{} ms", story.state.spent.active_ms);
    assert_eq!(outcome(&story.tell("ask")), "model.requested 2 of 0 messages");
}

/// An hour back on the wall clock must not buy an hour of running.
#[test]
fn a_clock_set_back_while_running_costs_only_the_step_it_was_set_back_in() {
    let story = Story::told("create launching running +1000 prompt -3600000 prompt +2000 prompt");
    assert_eq!(story.state.spent_by(story.now).active_ms, 3_000);
}

#[test]
fn an_absurd_estimate_neither_panics_nor_gives_budget_back() {
    let huge = u64::MAX;
    let story = Story::told(&format!(
        "create[tokens={huge}] launching running ask[input={}] paused running ask[input={huge}] paused",
        huge - 1
    ));
    assert_eq!(story.state.spent.usage.total(), huge);
}

#[test]
fn an_absurd_meter_neither_panics_nor_gives_budget_back() {
    let mut total = UsageMetrics { total_tokens: u64::MAX, tool_calls: u32::MAX, ..UsageMetrics::default() };
    total += total;
    assert_eq!((total.total_tokens, total.tool_calls), (u64::MAX, u32::MAX));
}

/// No results are not good results.
#[test]
fn checks_that_were_not_all_run_verify_nothing() {
    for (checks, results) in [(1, vec![]), (2, vec![true])] {
        let mut task = told(&format!("task[checks={checks}] start done"));
        task.apply(&TaskEvent::ChecksRecorded(recorded(1, &results)), START);
        let next = next_move(&task);
        assert!(!matches!(next, Move::Finish { verified: true, .. }), "{} of {checks}: {next:?}", results.len());
    }
}

#[test]
fn a_task_that_is_over_stays_over() {
    for end in ["COMPLETED", "FAILED", "CANCELLED"] {
        let task = told(&format!("task start done finished:{end} running"));
        assert!(task.is_over());
        assert_eq!(next_move(&task), Move::Nothing);
    }
}

/// Providers refuse a conversation in which something stands between a call and its result.
#[test]
fn nothing_stands_between_a_call_and_its_result() {
    for word in ["inject", "prompt"] {
        let story = Story::told("create prompt launching running ask call:a,b start:a=read ok:a");
        assert_eq!(outcome(&story.tell(word)), "refused: not yet");
    }
}

/// Else the answer stands after words that it does not answer, and with `end_turn` nobody ever reads them.
#[test]
fn an_answer_stands_right_after_what_it_answers() {
    let story = Story::told("create prompt launching running ask");
    assert_eq!(outcome(&story.tell("inject")), "refused: not yet");
}

#[test]
fn a_journal_begins_with_its_header() {
    for word in ["launching", "prompt", "inject", "keep:a", "cancelled"] {
        assert!(Story::told("").tell(word).is_err(), "{word}");
    }
}

#[test]
fn an_execution_does_not_complete_while_a_call_has_no_result() {
    for before in ["ask", "ask call:a", "ask call:a start:a=once"] {
        let story = Story::told(&format!("create launching running {before}"));
        assert_eq!(outcome(&story.tell("completed")), "refused: not yet", "{before}");
    }
}

#[test]
fn a_call_that_is_started_again_has_the_effect_it_had() {
    let story = Story::told("create launching running ask call:a start:a=read");
    assert!(story.tell("start:a=once").is_err());
}

/// A write that is begun again must be the write that was begun: the file it will be judged by is in its effect.
#[test]
fn a_call_that_is_started_again_changes_the_same_file_in_the_same_way() {
    let story = Story::told("create launching running ask call:a start:a=probe");
    assert!(story.tell("start:a=probe").is_ok());
    let other = Effect::Probe(Probe { path: "b".into(), before: None, after: Digest::of(b"b"), result: "b".into() });
    let start = ExecutionCommand::StartCall { call_id: id("a"), effect: other, reach: Reach::Program };
    assert!(decide(&story.state, start, story.now).is_err());
}

/// A result and the same words as an error are different prompts, and need different names.
#[test]
fn different_transcripts_have_different_names() {
    let prompt = |words: &str| Story::told(words).state.prompt;
    let before = "create launching running ask call:a start:a=once";
    assert_ne!(prompt(&format!("{before} ok:a")), prompt(&format!("{before} error:a")));
}

/// The first is an answer with the call c1 and then its result `1`; the second is one answer with two calls.
#[test]
fn a_call_cannot_pass_for_a_result() {
    let mut with_result = answered(vec![ToolCall::new("c1", "bash", "{}")]);
    let result = Finished { content: "1".into(), ..finished("c1", CallStatus::Error) };
    with_result.apply(&ExecutionEvent::ToolFinished(result), START);
    let with_two_calls = answered(vec![ToolCall::new("c1", "bash", "{}"), ToolCall::new("tool\0", "c1", "1")]);
    assert_eq!((with_result.transcript.len(), with_two_calls.transcript.len()), (2, 1));
    assert_ne!(with_result.prompt, with_two_calls.prompt);
}

/// What a provider is sent again is part of what names a prompt; without it the name is what it always was.
#[test]
fn thoughts_and_pictures_are_part_of_a_prompt() {
    let thought = |words: &str| Reasoning {
        wire: Dialect::Anthropic,
        after: 0,
        content: serde_json::value::to_raw_value(words).expect("a string"),
    };
    let prompt = |reasoning| thinking(vec![], reasoning).prompt;
    assert_eq!(prompt(vec![]), answered(vec![]).prompt);
    assert_ne!(prompt(vec![]), prompt(vec![thought("a")]));
    assert_ne!(prompt(vec![thought("b")]), prompt(vec![thought("a")]));

    let shown = |pictures: &[&[u8]]| {
        let image = |bytes: &&[u8]| Image {
            name: "a".into(),
            media_type: MediaType::Png,
            bytes: 1,
            width: 1,
            height: 1,
            digest: Digest::of(bytes),
        };
        let mut state = answered(vec![ToolCall::new("c1", "bash", "{}")]);
        let images = pictures.iter().map(image).collect();
        state.apply(&ExecutionEvent::ToolFinished(Finished { images, ..finished("c1", CallStatus::Ok) }), START);
        state.prompt
    };
    assert_ne!(shown(&[]), shown(&[b"a"]));
    assert_ne!(shown(&[b"b"]), shown(&[b"a"]));
}

fn answered(calls: Vec<ToolCall>) -> ExecutionState {
    thinking(calls, vec![])
}

fn thinking(calls: Vec<ToolCall>, reasoning: Vec<Reasoning>) -> ExecutionState {
    let mut story = Story::told("create launching running ask");
    let ExecutionCommand::Answer(answer) = command("say") else { panic!("an answer") };
    let answer = Answer { calls, reasoning, ..answer };
    let event = decide(&story.state, ExecutionCommand::Answer(answer), story.now).expect("an answer");
    story.state.apply(&event, story.now);
    story.state
}

#[test]
fn a_plus_sign_is_no_hex_digit() {
    assert!("+1".repeat(32).parse::<Digest>().is_err());
}

fn with_threshold(threshold: f64) -> TaskCreated {
    let mut task = created(&BTreeMap::from([("checks", 1)]));
    let expect = Expectation::OutputLt(threshold);
    task.base_case.0[0].probe = CheckProbe::Run { run: "wc -l".into(), expect };
    task
}

proptest! {
    /// What was decided with before a restart is decided with after it.
    #[test]
    fn a_threshold_survives_the_journal_to_the_last_bit(threshold in -1e6..1e6_f64) {
        let task = with_threshold(threshold);
        let stored = TaskEvent::Created(task.clone()).encode();
        let read = TaskEvent::decode(stored.kind, stored.version, stored.data.get());
        let Ok(TaskEvent::Created(read)) = read else { panic!("another kind") };
        prop_assert_eq!(read.base_case, task.base_case);
    }

    #[test]
    fn a_ratio_survives_being_written_to_the_last_bit(ratio in 0.0..1.0_f64) {
        let mut config = ExecutionConfig::default();
        config.compaction.compaction_trigger_ratio = ratio;
        let text = serde_json::to_string(&config).expect("plain data");
        prop_assert_eq!(serde_json::from_str::<ExecutionConfig>(&text).expect("the same"), config);
    }
}

/// Tries that came to nothing are charged by what they are known to have used, once, and not by the estimate as well.
#[test]
fn a_question_that_was_given_up_is_charged_what_its_tries_used() {
    let story = Story::told("create launching running ask[input=1000,nanos=900] no-answer[input=40,output=2,nanos=7]");
    assert_eq!((story.state.spent.usage.total(), story.state.spent.cost.as_nanos()), (42, 7));
    let story = Story::told("create launching running ask[input=1000] no-answer paused running");
    assert_eq!(story.state.spent.usage.total(), 0);
    assert_eq!(outcome(&story.tell("ask")), "model.requested 2 of 0 messages");
    assert!(story.tell("no-answer").is_err(), "nothing is asked");
}

/// What failed tries used is paid for, and is no part of the conversation whose length the provider has metered.
#[test]
fn lost_tries_are_spent_and_do_not_lengthen_the_conversation() {
    let state = Story::told("create launching running ask say[input=100,output=5,lost=400]").state;
    assert_eq!(state.spent.usage.total(), 505);
    assert_eq!(state.metered.map(|(_, usage)| usage.total()), Some(105));
}
