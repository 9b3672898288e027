//! Pattern documents: those that are shipped, the defaults of contracts §8, and every problem at once with its place.

use proptest::prelude::*;
use windlass_domain::pattern::{Condition, Material, Pattern, TokenBudget};
use windlass_plan::{parse_pattern, shipped_patterns};

#[test]
fn every_task_type_of_seed_003_is_shipped() {
    let shown = |pattern: &Pattern| {
        let steps: Vec<&str> = pattern.steps.iter().map(|step| step.name.as_str()).collect();
        format!("{}: {}", pattern.name, steps.join(" "))
    };
    let shipped: Vec<String> = shipped_patterns().iter().map(|pattern| shown(pattern)).collect();
    let expected = [
        "code_create: design write test",
        "code_modify: read understand edit verify",
        "generic: work",
        "memory_op: query update",
        "research: search visit extract synthesize",
        "skill_build: research synthesize generate",
    ];
    assert_eq!(shipped, expected);
    assert!(shipped_patterns().iter().all(|pattern| pattern.leads() == (pattern.name != "generic")));
}

#[test]
fn what_is_not_said_is_as_the_contract_has_it() {
    let pattern = parse_pattern("name: p\ndescription: d\nsteps: [{name: a}]\n").unwrap();
    assert_eq!((pattern.role.as_str(), pattern.phase.as_str(), pattern.max_steps), ("executor", "execution", 5));
    assert_eq!((pattern.max_output_tokens, pattern.prompt_fragments.len()), (500, 0));
    assert!((pattern.temperature - 0.3).abs() < f64::EPSILON);
    let TokenBudget { total, prompt, input_docs, output, buffer } = pattern.token_budget;
    assert_eq!((total, prompt, input_docs, output, buffer), (3_500, 800, 1_500, 500, 700));
    let doc = &pattern.input_docs[0];
    assert_eq!((doc.path.as_str(), doc.optional, doc.max_tokens), ("context.md", false, 1_500));
    let step = &pattern.steps[0];
    assert_eq!((step.retries, step.optional, step.on_fail.as_deref()), (2, false, None));
    assert!(step.tools.is_empty() && step.done_when.is_empty() && step.skip_when.is_empty());
}

#[test]
fn every_field_and_every_condition_is_read() {
    let document = "
name: deploy
description: Bring it out.
role: executor
phase: release
steps:
  - {name: build, tools: [bash], done_when: ok, retries: 1}
  - name: look
    tools: read
    done_when: [ok, {output_contains: ready}, {arguments_contain: out}, {called: [bash, read]}, {file_exists: out/app}]
    skip_when: [{given: bindings}, {called: bash}, {file_exists: out/app}]
    on_fail: build
    retries: 0
    optional: true
max_steps: 7
prompt_fragments: [Be quick.]
input_docs: [{path: context.md, optional: true, max_tokens: 900, path_type: turn}]
token_budget: {total: 3000, prompt: 700, input_docs: 1000, output: 400, buffer: 500}
temperature: 0
max_output_tokens: 300
";
    let pattern = parse_pattern(document).unwrap();
    let step = &pattern.steps[1];
    assert_eq!(step.done_when.len(), 5);
    assert_eq!(step.done_when[2], Condition::ArgumentsContain("out".to_owned()));
    assert_eq!(step.skip_when[0], Condition::Given(Material::Bindings));
    assert_eq!((step.on_fail.as_deref(), step.retries, step.optional), (Some("build"), 0, true));
    assert_eq!((pattern.max_steps, pattern.phase.as_str(), pattern.max_output_tokens), (7, "release", 300));
    assert_eq!((pattern.input_docs[0].max_tokens, pattern.token_budget.total), (900, 3_000));
    let read = serde_json::from_value::<Pattern>(serde_json::to_value(&pattern).unwrap()).unwrap();
    assert_eq!(read, pattern, "as the journal keeps it");
}

