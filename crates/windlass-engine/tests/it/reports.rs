//! What workers say of their atoms at last (contracts §7): a report becomes the atom's binding, prose is handed back once and then
//! the checks decide, a log is no report, and whoever says that it did not succeed has failed, unless the checks know better. What
//! verification says is recorded in the same way.

use serde_json::json;
use windlass_domain::execution::ExecutionEvent;
use windlass_domain::graph::{Binding, GraphEvent};
use windlass_domain::role_output::VerifierReport;
use windlass_domain::task::TaskState;
use windlass_domain::{ErrorCode, Secret, TaskId};
use windlass_engine::Engine;
use windlass_policy::Redactor;

use crate::court::{Ask, Court, write};
use crate::objectives::{align, graph, id, start};
use crate::planned::{approve_and_drive, finished, given};

/// One atom, checked as `verify` says, and a base case that only its file fulfils.
fn one(verify: &str) -> String {
    format!(
        "---
objective:
  goal: One file
  base_case: [{{ file: a.txt }}]
  constraints: {{ max_replan_depth: 0, max_split_depth: 0 }}
atoms:
  - {{ id: a, description: Write a, budget: {{ max_attempts: 2, max_planner_calls: 0 }}{verify} }}
---
"
    )
}

const CHECKED: &str = ", verify: [{ file: a.txt }]";
const UNCHECKED: &str = "";

fn report(success: bool, summary: &str, artifacts: &[&str]) -> String {
    json!({"success": success, "bindings_delta": {"summary": summary}, "artifacts": artifacts}).to_string()
}

fn writes(path: &str) -> Vec<Vec<Ask>> {
    vec![vec![write(path, path)]]
}

/// What a worker that writes `path` leads to when it says these words, one each time that it is asked.
fn said(verify: &str, path: &str, words: &[&str]) -> Said {
    let court = Court::new(vec![]);
    let turn = |(number, word): (usize, &&'static str)| {
        let steps = if number == 0 { writes(path) } else { Vec::new() };
        (steps, *word)
    };
    let words: Vec<&'static str> = words.iter().map(|word| &*String::leak((*word).to_owned())).collect();
    court.things.cast_turns("Write a", words.iter().enumerate().map(turn).collect());
    let engine = court.process_with(|parts| parts.redactor = Redactor::new([&Secret::new("hunter2hunter2")]));
    let task = align(&court, &engine, &one(verify));
    start(&court, &engine, task).unwrap();
    court.drive(&engine, task);
    Said { court, engine, task }
}

struct Said {
    court: Court,
    engine: Engine,
    task: TaskId,
}

impl Said {
    /// Who worked on it first.
    fn run(&self) -> TaskId {
        graph(&self.court, &self.engine, self.task).progress(&id("a")).unwrap().runs[0].task
    }

    fn state(&self) -> TaskState {
        self.court.wait(self.engine.task(self.run())).unwrap()
    }

    fn binding(&self) -> Option<Binding> {
        graph(&self.court, &self.engine, self.task).progress(&id("a")).unwrap().binding().cloned()
    }

    /// In the first attempt.
    fn handed_back(&self) -> Vec<String> {
        handed_back(&self.court, &self.engine, self.run())
    }

    /// How its first attempt ended, where that was not well.
    fn error(&self) -> Option<(ErrorCode, String)> {
        let ended = self.state().attempts[0].ended.clone().unwrap();
        ended.error.map(|error| (error.error_code, error.message))
    }
}

fn handed_back(court: &Court, engine: &Engine, run: TaskId) -> Vec<String> {
    let words = |event| match event {
        ExecutionEvent::InjectionReceived(received) if received.injection.is_repair() => {
            Some(received.injection.content)
        }
        _ => None,
    };
    court.execution_events(engine, run).into_iter().filter_map(words).collect()
}

#[test]
fn a_report_is_the_atom_s_binding() {
    let words = json!({
        "success": true,
        "bindings_delta": {"summary": "It is written with hunter2hunter2.", "lines": 1},
        "artifacts": ["a.txt"],
    });
    let said = said(CHECKED, "a.txt", &[&words.to_string()]);
    let binding = said.binding().unwrap();
    assert_eq!(binding.summary, "It is written with [REDACTED].\nlines: 1");
    assert_eq!(binding.files, ["a.txt"]);
    assert_eq!(said.handed_back(), [""; 0]);
    let state = said.state();
    let report = state.attempts[0].ended.as_ref().unwrap().report.clone().unwrap();
    assert!(report.success);
    assert_eq!(state.result.unwrap().final_message.as_deref(), Some(binding.summary.as_str()), "people read words");
}

/// Seed 004 §7.4, the last column.
#[test]
fn what_verification_says_is_recorded_as_such() {
    let said = said(CHECKED, "wrong.txt", &[&report(true, "Written.", &[])]);
    let attempt = said.state().attempts.remove(0);
    let VerifierReport { passed, evidence, failures } = attempt.report.unwrap();
    assert!(!passed);
    assert_eq!((evidence.len(), failures.len()), (1, 1), "{evidence:?} {failures:?}");
    assert!(failures[0].starts_with("the check `a.txt exists` failed: "), "{failures:?}");
    let told = said.state().failures();
    assert!(told[0].contains(&failures[0]), "the next attempt is told: {told:?}");
    let joined = said.court.graph_events(&said.engine, said.task).into_iter().find_map(|event| match event {
        GraphEvent::JoinChecked(checked) => checked.report,
        _ => None,
    });
    assert!(!joined.unwrap().passed);
}

