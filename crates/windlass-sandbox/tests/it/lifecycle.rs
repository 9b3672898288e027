//! What a well-behaved command gets.

use std::{path::PathBuf, sync::Arc, time::Duration};

use tokio::sync::oneshot;
use windlass_sandbox::{Command, Error, Provider, Status, Stdin, Stream, Streams, discard, never};

use crate::support::{Gate, Room, bubblewrap, confined, eventually, in_time, mark, marked, process, text, workspace};

fn providers() -> [Box<dyn Provider>; 2] {
    [confined(), Box::new(process())]
}

#[tokio::test]
async fn a_command_ends_as_it_would_anywhere() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        assert_eq!(room.bash("exit 0").await.status, Status::Code(0));
        assert_eq!(room.bash("exit 7").await.status, Status::Code(7));
        assert_eq!(room.bash("exit 255").await.status, Status::Code(255));
        assert_eq!(room.bash("kill -TERM $$").await.status, Status::Signal(15));
        assert_eq!(room.bash("kill -KILL $$").await.status, Status::Signal(9));
        assert_eq!(room.bash("kill -SEGV $$").await.status, Status::Signal(11));
    }
}

#[tokio::test]
async fn streams_are_told_apart_and_kept_in_order() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let script = "echo one; echo two >&2; echo three";
        let mut seen = Vec::new();
        let mut watch = |stream, bytes: &[u8]| seen.push((stream, bytes.to_vec()));
        let apart = in_time(room.sandbox.run(Command::new(["bash", "-c", script]), &mut watch, never())).await;
        let apart = apart.expect("runs");
        assert_eq!((text(&apart.stdout), text(&apart.stderr)), ("one\nthree\n".into(), "two\n".into()));
        assert_eq!(apart.combined.len(), 14);
        let of = |wanted| seen.iter().filter(move |(stream, _)| *stream == wanted).flat_map(|(_, bytes)| bytes.clone());
        assert_eq!(of(Stream::Stdout).collect::<Vec<_>>(), apart.stdout);
        assert_eq!(of(Stream::Stderr).collect::<Vec<_>>(), apart.stderr);

        let mut lines = String::new();
        let mut script = String::new();
        for number in 0..200 {
            lines += &format!("{number}\n");
            script += &format!("echo {number} >&{};", 1 + number % 2);
        }
        let together = room.bash(&script).await;
        assert_eq!(text(&together.combined), lines);
        assert!(together.stderr.is_empty());
    }
}

/// The pipe's last words are read although the runtime has not heard of them when the command ends.
#[tokio::test]
async fn no_output_is_lost_at_the_end() {
    let room = Room::open(&*confined()).await;
    for round in 0..200 {
        let exit = room.run(Command::new(["/bin/echo", "all of it"])).await;
        assert_eq!(text(&exit.stdout), "all of it\n", "round {round}");
    }
    let exit = room.bash("head -c 60000 /dev/zero; exit 3").await;
    assert_eq!((exit.combined.len(), exit.status), (60000, Status::Code(3)));
}

#[tokio::test]
async fn standard_input_is_given_bytes_or_closed() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mut command = Command::new(["cat"]);
        let bytes: Vec<u8> = (0..3_000_000u32).map(|number| number as u8).collect();
        command.stdin = Stdin::Bytes(bytes.clone());
        command.output_cap = 4_000_000;
        assert!(room.run(command).await.stdout == bytes);

        assert_eq!(room.says("cat; read line; echo $?").await, "1");
    }
}

