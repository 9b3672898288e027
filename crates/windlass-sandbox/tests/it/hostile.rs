//! Commands that will not end, will not stay in their place, or will not be quiet.

use std::time::Duration;

use windlass_sandbox::{Command, Error, Limits, Provider, Status, discard, never};

use crate::support::{Gate, Room, confined, eventually, in_time, mark, marked, process, text, with_cgroups};

fn providers() -> [Box<dyn Provider>; 2] {
    [confined(), Box::new(process())]
}

fn briefly(script: &str) -> Command {
    let mut command = Command::bash(script);
    command.timeout = Duration::from_millis(500);
    command.grace = Duration::from_millis(200);
    command
}

/// Forks for ever, but for a fuse of a few seconds, so that a broken sandbox does not take the machine with it.
fn bomb(mark: &str) -> Command {
    let mut command = briefly(&format!(
        "fuse=$((EPOCHSECONDS + 6)); \
         bomb() {{ : {mark}; ((EPOCHSECONDS < fuse)) || exit; bomb | bomb & }}; bomb; sleep 1000"
    ));
    command.timeout = Duration::from_secs(2);
    command
}

/// The namespace counts for everybody but root; root needs control groups.
fn has_hard_limits() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    !is_root || windlass_sandbox::control_groups().state == windlass_sandbox::State::Good
}

/// Only the supervisor and the asking command itself are there.
async fn is_empty(room: &Room) -> bool {
    // The supervisor, this command's minder, and its bash.
    room.says("set -- /proc/[0-9]*; echo $#").await == "3"
}

#[tokio::test]
async fn one_that_never_ends_is_ended() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mark = mark();
        let exit = room.run(briefly(&format!("echo started; sleep {mark}"))).await;
        assert_eq!((exit.status, text(&exit.combined)), (Status::TimedOut, "started\n".into()));
        assert_eq!(marked(&mark), 0);
    }
}

#[tokio::test]
async fn one_that_ignores_sigterm_is_killed() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mark = mark();
        let script = format!("trap 'echo no' TERM; while true; do sleep 0.01; : {mark}; done");
        // Long enough on a busy machine too: for the trap to be set, and for it to be heard.
        let patient = Command { timeout: Duration::from_secs(2), grace: Duration::from_secs(2), ..briefly(&script) };
        let exit = room.run(patient).await;
        assert_eq!(exit.status, Status::TimedOut);
        assert!(text(&exit.combined).contains("no"), "it was asked first");
        assert_eq!(marked(&mark), 0);
    }
}

#[tokio::test]
async fn one_that_is_stopped_is_killed() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mark = mark();
        let exit = room.run(briefly(&format!("sleep {mark} & kill -STOP $! $$"))).await;
        assert_eq!(exit.status, Status::TimedOut);
        assert_eq!(marked(&mark), 0);
    }
}

#[tokio::test]
async fn one_that_is_stopped_still_hears_that_it_should_end() {
    let room = Room::open(&*confined()).await;
    let mut command = briefly("trap 'echo heard; exit' TERM; kill -STOP $$");
    command.grace = Duration::from_secs(30);
    let exit = room.run(command).await;
    assert_eq!((exit.status, text(&exit.combined)), (Status::TimedOut, "heard\n".into()));
}

#[tokio::test]
async fn one_that_waits_on_stdin_gets_its_end() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mut command = Command::new(["cat"]);
        command.timeout = Duration::from_secs(50);
        assert_eq!(room.run(command).await.status, Status::Code(0));
    }
}

#[tokio::test]
async fn a_daemon_does_not_outlive_its_command() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mark = mark();
        // Twice forked, a session of its own, no tie to the pipes.
        let daemon = format!(
            "(setsid bash -c 'trap \"\" TERM HUP; (sleep {mark}; :) & (sleep {mark}; :) & wait' </dev/null >/dev/null 2>&1 &)"
        );
        let script = format!("{daemon}; until [ -n \"$(pgrep -f 'sleep {mark}')\" ]; do sleep 0.01; done; echo left");
        let mut command = Command::bash(&script);
        command.timeout = Duration::from_secs(50);
        let exit = room.run(command).await;
        assert_eq!((exit.status, text(&exit.combined)), (Status::Code(0), "left\n".into()));
        assert_eq!(marked(&mark), 0);
    }
}

/// Several at once, so that the supervisor cannot simply kill everything.
#[tokio::test]
async fn a_daemon_does_not_outlive_its_command_beside_another() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let (mark, other_mark) = (mark(), mark());
        let mut watch = discard;
        let other_script = format!("(setsid sleep {other_mark} &); sleep {other_mark}; :");
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let cancel = Box::pin(async move { drop(stopped.await) });
        let other = room.sandbox.run(Command::bash(&other_script), &mut watch, cancel);
        let first = async {
            eventually("the other's daemon", || marked(&other_mark) >= 3).await;
            let script = format!("(setsid bash -c 'trap \"\" TERM; sleep {mark}; :' &) ; sleep 0.1");
            assert_eq!(room.bash(&script).await.status, Status::Code(0));
            assert_eq!(marked(&mark), 0);
            assert_eq!(marked(&other_mark), 3, "the other command and its daemon are untouched");
            drop(stop);
        };
        let (other, ()) = in_time(async { tokio::join!(other, first) }).await;
        assert_eq!(other.expect("runs").status, Status::Cancelled);
        assert_eq!(marked(&other_mark), 0);
    }
}

