//! What an agent leaves behind is judged, whatever it is: it can neither hide, nor hold up the judge, nor pass for an outage.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use windlass_domain::task::{TaskEvent, TaskStatus};
use windlass_domain::{Digest, ErrorCode, Stop, Taint, TaskId, TaskResultStatus, Tenant, Wall, WorkspaceError};
use windlass_engine::Driven;
use windlass_store::{Commit, NewEvent, Store, StreamId};

use crate::support::{House, Work, put};

/// Everything at once: rules that hide the cheat, and a repository that makes a folder look like somebody else's.
#[test]
fn a_cheat_hidden_by_ignore_rules_is_seen_and_a_new_repository_is_told() {
    let house = House::new(|folder, _| {
        put(&folder.join("cheat.txt"), "cheat");
        put(&folder.join("src/.git/HEAD"), "ref: refs/heads/main");
        put(&folder.join(".gitignore"), "cheat.txt\n");
    });
    house.put("src/lib.rs", "code");
    let task = house.submit("- not_file: cheat.txt\n- file: src/lib.rs", 1);
    let driven = house.drive(task);
    let result = driven.result();
    assert_eq!((result.status, result.verified), (TaskResultStatus::Failed, false));
    assert_eq!(result.checks.iter().map(|check| check.passed).collect::<Vec<_>>(), [false, true]);
    for check in &result.checks {
        assert_eq!(check.tampered, ["src/.git"]);
    }
}

#[test]
fn a_tree_that_cannot_be_copied_fails_every_check_and_the_agent_hears_why() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    let house = House::new(move |folder, failures| {
        hears.lock().unwrap().push(failures.to_vec());
        match failures.is_empty() {
            true => fs::create_dir_all(folder.join("d/".repeat(300))).unwrap(),
            false => fs::remove_dir_all(folder.join("d")).unwrap(),
        }
    });
    house.put("a", "a");
    let task = house.submit("- file: a\n- not_file: b", 2);
    let driven = house.drive(task);
    assert!(driven.result().verified, "{driven:?}");
    let heard = heard.lock().unwrap();
    let told = heard[1].join("\n");
    assert!(told.contains("nested more than") && told.contains("for the same reason"), "{told}");
    let state = house.wait(house.engine.task(task)).unwrap();
    assert_eq!(state.attempts[0].checks.as_ref().unwrap().len(), 2);
    assert_eq!(state.attempts.len(), 2);
}

/// Where the disk or the store is at fault the agent is not: the task waits.
#[test]
fn an_outage_while_copying_pauses_the_task_and_costs_no_attempt() {
    let house = House::new(|_, _| ());
    house.put("a", "a");
    let task = house.submit("- file: a", 1);
    house.meddle(|_, _| Err(WorkspaceError::Failed("the disk is gone".to_owned())));
    let Driven::Paused(result) = house.drive(task) else { panic!("not paused") };
    assert!(result.error_details.unwrap().message.contains("the disk is gone"));
    house.leave_alone();
    assert!(house.drive(task).result().verified);
}

/// Without one nothing would be protected, and whatever the agent left would be its own measure.
#[test]
fn a_task_that_lost_its_baseline_is_never_verified() {
    let house = House::new(|_, _| ());
    house.put("a", "a");
    let whole = house.submit("- { file: a, protect: [a] }", 1);
    let Some(mut created) = house.wait(house.engine.task(whole)).unwrap().created else { panic!("not created") };
    let task = TaskId::new(Wall::from_millis(1), 1);
    (created.command.task_id, created.baseline) = (task, None);
    let mut commit = Commit::unfenced(Tenant::local(), Wall::default());
    let (stream, encoded) = (StreamId::new("task", task), TaskEvent::Created(created).encode());
    commit.events = vec![NewEvent { stream, encoded, taint: Taint::Auth, at: Wall::default() }];
    house.wait(house.store.commit(commit)).unwrap();
    let driven = house.drive(task);
    assert!(matches!(driven, Driven::Paused(_)) && !driven.result().verified, "{driven:?}");
    assert!(driven.result().error_details.as_ref().unwrap().message.contains("no baseline"));
    assert!(house.drive(whole).result().verified, "control");
}

