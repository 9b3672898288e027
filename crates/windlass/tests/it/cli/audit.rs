//! `windlass audit`: what is shown, and that every change of the database or of the signed heads is found. The attacker has a
//! hand on every file but the owner's key; the control is the same data directory untouched.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::Connection;
use serde_json::{Map, Value, json};
use windlass_domain::{Runtime, Taint, Tenant, TraceId};
use windlass_runtime::{Threads, TokioRuntime, executor};
use windlass_store::queue::{Actor, AuditType, RuntimeAuditEvent};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{Commit, Store as _};

use super::assert_shown;
use super::scripts::HELLO;
use crate::support::{Ended, Home};

/// Two runs, each sealed at its end.
fn worked() -> Home {
    let home = Home::playing(HELLO);
    home.run(&[]).run().expect(0);
    home.run(&[]).run().expect(0);
    home
}

fn heads(home: &Home) -> PathBuf {
    home.data().join("heads/local.jsonl")
}

fn database(home: &Home) -> PathBuf {
    home.data().join("windlass.db")
}

fn verified(home: &Home) -> Ended {
    home.windlass(&["audit", "verify"]).run()
}

/// What was found, which must be something.
fn found(home: &Home) -> String {
    let ended = verified(home).expect(1);
    assert_eq!((ended.stdout.matches('✘').count(), ended.stderr.as_str()), (1, ""), "{ended:?}");
    let json = home.windlass(&["audit", "verify", "--json"]).run().expect(1).result();
    assert_eq!(json["intact"], false);
    ended.stdout
}