#[tokio::test]
async fn a_grandchild_that_holds_the_pipe_keeps_nobody_waiting() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mark = mark();
        let mut command = Command::bash(&format!("(trap '' TERM HUP; sleep {mark}; :) & echo done"));
        command.timeout = Duration::from_secs(3000);
        let exit = room.run(command).await;
        assert_eq!((exit.status, text(&exit.combined)), (Status::Code(0), "done\n".into()));
        assert_eq!(marked(&mark), 0);
    }
}

/// With a hard limit: control groups for root, the namespace's own count for anybody else. Never under `process`,
/// nor without a hard limit: there a bomb set off by root races the supervisor for the whole machine.
#[tokio::test]
async fn a_fork_bomb_ends_and_leaves_nothing() {
    let change = |policy: &mut windlass_sandbox::Policy| policy.limits.processes = 200;
    if !has_hard_limits() {
        eprintln!("skipped: nothing here would hold a fork bomb");
        return;
    }
    let room = Room::open_with(&with_cgroups(), change).await;
    let mark = mark();
    let exit = room.run(bomb(&mark)).await;
    assert_eq!(exit.status, Status::TimedOut, "{}", text(&exit.combined));
    assert!(text(&exit.combined).contains("Resource temporarily unavailable"), "the limit was reached");
    assert_eq!(marked(&mark), 0);
    assert!(is_empty(&room).await);
}

/// The limit without a hard limit: late, but kept.
#[tokio::test]
async fn too_many_processes_are_stopped_where_only_counting_helps() {
    for provider in providers() {
        let change = |policy: &mut windlass_sandbox::Policy| policy.limits.processes = 100;
        let room = Room::open_with(&*provider, change).await;
        let mark = mark();
        let script = format!("for i in $(seq 400); do sleep {mark} & done; wait");
        let mut command = Command::new(["sh", "-c", &script]);
        command.timeout = Duration::from_secs(50);
        let exit = room.run(command).await;
        let reached = text(&exit.combined).contains("annot fork");
        assert!(exit.status == Status::TooManyProcesses || reached, "{exit:?}");
        assert_eq!(marked(&mark), 0);
        assert!(room.bash("true").await.success());
    }
}

#[tokio::test]
async fn a_fork_bomb_does_not_take_its_neighbour_along() {
    let change = |policy: &mut windlass_sandbox::Policy| policy.limits.processes = 200;
    if !has_hard_limits() {
        eprintln!("skipped: nothing here would hold a fork bomb");
        return;
    }
    let room = Room::open_with(&with_cgroups(), change).await;
    let mark = mark();
    let mut watch = discard;
    let neighbour = room.sandbox.run(
        Command::new(["sh", "-c", "while [ ! -e over ]; do :; done; echo survived"]),
        &mut watch,
        never(),
    );
    let bomb = async {
        let command = bomb(&mark);
        let exit = room.run(command).await;
        assert!(matches!(exit.status, Status::TimedOut | Status::TooManyProcesses), "{:?}", exit.status);
        assert_eq!(marked(&mark), 0);
        std::fs::write(room.file("over"), "").expect("writes");
    };
    let (neighbour, ()) = in_time(async { tokio::join!(neighbour, bomb) }).await;
    assert_eq!(text(&neighbour.expect("runs").stdout), "survived\n");
    assert!(is_empty(&room).await);
}

#[tokio::test]
async fn a_flood_of_ten_gigabytes_is_counted_not_kept() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mut command = briefly("head -c 10G /dev/zero");
        command.output_cap = 10_000;
        let mut seen = 0;
        let before = peak_bytes();
        let exit = in_time(room.sandbox.run(command, &mut |_, bytes: &[u8]| seen += bytes.len(), never())).await;
        let exit = exit.expect("runs");
        assert_eq!(exit.status, Status::TimedOut);
        assert_eq!(seen, 10_000);
        assert!(exit.combined.len() < 10_100, "{} bytes kept", exit.combined.len());
        assert!(exit.dropped > 100_000, "{} bytes dropped", exit.dropped);
        assert!(peak_bytes() < before + (16 << 20), "memory stays flat: {before} before, {} after", peak_bytes());
    }
}

#[tokio::test]
async fn the_end_of_a_flood_is_kept_with_its_beginning() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mut command = Command::bash("echo begun; seq 200000; echo error: the reason >&2; exit 3");
        command.output_cap = 10_000;
        let exit = room.run(command).await;
        let said = text(&exit.combined);
        assert_eq!(exit.status, Status::Code(3));
        assert!(
            said.starts_with("begun\n1\n2\n3\n") && said.ends_with("\n199999\n200000\nerror: the reason\n"),
            "{said}"
        );
        let line = format!("\n[... {} bytes left out ...]\n", exit.dropped);
        let (head, tail) = said.split_once(&line).expect("says what is missing");
        let numbers: u64 = (1..=200_000u64).map(|number| number.to_string().len() as u64 + 1).sum();
        assert_eq!((head.len() + 1 + tail.len()) as u64 + exit.dropped, numbers + 6 + 18);
    }
}