#[track_caller]
fn check(document: &str, expected: &[&str]) {
    let problems = parse_pattern(document).expect_err("it is wrong");
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (told, expected) in told.iter().zip(expected) {
        assert!(told.starts_with(expected), "{told}\nis not\n{expected}");
    }
}

#[test]
fn every_problem_is_told_at_once_with_its_place_and_what_was_meant() {
    let document = "name: two words\ndescription: d\nstpes: []\nsteps:\n  - {name: a, tols: [bash]}\n  - {name: a, on_fail: c, tools: [x]}\n  \
        - {name: b, done_when: okk, retries: 3}\n";
    check(
        document,
        &[
            "1:7: `name` must be a word",
            "3:1: unknown field `stpes`; did you mean `steps`?",
            "5:15: unknown field `tols`; did you mean `tools`?",
            "6:5: the step `a` is already there at 5:5",
            "6:24: `on_fail: c` names no step; ",
            "7:26: unknown condition `okk`; did you mean `ok`?",
            "7:31: `retries` is about calls, and this step has no `tools`",
        ],
    );
}

#[test]
fn what_could_not_work_is_refused() {
    let with = |more: &str| format!("name: p\ndescription: d\nsteps: [{{name: a, tools: [x]}}, {{name: b}}]\n{more}\n");
    check("", &["1:1: this is no pattern"]);
    check("[a]", &["1:1: a pattern is a mapping"]);
    check("name: p\ndescription: d\n", &["1:1: `steps` is missing"]);
    check("name: p\ndescription: d\nsteps: []\n", &["3:8: a pattern has 1 to 20 steps"]);
    check(&with("max_steps: 1"), &["4:12: `max_steps` is 1, and there are 2 steps"]);
    check(&with("max_steps: 0"), &["4:12: `max_steps` must be from 1 to 100"]);
    check(&with("role: planner"), &["4:7: `role` must be `executor`"]);
    check(&with("temperature: 3"), &["4:14: `temperature` must be from 0 to 2"]);
    check(
        &with("token_budget: {total: 100}"),
        &["4:15: prompt, input_docs, output and buffer come to 3500 tokens, `total` is 100"],
    );
    check(&with("max_output_tokens: 501"), &["4:20: `max_output_tokens` is 501, and `token_budget` has 500"]);
    check(&with("input_docs: [{path: notes.md}]"), &["4:21: only `context.md` is handed over"]);
    check(&with("input_docs: []"), &["4:13: `context.md` must be among `input_docs`"]);
    check(&with("input_docs: [{path: context.md, path_type: workspace}]"), &["4:44: `path_type` must be `turn`"]);
    let step = |more: &str| format!("name: p\ndescription: d\nsteps: [{{name: a, tools: [x], {more}}}]\n");
    check(&step("skip_when: ok"), &["3:42: a step that is to be skipped has made no call yet"]);
    check(
        &step("done_when: {given: money}"),
        &["3:50: `given` must be one of attachments, bindings, guidance, memories"],
    );
    check(&step("done_when: {output_contains: ''}"), &["3:60: `output_contains` must have 1 to 200 letters"]);
    check(&step("done_when: {file_exists: ../x}"), &["3:56: \"../x\": `..` would leave the workspace"]);
    check(&step("done_when: file_exists"), &["3:42: unknown condition `file_exists`; write `file_exists: …`"]);
    check(&step("done_when: {ok: yes}"), &["3:43: `ok` stands alone"]);
    check(&step("done_when: {file_exist: a}"), &["3:43: unknown field `file_exist`; did you mean `file_exists`?"]);
}

proptest! {
    #[test]
    fn nothing_that_is_written_breaks_the_reader(text in r##"[a-z:\-\[\]{}, \n'"#0-9]{0,300}"##) {
        let _read_or_not = parse_pattern(&text);
        let _as_steps = parse_pattern(&format!("name: p\ndescription: d\nsteps:\n{text}"));
    }
}
