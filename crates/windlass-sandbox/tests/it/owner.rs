//! Owners that are programs of their own. The owner dies, and everything with it.

use std::{
    fs::File,
    io::{BufRead, BufReader},
    os::fd::AsFd,
    path::Path,
    process::{Command as Program, Stdio},
};

use rustix::fs::{FlockOperation, flock};
use windlass_sandbox::{Command, Policy, Provider, Sandbox, Status, Supervisor, discard, never};

use crate::{
    replaced::{open_and_run, providers},
    support::{
        Room, bubblewrap, bubblewrap_of, confined, eventually, in_time, marked, own_program, process, workspace,
    },
};

const DIRECTORY: &str = "windlass-owner-test";

/// Not a test by itself: the owner that is killed. Its standard input is the lock file; its directory, the workspace.
#[tokio::test]
#[ignore = "run by the tests below as a process of its own"]
async fn an_owner_with_isolation() {
    own(&*confined()).await;
}

#[tokio::test]
#[ignore = "run by the tests below as a process of its own"]
async fn an_owner_without_isolation() {
    own(&process()).await;
}

#[tokio::test]
#[ignore = "run by the tests below as a process of its own"]
async fn an_owner_that_talks() {
    let (sandbox, script) = open(&*confined()).await;
    let running = sandbox.start(Command::bash(&script)).await.expect("starts");
    let ended = running.wait().await;
    panic!("the command ended by itself: {ended:?}");
}

/// Not a test by itself: this very program, which then is its own supervisor.
#[test]
#[ignore = "run by the owner below as a supervisor"]
fn an_owner_as_its_own_supervisor() {
    let code = windlass_sandbox::supervise();
    assert_eq!(format!("{code:?}"), format!("{:?}", std::process::ExitCode::SUCCESS));
}

/// Not a test by itself: runs as a copy of this program, which it removes.
#[tokio::test]
#[ignore = "run by the tests of `replaced` as a process of its own"]
async fn an_owner_that_removes_itself() {
    let program = std::env::current_exe().expect("a path");
    assert!(program.ends_with("copied-owner"), "only for the tests of `replaced`");
    std::fs::remove_file(program).expect("removed");
    let words = ["--exact", "owner::an_owner_as_its_own_supervisor", "--ignored", "--nocapture", "--test-threads=1"];
    let supervisor = Supervisor::myself(words);
    for provider in providers(&supervisor) {
        open_and_run(&*provider).await;
        open_and_run(&*provider).await;
    }
}

async fn own(provider: &dyn Provider) {
    let (sandbox, script) = open(provider).await;
    let mut command = Command::bash(&script);
    command.timeout = std::time::Duration::from_secs(3000);
    let exit = sandbox.run(command, &mut discard, never()).await;
    panic!("the command ended by itself: {exit:?}");
}

#[expect(clippy::print_stdout, reason = "how the owner says that it is ready")]
async fn open(provider: &dyn Provider) -> (Box<dyn Sandbox>, String) {
    let workspace = std::env::current_dir().expect("a directory");
    assert!(workspace.ends_with(DIRECTORY), "only for the tests below");
    let mut policy = Policy::new(&workspace);
    policy.lock = Some(rustix::stdio::stdin().try_clone_to_owned().expect("the lock"));
    let sandbox = provider.open(policy).await.expect("opens");
    let script = std::fs::read_to_string(workspace.join("script")).expect("a script");
    println!("\nopen");
    (sandbox, script)
}

fn lock(path: &Path, operation: FlockOperation) -> Option<File> {
    let file = File::options().read(true).write(true).open(path).expect("the lock file");
    flock(file.as_fd(), operation).ok().map(|()| file)
}

/// Kills the owner and takes its lock; when the lock is there, nothing may run any more.
async fn kill_the_owner(owner: &str) {
    let parent = workspace();
    let workspace = parent.path().join(DIRECTORY);
    let lock_path = parent.path().join("lock");
    std::fs::create_dir(&workspace).expect("a workspace");
    File::create(&lock_path).expect("a lock file");
    let mark = crate::support::mark();
    // It beats as fast as it can: a beat after the lock is free would show.
    let beat = "while true; do echo >> beats; done";
    let script = format!("(setsid bash -c 'trap \"\" TERM HUP; {beat}; : {mark}' &); trap '' TERM; {beat}; : {mark}");
    std::fs::write(workspace.join("script"), script).expect("writes");
    let held = lock(&lock_path, FlockOperation::NonBlockingLockExclusive).expect("free at first");
    let mut program = Program::new(own_program())
        .args(["--exact", owner, "--ignored", "--nocapture"])
        .current_dir(&workspace)
        .stdin(Stdio::from(held))
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut lines = BufReader::new(program.stdout.take().expect("piped")).lines();
    assert!(lines.any(|line| line.expect("reads") == "open"));
    eventually("both loops' start", || marked(&mark) >= 2 && workspace.join("beats").exists()).await;
    assert!(lock(&lock_path, FlockOperation::NonBlockingLockExclusive).is_none(), "held while it lives");

    program.kill().expect("killed");
    program.wait().expect("reaped");
    // Blocks until it is free; the runner's own deadline is the guard.
    let _taken = lock(&lock_path, FlockOperation::LockExclusive).expect("free in the end");
    let beats = std::fs::metadata(workspace.join("beats")).expect("beats").len();
    assert_eq!(marked(&mark), 0, "a free lock means that nothing runs");
    tokio::task::yield_now().await;
    assert_eq!(std::fs::metadata(workspace.join("beats")).expect("beats").len(), beats);
}

#[tokio::test]
async fn a_killed_owner_takes_a_confined_tree_along_before_its_lock_is_free() {
    for _ in 0..5 {
        kill_the_owner("owner::an_owner_with_isolation").await;
    }
}

#[tokio::test]
async fn a_killed_owner_takes_an_unconfined_tree_along_before_its_lock_is_free() {
    for _ in 0..5 {
        kill_the_owner("owner::an_owner_without_isolation").await;
    }
}

#[tokio::test]
async fn a_killed_owner_takes_a_command_that_it_talks_to_along() {
    kill_the_owner("owner::an_owner_that_talks").await;
}

/// As if the supervisor were stuck: it need not do anything for this.
#[tokio::test]
async fn commands_die_with_bubblewrap_itself() {
    let room = Room::open(&bubblewrap()).await;
    let mark = crate::support::mark();
    let script = format!("(setsid sleep {mark} &); trap '' TERM; sleep {mark}; :");
    let mut watch = discard;
    let command = room.sandbox.run(Command::bash(&script), &mut watch, never());
    let kill = async {
        eventually("both starts", || marked(&mark) >= 3).await;
        let bubblewrap = rustix::process::Pid::from_raw(bubblewrap_of(&room)).expect("a pid");
        rustix::process::kill_process(bubblewrap, rustix::process::Signal::KILL).expect("killed");
    };
    let (exit, ()) = in_time(async { tokio::join!(command, kill) }).await;
    assert_eq!(exit.expect("runs").status, Status::Signal(9));
    assert_eq!(marked(&mark), 0);
}