#[tokio::test]
async fn a_directory_is_relative_to_the_workspace() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        std::fs::create_dir(room.file("src")).expect("a directory");
        for cwd in ["src", "/workspace/src"] {
            let mut command = Command::new(["touch", "here"]);
            command.cwd = PathBuf::from(cwd);
            room.run(command).await;
            assert!(room.file("src/here").exists());
            std::fs::remove_file(room.file("src/here")).expect("was made");
        }
    }
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let room = Room::open(&*confined()).await;
    let message = |error: Error| error.to_string();
    let missing = room.try_run(Command::new(["no-such-program"])).await.expect_err("missing");
    assert!(message(missing).starts_with("start no-such-program: No such file"));

    let mut command = Command::new(["true"]);
    command.cwd = PathBuf::from("nowhere");
    let nowhere = room.try_run(command).await.expect_err("no directory");
    assert!(message(nowhere).starts_with("start in /workspace/nowhere"));

    std::fs::write(room.file("data"), "text").expect("a file");
    let refused = room.try_run(Command::new(["./data"])).await.expect_err("not executable");
    assert!(message(refused).contains("Permission denied"));

    for bad in [Command::new(Vec::<String>::new()), Command::new([""]), Command::new(["a\0b"])] {
        assert!(matches!(room.try_run(bad).await, Err(Error::Command { .. })));
    }
    let too_large = Command::new(vec!["x".repeat(100_000); 30]);
    assert!(matches!(room.try_run(too_large).await, Err(Error::Command { .. })));
    assert!(room.bash("true").await.success(), "the sandbox is fine");
}

#[tokio::test]
async fn a_warm_sandbox_keeps_its_files_between_commands() {
    let room = Room::open(&*confined()).await;
    room.says("echo kept > /tmp/a; echo kept > ~/b").await;
    assert_eq!(room.says("cat /tmp/a ~/b").await, "kept\nkept");
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_commands_run_side_by_side() {
    for provider in providers() {
        let room = Arc::new(Room::open(&*provider).await);
        let gate = Gate::build(&room);
        let commands: Vec<_> = (0..64)
            .map(|number| {
                let script = format!(
                    "touch started-{number}; read < gate; echo out {number}; echo err {number} >&2; \
                     (setsid sleep 1000 &) ; exit {}",
                    number % 7
                );
                let room = room.clone();
                let command = Command::new(["bash", "-c", &script]);
                tokio::spawn(async move { (number, room.run(command).await) })
            })
            .collect();
        let all_started = || (0..64).all(|number| room.file(&format!("started-{number}")).exists());
        eventually("all starts", all_started).await;
        gate.let_through(64);
        for command in commands {
            let (number, exit) = command.await.expect("joins");
            let status = Status::Code(number % 7);
            assert_eq!(exit.status, status, "{}", text(&exit.combined));
            assert_eq!(text(&exit.stdout), format!("out {number}\n"));
            assert_eq!(text(&exit.stderr), format!("err {number}\n"));
        }
    }
}

#[tokio::test]
async fn closing_ends_what_runs_and_refuses_the_rest() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mark = mark();
        let running = room.sandbox.run(Command::new(["sleep", &mark]), Box::leak(Box::new(discard)), never());
        let close = async {
            eventually("the command's start", || marked(&mark) > 0).await;
            room.sandbox.close().await;
            assert_eq!(marked(&mark), 0);
        };
        let (ended, ()) = in_time(async { tokio::join!(running, close) }).await;
        assert!(matches!(ended, Err(Error::Closed)), "{ended:?}");
        assert!(matches!(room.try_run(Command::new(["true"])).await, Err(Error::Closed)));
        in_time(room.sandbox.close()).await;
    }
}

#[tokio::test]
async fn dropping_the_sandbox_kills_what_runs() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mark = mark();
        {
            let mut watch = discard;
            let mut running = room.sandbox.run(Command::new(["sleep", &mark]), &mut watch, never());
            tokio::select! {
                _ = &mut running => panic!("ended by itself"),
                () = eventually("the command's start", || marked(&mark) > 0) => {}
            }
        }
        drop(room);
        eventually("the command's end", || marked(&mark) == 0).await;
    }
}

#[tokio::test]
async fn dropping_the_future_kills_the_command_and_nothing_else() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let (mark, other_mark) = (mark(), mark());
        let (release, released) = oneshot::channel::<()>();
        let mut watch = discard;
        let cancel = Box::pin(async move { drop(released.await) });
        let other = room.sandbox.run(Command::new(["sleep", &other_mark]), &mut watch, cancel);
        let drop_one = async {
            let mut watch = discard;
            let script = format!("trap '' TERM; (setsid sleep {mark} &); sleep {mark}; :");
            let mut command = Command::bash(&script);
            command.grace = Duration::from_secs(3000);
            let mut running = room.sandbox.run(command, &mut watch, never());
            tokio::select! {
                _ = &mut running => panic!("ended by itself"),
                () = eventually("both starts", || marked(&mark) > 2 && marked(&other_mark) > 0) => {}
            }
            drop(running);
            eventually("the command's end", || marked(&mark) == 0).await;
            assert!(marked(&other_mark) > 0);
            drop(release);
        };
        let (other, ()) = in_time(async { tokio::join!(other, drop_one) }).await;
        assert_eq!(other.expect("runs").status, Status::Cancelled);
    }
}

