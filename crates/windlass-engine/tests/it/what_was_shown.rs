//! What runs is what was shown. Between the answer and the run something is changed; then nothing runs, and the audit says
//! why. With nothing changed the same call runs, which is the control of every case.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::json;
use windlass_domain::execution::{CallDecision, DecisionOutcome, ExecutionEvent};
use windlass_domain::{CallId, Digest, Prepared, Program, Tenant};
use windlass_store::queue::AuditType;
use windlass_store::{Store as _, StreamId};

use crate::court::{Ask, Court, bash, call};

/// A call is shown and approved, `change` happens, and the task goes on: whether the call was performed.
fn approved_and_then(court: &Court, change: impl FnOnce(&Court)) -> bool {
    let engine = court.process();
    let (task, asked) = court.park(&engine);
    court.approve(&engine, asked.card.card_id);
    drop(engine);
    change(court);
    let engine = court.process();
    court.drive(&engine, task);
    let performed = !court.performed().is_empty();
    let stations = court.stations(asked.card.card_id);
    match performed {
        true => assert_eq!(stations.last().unwrap(), "executed"),
        false => {
            assert_eq!(stations, ["requested", "decided", "issued", "verify_failed"]);
            let noted = court.audit(&engine);
            let why = "the call is not the one that was approved";
            assert!(noted.iter().any(|noted| noted.kind == AuditType::Verify && noted.reason == why), "{noted:?}");
            assert!(noted.iter().any(|noted| noted.kind == AuditType::GateBlock && noted.decision == "block"));
            let told = &court.results(&engine, task)[0].content;
            assert!(told.starts_with("not done: the approval does not hold"), "{told}");
        }
    }
    performed
}

/// The case, and its control.
fn check(what: &str, ask: &Ask, change: impl FnOnce(&Court)) {
    let court = || {
        let court = Court::new(vec![vec![ask.clone()]]);
        court.put("run.sh", "echo harmless");
        court.put("sub/run.sh", "echo harmless");
        court.put("skill.md", "old");
        court
    };
    assert!(approved_and_then(&court(), |_| ()), "{what}: unchanged it runs");
    assert!(!approved_and_then(&court(), change), "{what}: changed it does not");
}

fn program(change: impl Fn(&mut Program) + Send + Sync + 'static) -> impl Fn(&mut Prepared) + Send + Sync {
    move |prepared| change(prepared.program.as_mut().unwrap())
}

#[test]
fn other_arguments_or_another_folder_are_not_what_was_shown() {
    let ask = bash("rm notes");
    check("argv", &ask, |court| court.things.change_claims(program(|program| program.argv.push("-v".to_owned()))));
    check("a byte of argv", &ask, |court| {
        court.things.change_claims(program(|program| program.argv[2] = "rm notez".to_owned()));
    });
    check("cwd", &ask, |court| court.things.change_claims(program(|program| program.cwd = "sub".to_owned())));
    let redefined = |prepared: &mut Prepared| prepared.definition = Some(Digest::of(b"other words"));
    check("another definition of the tool", &ask, |court| court.things.change_claims(redefined));
    let unnamed = |prepared: &mut Prepared| prepared.program = None;
    check("no program at all", &ask, |court| court.things.change_claims(unnamed));
}

/// The journal's own arguments, changed where they are kept.
#[test]
fn arguments_that_were_changed_in_the_journal_are_not_what_was_shown() {
    check("the journal", &call("python_exec", json!({"code": "print(1)"})), |court| {
        let streams = court.wait(court.store.streams(&Tenant::local(), "execution", None, 1)).unwrap();
        let stream = StreamId::new("execution", streams[0].stream.id());
        let rows = court.rows(&stream);
        let asked = rows.iter().rfind(|row| row.kind == "decision.recorded").unwrap();
        let arguments = serde_json::value::to_raw_value(&json!({"code": "print(2)"})).unwrap();
        let outcome = DecisionOutcome::Rewritten { gates: Vec::new(), arguments };
        let call_id = CallId("0.0".to_owned());
        court.forge(&stream, ExecutionEvent::DecisionRecorded(CallDecision { call_id, outcome }).encode());
        court.forge(&stream, decode(asked).encode());
    });
}

fn decode(row: &windlass_store::StoredEvent) -> ExecutionEvent {
    ExecutionEvent::decode(&row.kind, row.version, &row.data).unwrap()
}