/// The most that this process has held.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a field");
    line.trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number") * 1024
}

#[tokio::test]
async fn a_flood_and_its_neighbour_both_get_on() {
    let room = Room::open(&*confined()).await;
    let mut flood = briefly("yes");
    flood.timeout = Duration::from_secs(2);
    let mut watch = discard;
    let flood = room.sandbox.run(flood, &mut watch, never());
    let neighbour = async {
        for _ in 0..20 {
            assert_eq!(room.says("echo heard").await, "heard");
        }
    };
    let (flood, ()) = in_time(async { tokio::join!(flood, neighbour) }).await;
    assert_eq!(flood.expect("runs").status, Status::TimedOut);
}

#[tokio::test]
async fn killing_everything_in_reach_kills_only_oneself() {
    let room = Room::open(&*confined()).await;
    assert_eq!(room.bash("kill -KILL -1; sleep 1000").await.status, Status::Signal(9));
    assert_eq!(room.bash("kill -KILL 1; kill -TERM 1; kill -STOP 1; echo alive").await.status, Status::Code(0));
    assert!(is_empty(&room).await);
}

#[tokio::test]
async fn killing_the_minder_frees_nothing() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mark = mark();
        let script = format!("(setsid sleep {mark} &); kill -KILL $PPID; sleep {mark}");
        assert_eq!(room.bash(&script).await.status, Status::Signal(9));
        assert_eq!(marked(&mark), 0);
        assert!(room.bash("true").await.success());
    }
}

#[tokio::test]
async fn stopping_the_minder_gains_no_time() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mark = mark();
        let exit = room.run(briefly(&format!("kill -STOP $PPID; sleep {mark}"))).await;
        assert_eq!(exit.status, Status::TimedOut);
        assert_eq!(marked(&mark), 0);
    }
}

/// Orphans must not pile up as zombies under a command that never waits for strangers.
#[tokio::test]
async fn orphans_that_ended_are_reaped_while_the_command_runs() {
    let room = Room::open(&*confined()).await;
    let script = "for i in 1 2 3 4 5; do (bash -c true &) ; done; \
        until ! grep -ls '^State:.Z' /proc/[0-9]*/status; do sleep 0.01; done >/dev/null; echo clean";
    assert_eq!(room.says(script).await, "clean");
}

#[tokio::test]
async fn what_is_asked_to_end_may_tidy_up_after_its_leader() {
    let room = Room::open(&*confined()).await;
    let tidy = "trap 'sleep 0.1; echo tidied > tidied; exit' TERM; echo ready; while true; do sleep 0.01; done";
    let mut command = Command::bash(&format!("bash -c \"{}\" & wait", tidy.replace('"', "\\\"")));
    command.timeout = Duration::from_millis(500);
    command.grace = Duration::from_secs(30);
    assert_eq!(room.run(command).await.status, Status::TimedOut);
    assert_eq!(std::fs::read_to_string(room.file("tidied")).expect("had the time"), "tidied\n");
    assert!(is_empty(&room).await);
}

#[tokio::test]
async fn a_supervisor_that_dies_is_an_error_and_not_an_exit() {
    let room = Room::open(&process()).await;
    let home = std::path::PathBuf::from(room.says("touch ~/file; echo ~").await);
    assert!(home.join("file").exists());
    let mark = mark();
    let script = format!("kill -KILL $(ps -o ppid= -p $PPID); sleep {mark}");
    let ended = room.try_run(Command::bash(&script)).await;
    assert!(matches!(ended, Err(Error::Died { .. })), "{ended:?}");
    eventually("the command's end", || marked(&mark) == 0).await;
    eventually("the end of its home", || !home.exists()).await;
    assert!(matches!(room.try_run(Command::bash("true")).await, Err(Error::Closed)));
}

#[tokio::test]
async fn more_commands_than_it_can_hold_are_refused_and_the_rest_go_on() {
    let change = |policy: &mut windlass_sandbox::Policy| {
        policy.limits = Limits { processes: 4096, ..Limits::default() };
    };
    let room = std::sync::Arc::new(Room::open_with(&*confined(), change).await);
    let gate = Gate::build(&room);
    let commands: Vec<_> = (0..300)
        .map(|_| {
            let room = room.clone();
            let command = Command::new(["sh", "-c", "read line < gate"]);
            tokio::spawn(async move { room.try_run(command).await })
        })
        .collect();
    // One of them is refused before anyone is let go.
    let any_refused = || commands.iter().any(tokio::task::JoinHandle::is_finished);
    eventually("a refusal", any_refused).await;
    gate.let_through(300);
    let (mut ended, mut refused) = (0, 0);
    for command in commands {
        match command.await.expect("joins") {
            Ok(exit) if exit.success() => ended += 1,
            Err(Error::NotStarted { .. }) => refused += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(ended + refused, 300);
    assert!(refused > 0 && ended >= 256, "{ended} ended, {refused} refused");
}
