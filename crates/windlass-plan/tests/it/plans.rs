//! Plan documents: what a complete one means, what is left out, and every problem with its place.

use serde_json::{Value, json};
use windlass_domain::plan::{AtomId, Item, ItemKind, Plan, Schedule};
use windlass_plan::{Problems, parse_plan};

fn any_gate(_: &Value) -> Result<(), String> {
    Ok(())
}

fn parse(document: &str) -> Result<Plan, Problems> {
    parse_plan(document, &any_gate)
}

fn problems(front: &str) -> String {
    let document = format!("---\n{front}---\n# What to do\nIt.\n");
    parse(&document).map_or_else(|problems| problems.to_string(), |plan| format!("read: {plan:?}"))
}

const TASK: &str = "id: fix\ntype: task\ntitle: Fix it\n";

const PROJECT: &str = "\
---
id: shop
type: project
title: A shop
tasks:
  - {id: api, type: task, title: The API, touches: {paths: [src/api]}, verify: [{command: make test-api}]}
  - {id: web, type: task, title: The pages}
  - id: launch
    type: task
    title: Launch it
    depends_on: [api, web]
    input_artifacts_from: [api]
---

# Context
A shop for books.

```sh
# What is this? A comment.
```

# What to do
All of it.

## api
Serve `/books`.

### Not an item
Details.

## web
Pages over the API.

# Constraints
No cookies.
## web
No frames either.

# If you get stuck
Ask.
";

#[test]
fn a_project_with_its_items_and_their_words() {
    let Plan(root) = parse(PROJECT).unwrap();
    assert_eq!((root.kind, root.title.as_str(), root.tasks.len()), (ItemKind::Project, "A shop", 3));
    let ids: Vec<&str> = root.all().iter().map(|item| item.id.as_str()).collect();
    assert_eq!(ids, ["shop", "api", "web", "launch"]);
    let [api, web, launch] = &root.tasks[..] else { panic!("three items") };
    assert_eq!(api.touches.paths, ["src/api"]);
    assert_eq!(api.verify.0.len(), 1);
    let depends: Vec<&str> = launch.depends_on.iter().map(AtomId::as_str).collect();
    assert_eq!(depends, ["api", "web"]);
    assert_eq!(root.briefing.context, "A shop for books.\n\n```sh\n# What is this? A comment.\n```");
    assert_eq!(root.briefing.what_to_do, "All of it.");
    assert_eq!(api.briefing.what_to_do, "Serve `/books`.\n\n### Not an item\nDetails.");
    assert_eq!(api.briefing.context, root.briefing.context);
    assert_eq!(
        (api.briefing.constraints.as_str(), web.briefing.constraints.as_str()),
        ("No cookies.", "No frames either.")
    );
    assert_eq!(launch.briefing.what_to_do, "Launch it", "its title, where there is nothing else");
    assert_eq!(launch.briefing.if_you_get_stuck, "Ask.");
}

/// The names, the defaults and the order of contracts §1.
#[test]
fn what_is_left_out_is_as_the_contract_says() {
    let document = format!("---\n{TASK}---\n# What to do\nFix it.\n");
    let Plan(item) = parse(&document).unwrap();
    assert_eq!(
        serde_json::to_value(&item).unwrap(),
        json!({
            "id": "fix", "type": "task", "title": "Fix it", "tasks": [], "depends_on": [], "any_of": null,
            "speculative": false, "needs_approval": true, "agent": "executor", "skills": [], "pattern": "generic",
            "probe": false, "interaction_mode": "confirm_only_when_required",
            "budget": {"max_tokens": 200_000, "max_cost_usd": 2.0, "max_wall_time_seconds": 1_800, "max_attempts": 5,
                "max_planner_calls": 3},
            "plan_budget": {"max_tokens": 100_000, "max_cost_usd": 1.0},
            "verify": [], "gates": [], "touches": {"paths": [], "services": []}, "input_artifacts_from": [],
            "follow_up_of": null, "continuation_of": null, "on_stuck": "consult_planner", "on_failure": "report",
            "escalation": {}, "schedule": null, "failure_context": null,
            "briefing": {"context": "", "what_to_do": "Fix it.", "constraints": "", "if_you_get_stuck": ""},
        })
    );
    let again: Item = serde_json::from_value(serde_json::to_value(&item).unwrap()).unwrap();
    assert_eq!(again, item);
}

#[test]
fn every_field_can_be_given() {
    let given = "\
depends_on: []
needs_approval: false
agent: codex
skills: [rust-testing]
pattern: code_modify
probe: true
interaction_mode: confirm_always
budget: {max_tokens: 1_000, max_cost_usd: 0.5, max_wall_time_seconds: 60, max_attempts: 2, max_planner_calls: 0}
plan_budget: {max_tokens: 10, max_cost_usd: 0}
verify: {command: make test}
gates:
  - {name: small, on: on_tool_call, type: numeric_range, config: {field: tool_args.size, max: 3.5, strict: true, unit: '7'}}
touches: {paths: [src, docs/a.md], services: [staging]}
follow_up_of: 0199f1c2-7d7e-7c1a-9a52-0d6c2f1b8e11
continuation_of: ~
on_stuck: retry
on_failure: escalate_human
escalation: {stuck: escalate_human, failed: report}
";
    let document = format!("---\n{TASK}{given}---\n# What to do\nIt.\n");
    let Plan(item) = parse(&document).unwrap();
    let config = json!({"field": "tool_args.size", "max": 3.5, "strict": true, "unit": "7"});
    assert_eq!(item.gates[0]["config"], config, "numbers are numbers, quoted ones are text");
    assert_eq!((item.budget.max_tokens, item.budget.max_planner_calls), (1_000, 0));
    assert_eq!(item.touches.services, ["staging"]);
    assert_eq!((item.agent.as_str(), item.probe, item.needs_approval), ("codex", true, false));
}