#[test]
fn another_sandbox_is_not_what_was_shown() {
    let ask = bash("rm notes");
    check("environment", &ask, |court| {
        court.things.change_policy(|policy| {
            policy.env.insert(OsString::from("BASH_ENV"), OsString::from("/workspace/evil"));
        });
    });
    check("a mount", &ask, |court| {
        let mount = (PathBuf::from("/etc"), PathBuf::from("/etc"));
        court.things.change_policy(move |policy| policy.readonly_mounts.push(mount.clone()));
    });
    check("what is guarded", &ask, |court| court.things.change_policy(|policy| policy.guarded.clear()));
    check("a limit", &ask, |court| court.things.change_policy(|policy| policy.limits.processes += 1));
}

#[test]
fn a_script_that_was_swapped_is_not_what_was_shown() {
    let swap = |court: &Court| court.put("run.sh", "echo evil");
    check("by its name", &bash("rm notes; sh run.sh"), swap);
    check("by its path inside", &bash("rm notes; sh /workspace/run.sh"), swap);
    check("as the program", &bash("rm notes; ./run.sh"), swap);
    check("behind a wrapper", &bash("rm notes; env -i sh run.sh"), swap);
    let swap_below = |court: &Court| court.put("sub/run.sh", "echo evil");
    check("below", &bash("rm notes; sh sub/run.sh"), swap_below);
    check("from its own folder", &call("bash", json!({"command": "rm notes; sh run.sh", "cwd": "sub"})), swap_below);
    check("removed", &bash("rm notes; sh run.sh"), |court| {
        std::fs::remove_file(court.workspace().join("run.sh")).unwrap();
    });
    check("new", &bash("rm notes; sh new.sh"), |court| court.put("new.sh", "echo evil"));
}

/// However many words stand before it.
#[test]
fn a_script_behind_many_words_is_bound_like_any_other() {
    let words: Vec<String> = (0..400).map(|n| format!("w{n}")).collect();
    let ask = bash(&format!("rm notes; echo {}; sh run.sh", words.join(" ")));
    check("the last of many", &ask, |court| court.put("run.sh", "echo evil"));
}

#[test]
fn a_script_in_a_folder_that_the_command_enters_is_bound_like_any_other() {
    let swap = |court: &Court| court.put("sub/run.sh", "echo evil");
    check("entered", &bash("rm notes; cd sub && sh run.sh"), swap);
}

#[test]
fn a_script_that_is_read_from_a_redirection_is_bound_like_any_other() {
    check("redirected", &bash("rm notes; sh < run.sh"), |court| court.put("run.sh", "echo evil"));
}

#[test]
fn a_file_that_would_be_overwritten_is_the_one_that_was_shown() {
    let ask = call("create_skill", json!({"path": "skill.md", "content": "new"}));
    check("the file", &ask, |court| court.put("skill.md", "somebody's own"));
    check("gone", &ask, |court| std::fs::remove_file(court.workspace().join("skill.md")).unwrap());
}

/// A card is for one execution: the next attempt asks anew, though it wants the very same.
#[test]
fn another_execution_asks_for_itself() {
    let court = Court::new(vec![vec![bash("rm notes")]]);
    let engine = court.process();
    let task = court.submit_checked(&engine, "- file: never");
    court.drive(&engine, task);
    let first = court.only_card(&engine).card;
    court.approve(&engine, first.card_id);
    assert!(matches!(court.drive(&engine, task), windlass_engine::Driven::Waiting(_)), "the second attempt waits");
    let second = court.only_card(&engine).card;
    assert_ne!(first.binds.binding_hash, second.binds.binding_hash);
    assert_eq!(court.performed().len(), 1);
}

/// More than can be looked at is not asked about: what nobody looked at would not be bound. Fewer of the same is asked.
#[test]
fn a_command_that_names_too_many_places_is_refused_and_says_what_to_do() {
    let told = |folders: usize| {
        let names: Vec<String> = (0..folders).map(|n| format!("d{n}")).collect();
        let court = Court::new(vec![vec![bash(&format!("rmdir {}", names.join(" ")))]]);
        names.iter().for_each(|name| court.put(&format!("{name}/file"), ""));
        let engine = court.process();
        let task = court.submit(&engine);
        court.drive(&engine, task);
        assert_eq!(court.performed(), Vec::<String>::new());
        let results = court.results(&engine, task);
        (court.wait(engine.cards()).unwrap().len(), results.first().map(|result| result.content.clone()))
    };
    let (cards, refused) = told(200);
    assert_eq!(cards, 0);
    assert!(refused.as_ref().is_some_and(|told| told.contains("name fewer at a time")), "{refused:?}");
    assert_eq!(told(20), (1, None), "the twin");
}