fn tamper(home: &Home, sql: &str) {
    let raw = Connection::open(database(home)).expect("it opens");
    raw.execute_batch(
        "PRAGMA ignore_check_constraints = on; PRAGMA foreign_keys = off;
         DROP TRIGGER IF EXISTS events_are_never_changed; DROP TRIGGER IF EXISTS events_are_never_deleted;",
    )
    .expect("whoever holds the file can do anything");
    raw.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

fn count(home: &Home) -> i64 {
    let raw = Connection::open(database(home)).expect("it opens");
    raw.query_row("SELECT count(*) FROM events", [], |row| row.get(0)).expect("a number")
}

#[test]
fn what_nobody_touched_is_intact() {
    let home = worked();
    tamper(&home, "");
    let events = count(&home);
    assert_eq!(verified(&home).expect(0).stdout, format!("✔ intact: {events} events, 2 signed heads\n"));
    let json = home.windlass(&["audit", "verify", "--json"]).run().expect(0).result();
    assert_eq!(json["intact"], true);
    assert_eq!((&json["events"], &json["heads"], &json["unsealed"]), (&json!(events), &json!(2), &json!(0)));
}

#[test]
fn nothing_at_all_is_intact_too() {
    let home = Home::new();
    assert_eq!(verified(&home).expect(0).stdout, "✔ intact: 0 events, 0 signed heads\n");
}

#[test]
fn looking_and_a_rotation_of_keys_change_nothing() {
    let home = worked();
    home.windlass(&["keys", "rotate"]).run().expect(0);
    home.windlass(&["log"]).run().expect(0);
    verified(&home).expect(0);
    home.run(&[]).run().expect(0);
    assert!(verified(&home).expect(0).stdout.contains("3 signed heads"), "signed by both keys");
}

#[test]
fn an_edit_of_any_row_is_found() {
    for row in ["min(position)", "max(position)", "count(*) / 2"] {
        let home = worked();
        tamper(&home, &format!("UPDATE events SET at = at + 1 WHERE position = (SELECT {row} FROM events)"));
        assert!(found(&home).contains("was changed, put in or taken out"), "{row}");
    }
}

#[test]
fn a_row_that_is_taken_out_is_found() {
    let home = worked();
    tamper(&home, "DELETE FROM events WHERE position = 3");
    found(&home);
}

#[test]
fn rows_removed_from_the_end_are_found() {
    for kept in [0, 1, 5] {
        let home = worked();
        tamper(&home, &format!("DELETE FROM events WHERE position > {kept}"));
        assert!(found(&home).contains("the end is missing"), "{kept}");
    }
    let home = worked();
    tamper(&home, "DELETE FROM events WHERE position = (SELECT max(position) FROM events)");
    assert!(found(&home).contains("the end is missing"), "one row");
    // The control: without heads, and the record that there were any, nobody would miss it.
    let control = worked();
    let first_run = "(SELECT min(position) FROM events WHERE kind = 'audit.sealed')";
    tamper(&control, &format!("DELETE FROM events WHERE position >= {first_run}"));
    fs::remove_file(heads(&control)).expect("removed");
    verified(&control).expect(0);
}

#[test]
fn a_database_that_is_replaced_by_an_older_copy_or_an_empty_one_is_found() {
    let home = Home::playing(HELLO);
    home.run(&[]).run().expect(0);
    tamper(&home, "PRAGMA wal_checkpoint(TRUNCATE)");
    let older = fs::read(database(&home)).expect("a database");
    home.run(&[]).run().expect(0);
    for replacement in [Some(older), None] {
        for name in ["windlass.db", "windlass.db-wal", "windlass.db-shm"] {
            let _may_be_absent = fs::remove_file(home.data().join(name));
        }
        if let Some(older) = &replacement {
            fs::write(database(&home), older).expect("written");
        }
        assert!(found(&home).contains("the end is missing"));
        // Nobody works on it: it has forgotten which approvals were used.
        for command in [home.run(&[]), home.windlass(&["resume"]), home.windlass(&["worker", "--until-idle"])] {
            let refused = command.run().expect(2).stderr;
            assert!(refused.contains("is not the one that was signed last"), "{refused}");
            assert!(refused.contains("audit verify") && refused.contains("local.jsonl away"), "{refused}");
        }
    }
    // The control: without the heads nobody could tell, and whoever put the copy there can go on.
    fs::remove_file(heads(&home)).expect("removed");
    home.run(&[]).run().expect(0);
}

#[test]
fn any_change_of_the_signed_heads_is_found() {
    let home = worked();
    let good = fs::read(heads(&home)).expect("heads");
    let lines: Vec<&[u8]> = good.split_inclusive(|byte| *byte == b'\n').collect();
    assert_eq!(lines.len(), 2);
    let mut edited = good.clone();
    let digit = edited.iter().position(|byte| *byte == b'5').expect("there is a five somewhere");
    edited[digit] = b'6';
    let reordered = [lines[1], lines[0]].concat();
    let doubled = [lines[0], lines[0], lines[1]].concat();
    let inner = [lines[0], b"\n", lines[1]].concat();
    for (what, bytes) in [
        ("a digit", edited),
        ("the first line is gone", lines[1].to_vec()),
        ("the last line is gone", lines[0].to_vec()),
        ("the last line is torn", good[..good.len() - 20].to_vec()),
        ("all lines are gone", Vec::new()),
        ("in another order", reordered),
        ("twice", doubled),
        ("an empty line", inner),
        ("no heads at all", b"signed, the owner\n".to_vec()),
    ] {
        fs::write(heads(&home), bytes).expect("written");
        let said = found(&home);
        assert!(said.contains("signed heads"), "{what}: {said}");
    }
    fs::remove_file(heads(&home)).expect("removed");
    assert!(found(&home).contains("the signed heads end too early"));
    fs::write(heads(&home), good).expect("written");
    fs::set_permissions(heads(&home), std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("a mode");
    verified(&home).expect(0);
}

#[test]
fn heads_signed_by_another_key_are_found() {
    let home = worked();
    let stranger = worked();
    fs::copy(heads(&stranger), heads(&home)).expect("copied");
    assert!(found(&home).contains("is not one of the owner's"));
}

#[test]
fn a_line_that_a_crash_cut_short_is_tolerated_and_said() {
    let home = worked();
    let mut bytes = fs::read(heads(&home)).expect("heads");
    bytes.extend(b"{\"at\":17000");
    fs::write(heads(&home), bytes).expect("written");
    let ended = verified(&home).expect(0);
    assert!(ended.stdout.contains("was cut short, as by a crash"), "{}", ended.stdout);
    home.run(&[]).run().expect(0);
    let events = count(&home);
    assert_eq!(verified(&home).expect(0).stdout, format!("✔ intact: {events} events, 3 signed heads\n"));
}

#[test]
fn what_no_crash_leaves_at_the_end_of_the_heads_is_not_written_over() {
    let home = worked();
    let good = fs::read(heads(&home)).expect("heads");
    for foreign in [vec![b'x'; 5_000], vec![b'x'; 100_000], b"no head\n".to_vec()] {
        let bytes = [&good[..], &foreign].concat();
        fs::write(heads(&home), &bytes).expect("written");
        let ended = home.run(&[]).run().expect(2);
        assert!(ended.stderr.contains("its end is not a head"), "{}", ended.stderr);
        assert!(fs::read(heads(&home)).expect("heads") == bytes, "it is as it was");
        found(&home);
    }
    fs::write(heads(&home), &good).expect("written");
    home.run(&[]).run().expect(0);
    verified(&home).expect(0);
}

#[test]
fn a_run_that_was_killed_is_not_sealed_and_the_next_one_seals_it() {
    let home = worked();
    let killed = home.run(&[]).env("WINDLASS_CRASH_AT", "after-commit:4").run();
    assert!(killed.was_killed(), "{killed:?}");
    let ended = verified(&home).expect(0);
    assert!(ended.stdout.contains("events are not sealed yet"), "{}", ended.stdout);
    home.windlass(&["resume"]).run().expect(0);
    let events = count(&home);
    assert_eq!(verified(&home).expect(0).stdout, format!("✔ intact: {events} events, 3 signed heads\n"));
}

fn record(
    home: &Home,
    events: impl IntoIterator<Item = (AuditType, Actor, Option<&'static str>, &'static str, Value)>,
) {
    let executor = executor(Threads::One).expect("an executor");
    let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::new(executor.handle().clone()));
    let store = SqliteStore::open(Options::new(home.data()), Arc::clone(&runtime)).expect("a store");
    let mut commit = Commit::unfenced(Tenant::local(), runtime.wall());
    for (event_type, actor, decision, reason, details) in events {
        let Value::Object(details) = details else { panic!("details are an object") };
        // What is about a task has its number as its trace.
        let task = details.get("task_id").and_then(Value::as_str).map(|task| task.parse().expect("an id"));
        let event = RuntimeAuditEvent {
            event_type,
            trace_id: task.unwrap_or_else(|| TraceId::new(runtime.wall(), runtime.random())),
            message_id: None,
            scope_id: Tenant::local(),
            actor,
            decision: decision.map(str::to_owned),
            reason: Some(reason.to_owned()),
            details: Map::from_iter(details),
            created_at: runtime.wall(),
        };
        commit.events.push(event.on("test", Taint::External));
    }
    executor.block_on(store.commit(commit)).expect("committed");
}

#[test]
fn every_type_is_shown_and_can_be_asked_for() {
    let home = worked();
    let task = home.windlass(&["status", "--json"]).run().expect(0).objects().remove(0)["task_id"].clone();
    record(
        &home,
        [
            (AuditType::Enqueue, Actor::User, None, "a", json!({"queue": "executor_queue"})),
            (AuditType::Dequeue, Actor::Executor, None, "b", json!({})),
            (AuditType::Approval, Actor::User, Some("approved"), "c", json!({"task_id": task})),
            (AuditType::Verify, Actor::ApprovalEngine, Some("accepted"), "d", json!({"task_id": task, "uses": 1})),
            (AuditType::Check, Actor::ApprovalEngine, Some("accepted"), "e", json!({})),
            (AuditType::GateBlock, Actor::GateRunner, Some("block"), "f", json!({"gate": "risk"})),
        ],
    );
    let shown = home.windlass(&["audit", "show"]).run().expect(0).stdout;
    // The runs themselves have been handed over as well.
    assert_eq!(shown.lines().filter(|line| line.contains("  external  ")).count(), 6, "{shown}");
    let last = shown.lines().last().expect("a line");
    assert!(last.ends_with("  gate_block  gate_runner          external  block  f  gate=risk"), "newest last: {last}");
    let reasons = |words: &[&str]| {
        let mut objects = home.windlass(&[&["audit", "show", "--json"], words].concat()).run().expect(0).objects();
        let result = objects.pop().expect("a result");
        assert_eq!(result["events"], objects.len());
        let ours = objects.iter().filter(|event| event["taint"] == "external");
        ours.map(|event| event["reason"].as_str().expect("a reason").to_owned()).collect::<String>()
    };
    assert_eq!(reasons(&[]), "abcdef");
    for (name, reason) in
        [("enqueue", "a"), ("dequeue", "b"), ("approval", "c"), ("verify", "d"), ("check", "e"), ("gate_block", "f")]
    {
        assert_eq!(reasons(&["--type", name]), reason);
    }
    assert_eq!(reasons(&["--type", "check", "--type", "enqueue"]), "ae");
    let task = task.as_str().expect("an id");
    assert_eq!(reasons(&["--task", &task[28..]]), "cd");
    assert_eq!(reasons(&["--task", task, "--type", "verify"]), "d");
}

#[test]
fn what_an_event_quotes_cannot_pass_for_another_event() {
    let home = Home::new();
    home.windlass(&["status"]).run().expect(0);
    let forged = "no\n2026-01-01T00:00:00.000Z  approval\u{1b}[2K\u{202e}";
    record(&home, [(AuditType::GateBlock, Actor::GateRunner, Some("block"), forged, json!({"path": "a\nb"}))]);
    let shown = home.windlass(&["audit", "show"]).run().expect(0).stdout;
    assert_eq!(shown.lines().count(), 1, "{shown}");
    assert!(shown.contains("no<U+000A>2026") && shown.contains("<U+001B>[2K<U+202E>"), "{shown}");
    assert!(shown.contains("path=a<U+000A>b"), "{shown}");
}

#[test]
fn wrong_use_is_explained() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["audit", "show", "--task", "nope"]).run(), @"
    exit code 2
    --- stderr
    error: there is no task `nope` here
    hint: `windlass status` lists the tasks
    ");
    let ended = home.windlass(&["audit", "show", "--type", "gossip"]).run().expect(2);
    assert!(
        ended.stderr.contains("possible values: enqueue, dequeue, approval, verify, check, gate_block"),
        "{ended:?}"
    );
    assert_shown!(home, home.windlass(&["audit", "show"]).run(), @"
    exit code 0
    --- stdout
    No such events.
    ");
}
