//! An agent that a pattern leads, in the native loop: what it is told, what it may not do, and how it ends.

use std::sync::Arc;

use windlass_agent::Settings;
use windlass_domain::execution::{ExecutionEvent, Outcome};
use windlass_domain::pattern::{Hint, Pattern, PlaceEnd};
use windlass_domain::{ErrorCategory, ErrorCode, Host as _, Message};

use crate::next::led;
use crate::speaker::speakers;
use crate::support::{Judge, Judgement, Stage};

pub fn shipped(name: &str) -> Arc<Pattern> {
    let found = windlass_plan::shipped_patterns().iter().find(|pattern| pattern.name == name);
    Arc::clone(found.unwrap_or_else(|| panic!("{name} is shipped")))
}

fn stage(pattern: &str, script: &str, judge: Judge) -> Stage {
    let state = led(shipped(pattern), crate::compaction::wide());
    let tools = speakers(&["web_search", "create_skill", "read", "edit", "bash", "other"]);
    Stage::with(script, "go", tools, judge, state, Settings::default())
}

pub fn script(lines: &[&str]) -> String {
    let lines: String = lines.iter().map(|line| format!("    - {line}\n")).collect();
    format!("version: 1\ntracks:\n  default:\n{lines}")
}

fn call(tool: &str, say: &str) -> String {
    format!("{{calls: [{{tool: {tool}, args: {{say: \"{say}\"}}}}]}}")
}

/// The changes of step and the nudges, in order.
pub fn course(stage: &Stage) -> Vec<String> {
    let journal = stage.host.journal.lock().expect("one thread");
    let shown = |event: &ExecutionEvent| match event {
        ExecutionEvent::PatternStepped(stepped) => {
            let end = stepped.end.map(PlaceEnd::as_str).unwrap_or_default();
            Some(format!("{} {} {}{end}", stepped.from, stepped.why.as_str(), stepped.to.clone().unwrap_or_default()))
        }
        ExecutionEvent::PatternNudged(nudged) => Some(match &nudged.hint {
            Hint::Repeats { step, .. } => format!("repeats {step}"),
            Hint::TooEarly { step } => format!("too early {step}"),
        }),
        _ => None,
    };
    journal.iter().filter_map(shown).collect()
}

/// Calls that were given leave, by tool.
pub fn made(stage: &Stage, tool: &str) -> usize {
    let journal = stage.host.journal.lock().expect("one thread");
    journal.iter().filter(|event| matches!(event, ExecutionEvent::ToolStarted(started) if started.tool == tool)).count()
}

#[test]
fn an_agent_hears_of_each_step_and_of_a_repetition_once() {
    let (one, two, three) = (call("web_search", "a"), call("web_search", "b"), call("web_search", "c"));
    let create = call("create_skill", "made");
    let stage = stage("skill_build", &script(&[&one, &two, &three, &create, "reply: done"]), |_| Judgement::Grant);
    assert_eq!(stage.run(), Outcome::Completed { message: "done".to_owned() });
    let expected =
        ["research done synthesize", "repeats research", "synthesize passed generate", "generate done complete"];
    assert_eq!(course(&stage), expected);
    assert_eq!((made(&stage, "web_search"), made(&stage, "create_skill")), (2, 1));
    let state = stage.host.state();
    let said = |words: &str| {
        state.transcript.iter().any(|message| match message.as_ref() {
            Message::User { text, .. } => text.contains(words),
            Message::Tool(result) => result.content.contains(words),
            Message::Assistant { .. } => false,
        })
    };
    assert!(said("# How this is done") && said("3. `generate` (create_skill)"), "told at the beginning");
    assert!(said("[system] The step `research` is done. You are now at the step `synthesize`."));
    assert!(said("Your call of `web_search` repeats the step `research`, which is finished."));
    assert!(
        said("not done: the step `research` is finished; go on with the step `synthesize`"),
        "the third is refused"
    );
}

/// Seed 003's second criterion: whatever the model does, it does not go on searching.
#[test]
fn never_a_research_loop_without_the_generator() {
    let many: Vec<String> = (0..40).map(|n| call("web_search", &n.to_string())).collect();
    let lines: Vec<&str> = many.iter().map(String::as_str).collect();
    let stage = stage("skill_build", &script(&lines), |_| Judgement::Grant);
    let Outcome::Failed(error) = stage.run() else { panic!("it goes on for ever") };
    assert_eq!(error.error_code, ErrorCode::DoomLoop, "{error:?}");
    assert_eq!(made(&stage, "web_search"), 2, "one, and one more with a word");
    // Many in one answer are no way around it.
    let call = |n: usize| format!("{{tool: web_search, args: {{say: \"{n}\"}}}}");
    let at_once = format!("{{calls: [{}]}}", (0..20).map(call).collect::<Vec<_>>().join(", "));
    let stage = self::stage("skill_build", &script(&[&at_once, "reply: done", "reply: done"]), |_| Judgement::Grant);
    assert!(matches!(stage.run(), Outcome::Failed(_)));
    assert!(made(&stage, "web_search") <= 3, "{}", made(&stage, "web_search"));
}