#[test]
fn prose_is_handed_back_once_and_a_report_is_heard_then() {
    let said = said(UNCHECKED, "a.txt", &["I wrote it.", &report(true, "It is written.", &[])]);
    let told = said.handed_back();
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("there is no JSON object") && told[0].contains("\"bindings_delta\""), "{}", told[0]);
    assert_eq!(said.binding().unwrap().summary, "It is written.");
}

#[test]
fn of_prose_the_checks_decide() {
    let prose = format!("I wrote it. {}", "x".repeat(2_000));
    let said = said(CHECKED, "a.txt", &[&prose, &prose]);
    assert_eq!(said.handed_back().len(), 1, "nobody is asked a third time");
    let summary = said.binding().unwrap().summary;
    assert_eq!(summary.chars().count(), 1_000);
    assert!(summary.starts_with("I wrote it. x"));
    assert_eq!(said.state().attempts[0].ended.as_ref().unwrap().report, None);
}

#[test]
fn prose_proves_nothing_where_nothing_is_checked() {
    let said = said(UNCHECKED, "b.txt", &["I wrote it.", "I did."]);
    let (code, message) = said.error().unwrap();
    assert_eq!(code, ErrorCode::AnswerIncomplete);
    assert!(message.contains("no report") && message.ends_with("it said: I did."), "{message}");
    assert_eq!(said.binding(), None);
    assert!(said.state().failures()[0].contains("it said: I did."), "the next attempt is told");
}

#[test]
fn who_says_that_it_did_not_succeed_has_failed_in_its_own_words() {
    let words = report(false, "There is no pen.", &[]);
    let said = said(UNCHECKED, "b.txt", &[&words]);
    let (code, message) = said.error().unwrap();
    assert_eq!(code, ErrorCode::Stuck);
    assert!(message.contains("There is no pen."), "{message}");
    assert_eq!((said.handed_back(), said.binding()), (Vec::new(), None));
    assert!(said.state().failures()[0].contains("There is no pen."), "the next attempt is told");
}

/// Completion is decided by checks, never by a model's word.
#[test]
fn checks_know_better_than_a_worker_that_gave_up() {
    let said = said(CHECKED, "a.txt", &[&report(false, "I am not sure.", &[])]);
    assert_eq!(said.binding().unwrap().summary, "I am not sure.");
    let result = said.court.wait(said.engine.task(said.task)).unwrap().result.unwrap();
    assert!(result.verified);
}

#[test]
fn a_log_and_files_that_are_not_there_are_handed_back() {
    let log = report(true, &"cc -c a.c\n".repeat(200), &[]);
    let first = said(CHECKED, "a.txt", &[&log, &report(true, "It builds.", &[])]);
    assert!(first.handed_back()[0].contains("no log, no output"), "{:?}", first.handed_back());
    assert_eq!(first.binding().unwrap().summary, "It builds.");
    let absent = report(true, "It is there.", &["a.txt", "b.txt"]);
    let second = said(UNCHECKED, "a.txt", &[&absent, &absent]);
    assert!(second.handed_back()[0].contains("not in the workspace: `b.txt`;"), "{:?}", second.handed_back());
    assert_eq!(second.error().unwrap().0, ErrorCode::AnswerIncomplete, "what is not there twice was not made");
}

#[test]
fn whoever_works_on_a_plan_s_item_speaks_freely() {
    let plan = "---\nid: a\ntype: task\ntitle: Write a\n---\n# What to do\nWrite it.\n";
    let court = Court::new(vec![]);
    court.things.cast("Write a", vec![writes("a.txt")], "I wrote it.");
    let engine = court.process();
    let task = given(&court, &engine, plan);
    approve_and_drive(&court, &engine, task);
    let graph = graph(&court, &engine, task);
    let progress = graph.progress(&id("a")).unwrap();
    assert_eq!(progress.summary(), Some("I wrote it."));
    assert_eq!(handed_back(&court, &engine, progress.runs[0].task), [""; 0]);
}

#[test]
fn those_who_come_after_are_told_what_was_bound() {
    let court = Court::new(vec![]);
    court.things.cast("Write a", vec![writes("a.txt")], &report(true, "Ready.", &["a.txt"]));
    court.things.cast("Write b", vec![writes("b.txt")], &report(true, "Also.", &[]));
    let document = "---
objective:
  goal: Two files
  base_case: [{ file: a.txt }, { file: b.txt }]
atoms:
  - { id: a, description: Write a }
  - { id: b, description: Write b, depends_on: [a] }
---
";
    let engine = court.process();
    let task = align(&court, &engine, document);
    start(&court, &engine, task).unwrap();
    finished(court.drive(&engine, task));
    let told = court.things.bindings("Write b");
    assert_eq!(told, ["a: Ready. (see a.txt)"]);
}