#[test]
fn a_goal_has_a_schedule() {
    let goal = |schedule: &str| {
        let document = format!(
            "---\nid: green\ntype: goal\ntitle: Keep it green\nschedule: {schedule}\nfailure_context: 'Mend $failed_checks'\n---\n# What to do\nKeep it.\n"
        );
        parse(&document).map(|Plan(item)| item.schedule)
    };
    assert_eq!(goal("always_on").unwrap(), Some(Schedule::AlwaysOn));
    assert!(matches!(goal("'0 6 * * 1-5'").unwrap(), Some(Schedule::Cron(cron)) if cron.to_string() == "0 6 * * 1-5"));
    assert!(goal("every day").unwrap_err().to_string().contains("5:11: `schedule` must have five fields"));
}

#[test]
fn every_problem_is_told_at_once_with_its_place() {
    insta::assert_snapshot!(problems("\
id: Fix It
type: job
titel: Fix it
budget: {max_tokens: 0, max_cost_usd: -1, max_attempts: many, tokens: 3}
touches: {paths: [/etc], services: shop}
depends_on: nothing
verify: [{command: 'true'}]
speculative: true
schedule: daily
on_stuck: cry
escalation: {stuck: shout, lost: report}
gates: {name: g}
"), @r#"
    2:5: `id` must be a word of at most 64 small letters, digits, `-` and `_` that begins with a letter or digit, such as `api-tests`
    3:7: `type` must be one of task, project, goal
    4:1: unknown field `titel`; did you mean `title`?
    5:22: `max_tokens` must be at least 1
    5:39: `max_cost_usd` must be an amount from 0 to 1000000
    5:57: `max_attempts` must be a whole number, such as 200000
    5:63: unknown field `tokens`; did you mean `max_tokens`?
    6:19: "/etc": name the path from the workspace, without a leading `/`
    6:36: `services` is a list, not text; write it in brackets
    7:13: `depends_on` is a list, not text; write it in brackets
    8:20: this command always exits with 0, so the check cannot fail; run something that depends on the work
    9:1: `speculative` is about choices; say of which group with `any_of`
    10:11: `schedule` must have five fields (minute, hour, day of the month, month, day of the week), such as `0 6 * * 1-5`, or be `always_on`
    11:11: `on_stuck` must be one of consult_planner, retry, escalate_human
    12:21: `stuck` must be one of report, escalate_human, retry, spawn_task
    12:28: unknown field `lost`; known here: failed, stuck, blocked, verification_failed
    13:8: `gates` is a list, not a mapping; write it in brackets
    "#);
}

/// What would be read, shown and approved, and never done, is refused.
#[test]
fn what_cannot_follow_from_trouble_is_refused() {
    insta::assert_snapshot!(problems("\
id: all
type: project
title: All
on_stuck: retry
tasks:
  - {id: a, type: task, title: A, escalation: {stuck: retry, failed: spawn_task, blocked: retry}}
"), @r"
    5:1: `on_stuck` is for tasks and goals: a project has no attempts of its own
    7:55: `stuck` means that no attempt is left: raise `max_attempts` in `budget`, or write `escalate_human`
    7:70: `spawn_task` cannot be had in this version: no items are added to a plan that is carried out; write `report`, which has the plan written anew, or `escalate_human`
    ");
}

/// Nothing ever looked at these: a project could say that it may cost a dollar, be approved so, and cost ten.
#[test]
fn what_does_nothing_where_it_stands_is_refused() {
    insta::assert_snapshot!(problems("\
id: all
type: project
title: All
budget: {max_cost_usd: 1}
plan_budget: {max_cost_usd: 1}
agent: executor
probe: true
tasks:
  - {id: a, type: task, title: A, agent: executor, probe: true, budget: {max_attempts: 1}}
  - {id: b, type: task, title: B, plan_budget: {max_tokens: 1}}
"), @r"
    5:1: `budget` is for tasks and goals: each item of a project has its own; write it on the items
    7:1: `agent` is for tasks and goals: nobody works on a project itself; write it on the items
    8:1: `probe` is for tasks and goals: nobody works on a project itself; write it on the items
    11:35: `plan_budget` is for the whole plan; write it beside the plan's own `id`, or leave it out
    ");
}

#[test]
fn edges_that_lead_nowhere_or_in_circles() {
    let tasks = |items: &str| problems(&format!("id: all\ntype: project\ntitle: All\ntasks:\n{items}"));
    let item = |id: &str, more: &str| format!("  - {{id: {id}, type: task, title: T{more}}}\n");
    let check = |items: &[(&str, &str)], expected: &str| {
        let items: String = items.iter().map(|(id, more)| item(id, more)).collect();
        let told = tasks(&items);
        assert!(told.contains(expected), "{items}\n{told}\nexpected {expected}");
    };
    check(&[("a", ", depends_on: [b]")], "6:48: there is no item or group `b` in this plan");
    check(&[("a", ", depends_on: [a]")], "`a` cannot wait for itself");
    check(&[("a", ", depends_on: [all]")], "`all` holds this item");
    check(&[("a", ""), ("a", "")], "the id `a` is already used at 6:10");
    check(
        &[("a", ", depends_on: [b]"), ("b", ", depends_on: [c]"), ("c", ", depends_on: [a]")],
        "`b` waits for itself",
    );
    check(&[("a", ", any_of: g"), ("b", ", any_of: g, depends_on: [a]")], "is of the same choice as this item");
    check(&[("a", ", any_of: b"), ("b", "")], "`b` is the id of an item; give the group another name");
    check(&[("a", ", any_of: g, speculative: true"), ("b", ", any_of: g")], "must be the same for all choices");
    check(&[("a", ""), ("b", ", input_artifacts_from: [a]")], "`a` need not be done before this item");
    let nested = "  - {id: p, type: project, title: P, any_of: g, tasks: [{id: q, type: task, title: Q, any_of: g}]}\n";
    assert!(tasks(nested).contains("the choices of `g` must stand in one list"));
    let inner = "  - {id: p, type: project, title: P, depends_on: [r], tasks: [{id: q, type: task, title: Q}]}\n  - {id: r, type: task, title: R, depends_on: [q]}\n";
    assert!(tasks(inner).contains("`r` waits for itself"), "{}", tasks(inner));
}

#[test]
fn an_edge_to_a_group_or_to_a_choice_waits_for_the_group() {
    for edge in ["g", "a"] {
        let document = format!(
            "---\nid: all\ntype: project\ntitle: All\ntasks:\n  - {{id: a, type: task, title: A, any_of: g}}\n  - {{id: b, type: task, title: B, any_of: g}}\n  - {{id: c, type: task, title: C, depends_on: [{edge}], input_artifacts_from: [b]}}\n---\n"
        );
        parse(&document).unwrap();
    }
}

#[test]
fn a_body_without_its_headings() {
    let told = |body: &str| match parse(&format!("---\n{TASK}---\n{body}")) {
        Ok(_) => "read".to_owned(),
        Err(problems) => problems.to_string(),
    };
    assert_eq!(told(""), "6:1: nothing says what to do; add a heading `# What to do` and the words below it");
    assert!(told("Do it.\n").contains("6:1: this stands under no heading"));
    assert!(
        told("# What to do\nIt.\n# Constraint\nNone.\n")
            .contains("8:1: unknown heading `# Constraint`; did you mean `# Constraints`?")
    );
    assert!(told("# What to do\nIt.\n# What to do\nMore.\n").contains("8:1: `# What to do` is there twice"));
    assert_eq!(told("# What to do\n````\n```\n# Not a heading\n```\n````\n"), "read");
}

#[test]
fn what_is_no_document() {
    let told = |document: &str| parse(document).unwrap_err().to_string();
    assert!(told("").starts_with("1:1: the fields do not end"));
    assert!(told("# What to do\n").starts_with("1:1: a plan begins with a line `---`"));
    assert!(told("---\nid: a\n").starts_with("1:1: the fields do not end"));
    assert!(told("---\n- a\n---\n").contains("2:1: an item is a mapping"));
    assert!(told("---\nid: [\n---\n").contains("this is not YAML"));
    assert!(told(&"x".repeat(10 << 20)).contains("larger than 1024 KiB"));
    let wide: String = (0..20_000).map(|n| format!("  - {{id: t{n}, type: task, title: T}}\n")).collect();
    let wide = told(&format!("---\nid: all\ntype: project\ntitle: All\ntasks:\n{wide}---\n"));
    assert_eq!(wide, "205:5: a plan has at most 200 items; join some of them", "once, and nothing else");
}

#[test]
fn a_gate_is_held_against_whoever_reads_gates() {
    let document = format!("---\n{TASK}gates: [{{name: a}}, {{name: b}}]\n---\n# What to do\nIt.\n");
    let refuse = |gate: &Value| if gate["name"] == "b" { Err("no such gate".to_owned()) } else { Ok(()) };
    assert_eq!(parse_plan(&document, &refuse).unwrap_err().to_string(), "5:20: no such gate");
}

proptest::proptest! {
    /// Whatever a planner answers, reading it ends, and says something.
    #[test]
    fn any_text_is_read_or_refused(text in "(---\n)?[a-z:\\[\\]{}#\" \n-]{0,200}(---\n)?[#a-zA-Z \n`]{0,100}") {
        if let Err(problems) = parse(&text) {
            proptest::prop_assert!(problems.iter().next().is_some());
        }
    }
}
