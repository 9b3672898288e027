//! Objective files: one that somebody else wrote is read, and whatever contradicts itself is told.

use windlass_domain::plan::{Item, Plan};
use windlass_plan::{ObjectiveFile, parse_objective};

/// As a program that knows only the contract of seed 004 would write it.
const BY_OTHERS: &str = r#"---
objective:
  goal: Users can log in
  base_case:
    type: command
    value: make test
  background_intent: The pilot starts on Monday.
  deliverables: [a login page, "tests for it"]
  definition_of_done: All tests pass.
  constraints: {max_iterations: 12, max_parallel_agents: 2}
control: {status: pending, iteration: 0, stall_count: 0, stop_requested: false, redirect_requested: false}
atoms:
  - {id: schema, description: A table of users, status: resolved, depends_on: []}
  - id: auth
    description: |
      Logging in
      With whatever is chosen.
    status: pending
    depends_on: [schema]
  - {id: jwt, description: With tokens, status: pending, or_group: auth_method, verify: [{command: make test-jwt}]}
  - {id: session, description: With sessions, status: pending, or_group: auth_method}
  - {id: page, description: The page, status: pending, depends_on: [auth_method], color: blue}
decompositions:
  - {parent: auth, children: [jwt, session], reason: two ways}
or_groups:
  auth_method: {choices: [jwt, session], selected: null, failed: []}
bindings:
  schema: {summary: "users(id, name, hash)", artifacts: []}
trail: []
corrections: []
---
As agreed on Friday.
"#;

fn read(document: &str) -> ObjectiveFile {
    parse_objective(document).unwrap_or_else(|problems| panic!("{problems}"))
}

fn outline(item: &Item) -> String {
    let parts: Vec<String> = item.tasks.iter().map(outline).collect();
    let group = item.any_of.as_ref().map(|group| format!("|{group}")).unwrap_or_default();
    let after = item.depends_on.iter().map(|id| format!("<{id}")).collect::<String>();
    let parts = if parts.is_empty() { String::new() } else { format!("({})", parts.join(" ")) };
    format!("{}{group}{after}{parts}", item.id)
}

#[test]
fn a_file_that_others_wrote_is_read() {
    let file = read(BY_OTHERS);
    let Plan(root) = &file.plan;
    assert_eq!(outline(root), "objective(schema auth<schema(jwt|auth_method session|auth_method) page<auth_method)");
    assert_eq!(file.objective.goal, "Users can log in");
    assert_eq!(file.objective.deliverables, "- a login page\n- tests for it");
    assert_eq!(file.objective.constraints.max_iterations, Some(12));
    assert_eq!((file.objective.constraints.max_parallel_agents, file.objective.constraints.max_stall_count), (2, 3));
    assert_eq!(root.verify, file.objective.base_case);
    assert_eq!(file.objective.words, "As agreed on Friday.");
    let [(done, binding)] = file.resolved.as_slice() else { panic!("{:?}", file.resolved) };
    assert_eq!((done.as_str(), binding.summary.as_str()), ("schema", "users(id, name, hash)"));
    let auth = &root.tasks[1];
    assert_eq!(
        (auth.title.as_str(), auth.briefing.what_to_do.as_str()),
        ("Logging in", "Logging in\nWith whatever is chosen.")
    );
    assert!(root.briefing.context.contains("Why: The pilot starts on Monday."));
}

#[test]
fn what_is_unknown_or_not_taken_over_is_a_warning() {
    let told: Vec<String> = read(BY_OTHERS).warnings.iter().map(|warning| warning.message.clone()).collect();
    assert_eq!(
        told,
        [
            "`control` is of an earlier run, and is not taken over",
            "`color` means nothing here, and is left as it is",
            "`schema` is taken as done, as the file says; nobody has checked it",
        ]
    );
}

#[test]
fn contradictions_are_told_with_their_place() {
    let check = |from: &str, to: &str, expected: &str| {
        assert!(BY_OTHERS.contains(from), "{from}");
        let problems = parse_objective(&BY_OTHERS.replace(from, to)).expect_err(to).to_string();
        assert!(problems.contains(expected), "{to}: {problems}");
    };
    check("    value: make test\n", "    value: 'true'\n", "the check cannot fail");
    check("  base_case:\n    type: command\n    value: make test\n", "", "a machine must be able to tell");
    check("  goal: Users can log in\n", "", "`goal` is missing");
    check("choices: [jwt, session]", "choices: [jwt]", "leaves no choice");
    check("choices: [jwt, session]", "choices: [jwt, session, magic]", "there is no atom `magic`");
    check("selected: null, failed: []", "selected: jwt, failed: [jwt]", "is selected in `auth_method`, and has failed");
    check("selected: null", "selected: page", "is none of the choices");
    check("depends_on: [schema]", "depends_on: [page]", "waits for itself");
    check("depends_on: [auth_method]", "depends_on: [nobody]", "there is no item or group `nobody`");
    check("children: [jwt, session]", "children: [jwt, nobody]", "there is no atom `nobody`");
    check("id: schema", "id: page", "already used");
    check("max_iterations: 12", "max_iterations: 0", "at least 1");
    check("atoms:\n", "atomes:\n", "`atoms` is missing");
}

#[test]
fn nothing_is_no_objective_and_nobody_panics() {
    for text in ["", "---\n---\n", "---\n[]\n---\n", "---\nobjective: 1\n---\n", "---\natoms: {}\n---\n", "words"] {
        assert!(parse_objective(text).is_err(), "{text:?}");
    }
    for end in 0..BY_OTHERS.len() {
        let _read_or_not = BY_OTHERS.get(..end).map(parse_objective);
    }
}