#[test]
fn who_says_done_before_the_last_step_is_told_once_and_then_fails() {
    let search = call("web_search", "a");
    let stage = stage("skill_build", &script(&[&search, "reply: done", "reply: really"]), |_| Judgement::Grant);
    let Outcome::Failed(error) = stage.run() else { panic!("the skill was not made") };
    assert_eq!((error.error_code, error.category), (ErrorCode::Stuck, ErrorCategory::AgentLevel));
    assert!(error.message.contains("the step `generate` of the pattern `skill_build` is not"), "{}", error.message);
    assert_eq!(course(&stage), ["research done synthesize", "too early generate"]);
    let create = call("create_skill", "made");
    let listens = script(&[&search, "reply: done", &create, "reply: now it is"]);
    let stage = self::stage("skill_build", &listens, |_| Judgement::Grant);
    assert_eq!(stage.run(), Outcome::Completed { message: "now it is".to_owned() });
}

#[test]
fn a_step_that_fails_as_often_as_it_may_ends_the_attempt() {
    let fails = "{calls: [{tool: create_skill, args: {say: no, fail: true}}], repeat: forever}";
    let search = call("web_search", "a");
    let stage = stage("skill_build", &script(&[&search, fails]), |_| Judgement::Grant);
    let Outcome::Failed(error) = stage.run() else { panic!("it goes on") };
    assert_eq!(error.error_code, ErrorCode::Stuck, "{error:?}");
    assert_eq!(made(&stage, "create_skill"), 3, "the first and two more");
}

#[test]
fn tests_that_fail_lead_back_to_the_edit() {
    let fails = "{calls: [{tool: bash, args: {say: red, fail: true}}]}";
    let lines = [call("read", "a"), call("edit", "b"), fails.to_owned(), call("edit", "c"), call("bash", "green")];
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    lines.push("reply: done");
    let stage = stage("code_modify", &script(&lines), |_| Judgement::Grant);
    assert_eq!(stage.run(), Outcome::Completed { message: "done".to_owned() });
    let expected = ["read done understand", "understand passed edit", "edit done verify", "verify done complete"];
    assert_eq!(course(&stage), expected, "what is mended in place need not go back");
}

/// Nothing but the journal knows where it stands.
#[test]
fn a_process_that_vanishes_is_followed_by_one_that_stands_at_the_same_step() {
    let lines = [call("web_search", "a"), call("create_skill", "b")];
    let script = script(&[&lines[0], &lines[1], "reply: done"]);
    let vanishes: Judge = |open| if open.call.tool == "create_skill" { Judgement::Vanish } else { Judgement::Grant };
    let stage = stage("skill_build", &script, vanishes);
    assert!(matches!(stage.run(), Outcome::Stopped(_)));
    stage.host.judge_anew(|_| Judgement::Grant);
    assert_eq!(stage.run(), Outcome::Completed { message: "done".to_owned() });
    assert_eq!(course(&stage), ["research done synthesize", "synthesize passed generate", "generate done complete"]);
}

#[test]
fn a_pattern_whose_tools_are_not_there_is_said_before_anything_is_asked() {
    let state = led(shipped("memory_op"), crate::compaction::wide());
    let stage = Stage::with(
        &script(&["reply: done"]),
        "go",
        speakers(&["other"]),
        |_| Judgement::Grant,
        state,
        Settings::default(),
    );
    let Outcome::Failed(error) = stage.run() else { panic!("it cannot be followed") };
    assert_eq!((error.error_code, error.category), (ErrorCode::Stuck, ErrorCategory::Permanent));
    assert!(error.message.contains("needs one of search_memo, read"), "{}", error.message);
    assert_eq!(stage.host.state().answers, 0);
}

#[test]
fn what_no_step_names_is_free() {
    let lines = [
        call("other", "a"),
        call("web_search", "b"),
        call("other", "c"),
        call("other", "d"),
        call("create_skill", "e"),
    ];
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    lines.push("reply: done");
    let stage = stage("skill_build", &script(&lines), |_| Judgement::Grant);
    assert_eq!(stage.run(), Outcome::Completed { message: "done".to_owned() });
    assert_eq!(made(&stage, "other"), 3);
}