/// Waits inside the work until it is told to stop; hangs when it never is.
fn until_stopped(should_stop: &dyn Fn() -> bool) -> Result<(), WorkspaceError> {
    while !should_stop() {
        std::thread::yield_now();
    }
    Err(WorkspaceError::Stopped)
}

#[test]
fn work_on_files_heeds_a_pause_and_goes_on_later() {
    for work in [Work::Capture, Work::Materialise, Work::Restore] {
        let house = House::new(|_, _| ());
        house.put("a", "a");
        let task = house.submit("- file: a", 1);
        let engine = house.engine.clone();
        house.meddle(move |now, should_stop| {
            if now != work {
                return Ok(());
            }
            assert!(!should_stop(), "nobody has asked yet");
            engine.stop(task, Stop::Pause);
            until_stopped(should_stop)
        });
        let Driven::Paused(result) = house.drive(task) else { panic!("{work:?}: not paused") };
        assert_eq!(result.error_details, None, "{work:?}: it was wanted");
        house.leave_alone();
        assert!(house.drive(task).result().verified, "{work:?}");
    }
}

#[test]
fn work_on_files_heeds_a_cancel() {
    let house = House::new(|_, _| ());
    house.put("a", "a");
    let task = house.submit("- file: a", 1);
    let engine = house.engine.clone();
    house.meddle(move |_, should_stop| {
        engine.stop(task, Stop::Cancel);
        until_stopped(should_stop)
    });
    assert_eq!(house.drive(task).result().status, TaskResultStatus::Cancelled);
    assert_eq!(house.wait(house.engine.task(task)).unwrap().status, Some(TaskStatus::Cancelled));
}

#[test]
fn work_on_files_ends_with_the_tasks_time() {
    let house = House::new(|_, _| ());
    house.put("a", "a");
    let task = house.submit("- file: a", 1);
    let later = house.time_machine();
    house.meddle(move |_, should_stop| {
        later(Duration::from_secs(1_700));
        assert!(!should_stop(), "there is time left");
        later(Duration::from_secs(101));
        until_stopped(should_stop)
    });
    let driven = house.drive(task);
    let result = driven.result();
    assert_eq!(result.error_details.as_ref().unwrap().error_code, ErrorCode::ChecksFailed);
    assert!(result.checks[0].reason.contains("longer than the task has time"), "{}", result.checks[0].reason);
}

#[test]
fn a_check_that_takes_long_leaves_time_to_copy_for_the_next() {
    let house = House::new(|_, _| ());
    house.put("a", "a");
    let later = house.time_machine();
    house.shell(move |_| {
        later(Duration::from_secs(10_000));
        "x".to_owned()
    });
    let task =
        house.submit("- { run: one, contains: x }\n- { run: two, contains: x }\n- { run: three, contains: x }", 1);
    assert!(house.drive(task).result().verified);
}

#[test]
fn a_long_output_is_kept_whole_with_the_result_that_refers_to_it() {
    let house = House::new(|_, _| ());
    house.put("a", "a");
    house.shell(|_| "x".repeat(5_000));
    let task = house.submit("- { run: much, contains: x }", 1);
    let driven = house.drive(task);
    let check = &driven.result().checks[0];
    assert_eq!(check.output.len(), 1_000);
    assert_eq!(check.full_output, Some(Digest::of("x".repeat(5_000).as_bytes())));
    assert!(house.has_blob(check.full_output.unwrap()));
}

/// It would stay for ever: nothing refers to it, and nobody proved that the lease still held.
#[test]
fn an_output_whose_result_is_never_recorded_is_not_kept() {
    let house = House::new(|_, _| ());
    house.put("a", "a");
    let task = house.submit("- { run: much, contains: x }\n- { run: stop, contains: x }", 1);
    let engine = house.engine.clone();
    house.shell(move |command| {
        if command == "stop" {
            engine.stop(task, Stop::Pause);
        }
        "x".repeat(5_000)
    });
    assert!(matches!(house.drive(task), Driven::Paused(_)));
    assert!(!house.has_blob(Digest::of("x".repeat(5_000).as_bytes())));
    house.shell(|_| "x".repeat(5_000));
    assert!(house.drive(task).result().verified);
    assert!(house.has_blob(Digest::of("x".repeat(5_000).as_bytes())));
}
