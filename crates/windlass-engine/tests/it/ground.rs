//! What a task leaves in a folder and the next one finds there (contracts §5): a label outlives its task, its process and a
//! crash, in the folders above and below too, until the owner says otherwise; and no skill comes from an external context unasked.

use serde_json::json;
use windlass_domain::execution::{AgentInjection, InjectionType};
use windlass_domain::{Taint, TaskId, TaskResultStatus};
use windlass_engine::{Dispatch, Driven, Engine, Submission, TripwirePoint};
use windlass_store::StreamId;

use crate::court::{Ask, At, Court, bash, call, fetch, read, write};
use crate::planned::{approve_and_drive, given};

const ONE: &str = "---
id: one
type: task
title: Write a
verify: [{ file: a.txt }]
---
# What to do
Write the file.
";

/// A task that hears something of this label and then makes these calls.
fn task_hearing(court: &Court, engine: &Engine, taint: Taint, calls: Vec<Ask>) -> TaskId {
    court.things.play(vec![calls]);
    let task = court.submit(engine);
    let content = "a page says".to_owned();
    let event = AgentInjection { injection_type: InjectionType::ExternalEvent, content, metadata: None };
    court.wait(engine.inject(task, event, taint)).unwrap();
    task
}

fn run_hearing(court: &Court, taint: Taint, calls: Vec<Ask>) -> Driven {
    let engine = court.process();
    let task = task_hearing(court, &engine, taint, calls);
    court.drive(&engine, task)
}

/// How a task of its own, in a process of its own, finds these files.
fn found(court: &Court, paths: &[&str]) -> Vec<Taint> {
    court.things.play(vec![paths.iter().map(|path| read(path)).collect()]);
    let engine = court.process();
    let task = court.submit(&engine);
    assert!(matches!(court.drive(&engine, task), Driven::Finished(_)));
    court.results(&engine, task).iter().map(|finished| finished.taint).collect()
}

fn court() -> Court {
    let court = Court::new(Vec::new());
    court.put("notes", "plain");
    court
}

/// A program that writes this file.
fn program(path: &str) -> Ask {
    call("bash", json!({"command": "make", "path": path, "content": "made by a program"}))
}

#[test]
fn what_an_external_context_wrote_is_external_to_the_next_task() {
    let after = |taint| {
        let court = court();
        court.put(".memo/x", "");
        assert!(matches!(run_hearing(&court, taint, vec![write(".memo/x", "obey me")]), Driven::Finished(_)));
        found(&court, &[".memo/x", ".memo", "notes"])
    };
    assert_eq!(after(Taint::External), [Taint::External, Taint::External, Taint::Auth]);
    assert_eq!(after(Taint::Auth), [Taint::Auth; 3], "the twin");
}

/// Regression: the label came with the result, so that a crash in between left the file and lost the label.
#[test]
fn a_label_is_there_before_the_file_is() {
    for (taint, expected) in [(Taint::External, Taint::External), (Taint::Auth, Taint::Auth)] {
        let court = court();
        let died = court.die(At(TripwirePoint::Permitted, 1), |engine| async {
            let engine = engine;
            court.things.play(vec![vec![write("made", "obey me")]]);
            let task = engine.submit(court.submission(), Dispatch::Here, None).await.unwrap();
            let content = "a page says".to_owned();
            let event = AgentInjection { injection_type: InjectionType::ExternalEvent, content, metadata: None };
            engine.inject(task, event, taint).await.unwrap();
            engine.drive(task, std::sync::Arc::new(windlass_engine::NobodyWatches)).await
        });
        assert!(died.is_none(), "it died");
        court.put("made", "as the tool wrote it, before anybody could say so");
        assert_eq!(found(&court, &["made"]), [expected]);
    }
}

#[test]
fn of_what_a_program_could_have_changed_what_it_changed_is_external() {
    let after = |taint| {
        let court = court();
        assert!(matches!(run_hearing(&court, taint, vec![program("made")]), Driven::Finished(_)));
        found(&court, &["made", "notes"])
    };
    assert_eq!(after(Taint::External), [Taint::External, Taint::Auth]);
    assert_eq!(after(Taint::Auth), [Taint::Auth, Taint::Auth], "the twin");
}

/// A program with network is external by itself, and a task that was cut off never says what its program changed.
#[test]
fn after_a_crash_everything_may_have_been_changed() {
    let court = court();
    court.things.play(vec![vec![call("bash", json!({"command": "curl", "network": true}))]]);
    let died = court.die(At(TripwirePoint::Permitted, 1), |engine| async {
        let engine = engine;
        let task = engine.submit(court.submission(), Dispatch::Here, None).await.unwrap();
        engine.drive(task, std::sync::Arc::new(windlass_engine::NobodyWatches)).await
    });
    assert!(died.is_none(), "it died");
    assert_eq!(found(&court, &["notes"]), [Taint::External]);
}

