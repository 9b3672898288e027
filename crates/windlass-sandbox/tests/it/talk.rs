//! Commands that are talked to.

use std::time::Duration;

use windlass_sandbox::{Command, Error, Provider, Running, Status, Streams};

use crate::support::{Gate, Room, confined, eventually, in_time, mark, marked, process, text};

fn providers() -> [Box<dyn Provider>; 2] {
    [confined(), Box::new(process())]
}

fn bash(script: &str) -> Command {
    let mut command = Command::new(["bash", "-c", script]);
    command.timeout = Command::NO_TIMEOUT;
    command
}

async fn start(room: &Room, command: Command) -> Box<dyn Running> {
    in_time(room.sandbox.start(command)).await.expect("starts")
}

/// Everything up to the end.
async fn rest(running: &dyn Running) -> Vec<u8> {
    let mut said = Vec::new();
    loop {
        match in_time(running.read()).await.expect("reads") {
            piece if piece.is_empty() => return said,
            piece => said.extend(piece),
        }
    }
}

async fn line(running: &dyn Running) -> String {
    let mut said = Vec::new();
    while !said.ends_with(b"\n") {
        let piece = in_time(running.read()).await.expect("reads");
        assert!(!piece.is_empty(), "ended after {:?}", text(&said));
        said.extend(piece);
    }
    text(&said).trim_end().to_owned()
}

async fn end(running: &dyn Running) -> Status {
    in_time(running.wait()).await.expect("ends")
}

#[tokio::test]
async fn a_command_answers_what_it_is_told_until_nobody_talks() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let running = start(&room, bash("while read line; do echo \"heard $line\"; done; echo over; exit 3")).await;
        for word in ["one", "two"] {
            in_time(running.write(format!("{word}\n").as_bytes())).await.expect("writes");
            assert_eq!(line(&*running).await, format!("heard {word}"));
            assert_eq!(room.says("echo beside").await, "beside");
        }
        in_time(running.close_stdin()).await;
        assert_eq!(text(&rest(&*running).await), "over\n");
        assert_eq!(end(&*running).await, Status::Code(3));
        assert_eq!(end(&*running).await, Status::Code(3), "asked again");
        assert!(in_time(running.write(b"too late")).await.is_err());
    }
}

/// As a browser does that is driven over two further pipes.
#[tokio::test]
async fn its_pipes_are_ordinary_descriptors() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let running = start(&room, bash("exec 3<&0 4>&1 </dev/null >/dev/null; read line <&3; echo $line >&4")).await;
        in_time(running.write(b"through\n")).await.expect("writes");
        assert_eq!(line(&*running).await, "through");
        assert_eq!(end(&*running).await, Status::Code(0));
    }
}

#[tokio::test]
async fn it_waits_for_who_does_not_read_and_nothing_is_lost() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let running = start(&room, bash("head -c 5000000 /dev/zero; echo; touch done")).await;
        assert_eq!(room.says("echo beside").await, "beside");
        assert!(!room.file("done").exists(), "no pipe holds so much");
        assert_eq!(rest(&*running).await.len(), 5_000_001);
        assert_eq!(end(&*running).await, Status::Code(0));
    }
}

#[tokio::test]
async fn who_writes_waits_for_a_command_that_does_not_listen() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let gate = Gate::build(&room);
        let running = start(&room, bash("touch ready; read < gate; wc -c")).await;
        let bytes = vec![b'x'; 5_000_000];
        let mut writing = running.write(&bytes);
        tokio::select! {
            _ = &mut writing => panic!("no pipe holds so much"),
            () = eventually("the command's start", || room.file("ready").exists()) => {}
        }
        gate.let_through(1);
        in_time(writing).await.expect("writes");
        in_time(running.close_stdin()).await;
        assert_eq!(line(&*running).await, "5000000");
    }
}

#[tokio::test]
async fn of_its_complaints_the_last_are_kept_and_it_never_waits_for_them() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let running = start(&room, bash("head -c 3000000 /dev/zero >&2; echo no more >&2; echo done")).await;
        assert_eq!(line(&*running).await, "done");
        assert_eq!(end(&*running).await, Status::Code(0));
        let complaints = running.complaints();
        assert!(complaints.ends_with(b"no more\n") && complaints.len() == 8 << 10, "{}", complaints.len());

        let mut together = bash("echo one; echo two >&2");
        together.streams = Streams::Together;
        let running = start(&room, together).await;
        assert_eq!(text(&rest(&*running).await), "one\ntwo\n");
        assert!(running.complaints().is_empty());
    }
}

#[tokio::test]
async fn killing_takes_what_it_has_started_along() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let (mark, other_mark) = (mark(), mark());
        let tree = |mark: &str| format!("trap '' TERM HUP; (setsid sleep {mark} &); sleep {mark}; :");
        let other = start(&room, bash(&tree(&other_mark))).await;
        let mut command = bash(&tree(&mark));
        command.grace = Duration::from_secs(3000);
        let running = start(&room, command).await;
        eventually("all starts", || marked(&mark) >= 3 && marked(&other_mark) >= 3).await;
        running.stop();
        running.kill();
        assert_eq!(end(&*running).await, Status::Cancelled);
        assert_eq!(marked(&mark), 0);
        assert!(rest(&*running).await.is_empty());
        assert!(marked(&other_mark) >= 3, "the other is left alone");
        drop(other);
        eventually("the other's end", || marked(&other_mark) == 0).await;
        assert!(room.bash("true").await.success(), "the sandbox is fine");
    }
}

#[tokio::test]
async fn stopping_asks_first() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let script = "trap 'echo goodbye; exit 0' TERM; echo ready; while true; do sleep 0.05; done";
        let mut command = bash(script);
        command.grace = Duration::from_secs(30);
        let running = start(&room, command).await;
        assert_eq!(line(&*running).await, "ready");
        running.stop();
        assert_eq!(text(&rest(&*running).await), "goodbye\n");
        assert_eq!(end(&*running).await, Status::Cancelled);
    }
}

#[tokio::test]
async fn a_timeout_holds_for_it_too() {
    let room = Room::open(&*confined()).await;
    let mut command = bash("sleep 2000");
    command.timeout = Duration::from_millis(20);
    let running = start(&room, command).await;
    assert_eq!(end(&*running).await, Status::TimedOut);
}

#[tokio::test]
async fn it_ends_with_its_sandbox() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mark = mark();
        let running = start(&room, bash(&format!("(setsid sleep {mark} &); sleep {mark}; :"))).await;
        eventually("its start", || marked(&mark) >= 3).await;
        in_time(room.sandbox.close()).await;
        assert_eq!(marked(&mark), 0);
        assert!(rest(&*running).await.is_empty());
        assert!(matches!(in_time(running.wait()).await, Err(Error::Closed)));
        assert!(matches!(in_time(room.sandbox.start(bash("true"))).await, Err(Error::Closed)));
    }
}

#[tokio::test]
async fn what_cannot_start_says_why() {
    let room = Room::open(&*confined()).await;
    let failed = async |command| in_time(room.sandbox.start(command)).await.err().expect("fails").to_string();
    let missing = failed(Command::new(["no-such-program"])).await;
    assert!(missing.starts_with("start no-such-program: No such file"), "{missing}");
    let mut nowhere = Command::new(["true"]);
    nowhere.cwd = "nowhere".into();
    assert!(failed(nowhere).await.starts_with("start in /workspace/nowhere"));
    assert!(room.bash("true").await.success(), "the sandbox is fine");
}