#[tokio::test]
async fn cancelling_asks_first() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let (now, asked) = oneshot::channel::<()>();
        let mut now = Some(now);
        let mut watch = move |_, _: &[u8]| drop(now.take());
        let script = "trap 'echo goodbye; exit 0' TERM; echo ready; while true; do sleep 0.05; done";
        let mut command = Command::bash(script);
        command.grace = Duration::from_secs(30);
        let cancel = Box::pin(async move { drop(asked.await) });
        let exit = in_time(room.sandbox.run(command, &mut watch, cancel)).await.expect("runs");
        let said = text(&exit.combined);
        assert_eq!(exit.status, Status::Cancelled);
        // Bash may add that its `sleep` was terminated.
        assert!(said.starts_with("ready\n") && said.ends_with("goodbye\n"), "{said}");
    }
}

/// It was lost while Tokio had not yet learned that the control socket can be written.
#[tokio::test]
async fn a_cancel_that_was_there_before_the_command_is_heeded() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mut command = Command::bash("sleep 2000");
        command.timeout = Duration::from_secs(3000);
        let cancelled = Box::pin(std::future::ready(()));
        let exit = in_time(room.sandbox.run(command, &mut discard, cancelled)).await.expect("runs");
        assert_eq!(exit.status, Status::Cancelled);
    }
}

#[tokio::test]
async fn a_policy_that_cannot_be_kept_is_refused() {
    let refuses = async |change: &dyn Fn(&mut windlass_sandbox::Policy)| {
        let workspace = workspace();
        std::os::unix::fs::symlink("/etc", workspace.path().join("link")).expect("a link");
        let mut policy = windlass_sandbox::Policy::new(workspace.path());
        change(&mut policy);
        let opened = in_time(confined().open(policy)).await;
        assert!(matches!(opened, Err(Error::Policy { .. })), "{:?}", opened.err());
    };
    refuses(&|policy| policy.workspace = "/".into()).await;
    refuses(&|policy| policy.workspace = "/no/such/place".into()).await;
    refuses(&|policy| policy.protected.push("../x".into())).await;
    refuses(&|policy| policy.protected.push("/etc".into())).await;
    refuses(&|policy| policy.protected.push("link".into())).await;
    refuses(&|policy| policy.protected.push("link/ssl".into())).await;
    refuses(&|policy| policy.readonly_mounts.push(("/no/such/place".into(), "/x".into()))).await;
    refuses(&|policy| policy.readonly_mounts.push(("/usr".into(), "x/../../y".into()))).await;
}

#[tokio::test]
async fn a_missing_bubblewrap_says_what_to_install() {
    let provider = bubblewrap().program("/no/such/bwrap");
    let workspace = workspace();
    let opened = provider.open(windlass_sandbox::Policy::new(workspace.path())).await;
    let message = opened.err().expect("refused").to_string();
    assert!(message.contains("apt install bubblewrap"), "{message}");
}

#[tokio::test]
async fn a_diagnosis_finds_this_machine_able() {
    let scratch = workspace();
    let findings = in_time(windlass_sandbox::diagnose(&bubblewrap(), scratch.path())).await;
    let of = |name| findings.iter().find(|finding| finding.name == name).expect(name);
    assert_eq!(of("confinement").state, windlass_sandbox::State::Good, "{findings:?}");
    assert!(of("bubblewrap").detail.contains("bubblewrap "), "{findings:?}");
}

#[tokio::test]
async fn together_is_what_bash_gets() {
    assert_eq!(Command::bash("true").streams, Streams::Together);
}