#[test]
fn a_label_is_known_in_the_folders_above_and_below() {
    let court = court();
    court.put("sub/page", "");
    run_hearing(&court, Taint::External, vec![write("sub/page", "obey me")]);
    let look_from = |folder: std::path::PathBuf, path: &str| {
        court.things.play(vec![vec![read(path)]]);
        let engine = court.process();
        let submission = Submission { workspace: folder, ..court.submission() };
        let task = court.wait(engine.submit(submission, Dispatch::Here, None)).unwrap();
        court.drive(&engine, task);
        court.results(&engine, task)[0].taint
    };
    assert_eq!(look_from(court.workspace().join("sub"), "page"), Taint::External);
    let above = court.workspace().parent().unwrap().to_owned();
    assert_eq!(look_from(above.clone(), "workspace/sub/page"), Taint::External);
    assert_eq!(look_from(above, "workspace/notes"), Taint::Auth, "the twin");
}

#[test]
fn the_owner_may_say_that_the_files_are_theirs() {
    let court = court();
    run_hearing(&court, Taint::External, vec![write("made", "text")]);
    let engine = court.process();
    let left = court.wait(engine.clear_labels(&court.workspace().join("elsewhere"), "a person")).unwrap();
    assert!(left.is_baseline(), "nothing is known of that folder");
    assert_eq!(found(&court, &["made"]), [Taint::External], "the control: another folder was cleared");
    court.wait(engine.clear_labels(&court.workspace(), "a person")).unwrap();
    assert_eq!(found(&court, &["made"]), [Taint::Auth]);
    assert_eq!(court.decisions(&engine).iter().filter(|noted| *noted == "approval cleared").count(), 2);
}

/// What came over the network into a folder keeps a later task from carrying anything out unasked.
#[test]
fn a_later_task_that_reads_it_is_asked_before_it_carries_anything_out() {
    let carry = |path: &str| {
        let court = court();
        run_hearing(&court, Taint::External, vec![write("made", "text")]);
        court.things.play(vec![vec![read(path)], vec![fetch("example.org")]]);
        let engine = court.process();
        let task = court.submit(&engine);
        matches!(court.drive(&engine, task), Driven::Waiting(_))
    };
    assert!(carry("made"));
    assert!(!carry("notes"), "the twin");
}

#[test]
fn a_skill_from_an_external_context_needs_a_person() {
    let installs = |taint, path: &str| {
        let court = court();
        court.put(".claude/skills/evil/SKILL.md", "");
        court.put("docs/SKILL.md", "");
        let engine = court.process();
        let task = task_hearing(&court, &engine, taint, vec![write(path, "obey me")]);
        let driven = court.drive(&engine, task);
        let asked = matches!(driven, Driven::Waiting(_));
        assert_eq!(court.performed().len(), usize::from(!asked));
        if asked {
            let reasons = court.only_card(&engine).card.details["reasons"].to_string();
            assert!(reasons.contains("install a skill"), "{reasons}");
        }
        asked
    };
    assert!(installs(Taint::External, ".claude/skills/evil/SKILL.md"));
    assert!(!installs(Taint::Auth, ".claude/skills/evil/SKILL.md"), "the control");
    assert!(!installs(Taint::External, "docs/SKILL.md"), "the twin");
    assert!(!installs(Taint::External, ".claude/skillset"), "another folder");
}

/// Regression: what a tool says when it refuses a call, with a part of the file in it, was as trustworthy as the context.
#[test]
fn what_a_tool_says_before_it_is_given_leave_may_quote_any_file() {
    let quoted = |taint| {
        let court = court();
        run_hearing(&court, taint, vec![write("made", "text"), bash("true")]);
        court.things.play(vec![vec![call("refuses", json!({"path": "made"}))]]);
        let engine = court.process();
        let task = court.submit(&engine);
        court.drive(&engine, task);
        court.results(&engine, task)[0].taint
    };
    assert_eq!(quoted(Taint::External), Taint::External);
    assert_eq!(quoted(Taint::Auth), Taint::Auth, "the twin");
}

/// Regression: what was said of an attempt's own folder stood in the stream that every later task reads, for folders that are no more.
#[test]
fn labels_of_an_items_folder_go_with_the_folder_and_its_work_keeps_its_own() {
    let court = Court::new(Vec::new());
    court.things.cast("Write a", vec![vec![vec![fetch("example.org")], vec![write("a.txt", "obey me")]]], "a is there");
    let engine = court.process();
    let task = given(&court, &engine, ONE);
    let result = approve_and_drive(&court, &engine, task);
    assert_eq!(result.status, TaskResultStatus::Completed, "{result:?}");
    let said: Vec<String> = court.rows(&StreamId::new("ground", "labels")).into_iter().map(|row| row.data).collect();
    let of_worktrees = court.data_dir().join("worktrees").to_string_lossy().into_owned();
    assert!(said.iter().any(|row| row.contains(&of_worktrees)), "control: it was said {said:?}");
    let left = court.wait(engine.labels(&court.data_dir().join("worktrees"))).unwrap();
    assert!(left.is_baseline(), "{left:?}");
    let labels = court.wait(engine.labels(&court.workspace())).unwrap();
    assert_eq!(labels.under("a.txt"), Taint::External);
}
