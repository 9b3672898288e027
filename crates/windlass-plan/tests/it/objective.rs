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

/// The messages of the problems that `document` has, with their places.
fn refused(document: &str) -> String {
    parse_objective(document).expect_err("it contradicts itself").to_string()
}

#[test]
fn a_choice_that_failed_is_not_tried_again_wherever_that_is_said() {
    let failed = |document: &str| -> Vec<String> {
        read(document).failed.iter().map(|(group, choice)| format!("{group}: {choice}")).collect()
    };
    let said = BY_OTHERS.replace("With tokens, status: pending", "With tokens, status: failed");
    assert_eq!(failed(&said), ["auth_method: jwt"]);
    assert_eq!(failed(&said.replace("failed: []", "failed: [jwt]")), ["auth_method: jwt"], "said twice");
    let (without_groups, rest) = said.split_once("or_groups:").unwrap();
    let (_, rest) = rest.split_once("bindings:").unwrap();
    assert_eq!(failed(&format!("{without_groups}bindings:{rest}")), ["auth_method: jwt"], "only atoms name the group");
    assert_eq!(failed(BY_OTHERS), [""; 0]);
    let both = refused(&said.replace("selected: null", "selected: jwt"));
    assert_eq!(both, "20:10: `jwt` has failed, and is selected in `auth_method`");
}

#[test]
fn what_failed_and_is_no_choice_is_tried_again_and_that_is_said() {
    let said = BY_OTHERS.replace("The page, status: pending", "The page, status: failed");
    let file = read(&said);
    let told: Vec<&str> = file.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert!(told.contains(&"`page` failed before, and is tried again"), "{told:?}");
    let at = file.warnings.iter().find(|warning| warning.message.starts_with("`page`")).unwrap().at;
    assert_eq!(at.line, 22);
}

#[test]
fn what_was_dropped_is_left_out_with_its_parts() {
    let parted = "---
objective: {goal: g, base_case: {command: make}}
atoms:
  - {id: a, description: A}
  - {id: b, description: B, status: dropped}
  - {id: b1, description: B1, status: resolved}
  - {id: c, description: C, depends_on: [a]}
  - {id: x, description: X, or_group: way}
  - {id: y, description: Y, or_group: way, status: dropped}
  - {id: z, description: Z, or_group: way}
  - {id: z1, description: Z1}
decompositions:
  - {parent: b, children: [b1]}
  - {parent: z, children: [z1]}
or_groups:
  way: {choices: [x, y, z]}
---
";
    let file = read(parted);
    assert_eq!(outline(&file.plan.0), "objective(a c<a x|way z|way(z1))");
    assert_eq!(file.resolved, []);
    let told: Vec<String> = file.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "5:10: `b` was dropped, as the file says, and is left out",
            "9:10: `y` was dropped, as the file says, and is left out"
        ]
    );
    let waits = refused(&parted.replace("depends_on: [a]", "depends_on: [a, b]"));
    assert_eq!(waits, "7:45: `c` waits for `b`, which was dropped; take that out, or say `pending`");
    let alone = refused(&parted.replace("id: x, description: X,", "id: x, description: X, status: dropped,"));
    assert!(alone.contains("16:19: `way` leaves no choice once what was dropped is gone"), "{alone}");
    let selected = refused(&parted.replace("choices: [x, y, z]", "choices: [x, y, z], selected: y"));
    assert!(selected.contains("`y` was dropped, and is selected in `way`"), "{selected}");
}

/// As Windlass itself writes it: with a way that failed go its parts.
#[test]
fn what_stands_inside_of_a_way_that_failed_goes_with_it() {
    let document = "---
objective: {goal: g, base_case: {command: make}}
atoms:
  - {id: x, description: X, or_group: way, status: failed}
  - {id: x1, description: X1, status: dropped}
  - {id: x2, description: X2, status: failed, depends_on: [x1]}
  - {id: y, description: Y, or_group: way}
decompositions: [{parent: x, children: [x1, x2]}]
or_groups:
  way: {choices: [x, y], selected: y, failed: [x]}
---
";
    let file = read(document);
    assert_eq!(outline(&file.plan.0), "objective(x|way(x1 x2<x1) y|way)");
    assert_eq!(file.warnings, []);
}

#[test]
fn a_status_that_there_is_not_is_refused_in_its_place() {
    for (written, told) in [("done", "done"), ("Resolved", "Resolved"), ("[resolved]", "a list")] {
        let said = BY_OTHERS.replace("status: resolved", &format!("status: {written}"));
        let expected = format!("`status` is one of pending, in_progress, resolved, failed, dropped, not `{told}`");
        assert_eq!(refused(&said), format!("13:57: {expected}"));
    }
    read(&BY_OTHERS.replace("status: resolved", "status:"));
}

#[test]
fn what_is_nested_without_end_is_refused() {
    let document = |depth: usize| {
        let atoms: String = (0..depth).map(|number| format!("  - {{id: a{number}, description: A}}\n")).collect();
        let part = |number: usize| format!("  - {{parent: a{}, children: [a{number}]}}\n", number - 1);
        let parts: String = (1..depth).rev().map(part).collect();
        format!(
            "---\nobjective: {{goal: g, base_case: {{command: make}}}}\natoms:\n{atoms}decompositions:\n{parts}---\n"
        )
    };
    read(&document(64));
    assert!(refused(&document(65)).contains("`a64` stands more than 64 deep"));
    assert!(refused(&document(20_000)).contains("more than 64 deep"));
}

/// Whoever compares every atom with every other does not come back from this.
#[test]
fn a_file_of_many_atoms_is_read() {
    const MANY: usize = 30_000;
    let atom = |number: usize| match number % 10 {
        0 => format!("  - {{id: a{number}, description: A{}}}\n", wait(number, 10)),
        1 | 2 => format!("  - {{id: a{number}, description: A, or_group: g{}}}\n", number / 10),
        _ => format!("  - {{id: a{number}, description: A{}}}\n", wait(number, 1)),
    };
    fn wait(number: usize, back: usize) -> String {
        if number < back || number % 10 == 3 { String::new() } else { format!(", depends_on: [a{}]", number - back) }
    }
    let atoms: String = (0..MANY).map(atom).collect();
    let parent = |number: usize| {
        let children: Vec<String> = (1..10).map(|part| format!("a{}", number + part)).collect();
        format!("  - {{parent: a{number}, children: [{}]}}\n", children.join(", "))
    };
    let parts: String = (0..MANY).step_by(10).map(parent).collect();
    let document = format!(
        "---\nobjective: {{goal: g, base_case: {{command: make}}, constraints: {{max_atoms: {MANY}}}}}\natoms:\n{atoms}decompositions:\n{parts}---\n"
    );
    let Plan(root) = read(&document).plan;
    assert_eq!((root.tasks.len(), root.all().len()), (MANY / 10, MANY + 1));
    let circle = document.replacen(
        "{id: a0, description: A}",
        &format!("{{id: a0, description: A, depends_on: [a{}]}}", MANY - 10),
        1,
    );
    let told = refused(&circle);
    assert_eq!(
        told.lines().filter(|line| line.ends_with("waits for itself, by way of what it depends on")).count(),
        MANY,
        "all wait in one circle"
    );
}
