//! Commands with a terminal of their own.

use std::{fs, time::Duration};

use windlass_sandbox::{Command, Error, Provider, Running, Status, Streams};

use crate::support::{ATTACKER, Gate, Room, confined, eventually, in_time, mark, marked, own_program, process, text};

const INTERRUPT: &[u8] = b"\x03";
const SUSPEND: &[u8] = b"\x1a";

fn providers() -> [Box<dyn Provider>; 2] {
    [confined(), Box::new(process())]
}

fn at_terminal<const WORDS: usize>(argv: [&str; WORDS]) -> Command {
    let mut command = Command::new(argv);
    command.streams = Streams::Terminal { rows: 24, cols: 80 };
    command.timeout = Command::NO_TIMEOUT;
    command.env.insert("TERM".into(), "xterm".into());
    command
}

async fn start(room: &Room, command: Command) -> Box<dyn Running> {
    in_time(room.sandbox.start(command)).await.expect("starts")
}

async fn bash(room: &Room, script: &str) -> Box<dyn Running> {
    start(room, at_terminal(["bash", "-c", script])).await
}

async fn type_in(running: &dyn Running, keys: &[u8]) {
    in_time(running.write(keys)).await.expect("types");
}

/// Everything up to the end.
async fn rest(running: &dyn Running) -> String {
    let mut said = Vec::new();
    loop {
        match in_time(running.read()).await.expect("reads") {
            piece if piece.is_empty() => return text(&said),
            piece => said.extend(piece),
        }
    }
}

/// Who looks on, and has not yet looked at all that was printed.
struct Eyes<'a> {
    running: &'a dyn Running,
    ahead: String,
}

impl<'a> Eyes<'a> {
    fn on(running: &'a dyn Running) -> Self {
        Self { running, ahead: String::new() }
    }

    /// Looks up to the end of these words.
    async fn find(&mut self, words: &str) -> String {
        loop {
            if let Some(at) = self.ahead.find(words) {
                let rest = self.ahead.split_off(at + words.len());
                return std::mem::replace(&mut self.ahead, rest);
            }
            let piece = in_time(self.running.read()).await.expect("reads");
            assert!(!piece.is_empty(), "ended after {:?}", self.ahead);
            self.ahead.push_str(&text(&piece));
        }
    }
}

async fn until(running: &dyn Running, words: &str) {
    Eyes::on(running).find(words).await;
}

async fn end(running: &dyn Running) -> Status {
    in_time(running.wait()).await.expect("ends")
}

#[tokio::test]
async fn all_its_streams_are_the_terminal_that_it_finds_by_name() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let script = "stty size; test -t 0 -a -t 1 -a -t 2 && echo all; echo here >$(tty); echo controlling >/dev/tty";
        let running = bash(&room, script).await;
        assert_eq!(rest(&*running).await, "24 80\r\nall\r\nhere\r\ncontrolling\r\n");
        assert_eq!(end(&*running).await, Status::Code(0));
        assert_eq!(rest(&*running).await, "", "asked again");
        assert!(in_time(running.write(b"too late")).await.is_err());
        assert!(running.complaints().is_empty());
    }
}

/// It leads a session, and the terminal's keys are for that session.
#[tokio::test]
async fn its_session_is_its_own() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let running =
            bash(&room, "read -r pid _ _ _ group session _ < /proc/$$/stat; echo $((pid - group)) $((pid - session))")
                .await;
        assert_eq!(rest(&*running).await, "0 0\r\n");
    }
}

#[tokio::test]
async fn what_is_typed_is_echoed_and_read() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let running = bash(&room, "read -r line; echo \"heard $line\"").await;
        type_in(&*running, b"helo\x7flo\r").await;
        assert_eq!(rest(&*running).await, "helo\x08 \x08lo\r\nheard hello\r\n");
    }
}

#[tokio::test]
async fn the_program_hears_of_another_size() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let running = bash(&room, "trap 'stty size; exit 7' WINCH; echo ready; while true; do sleep 0.05; done").await;
        until(&*running, "ready\r\n").await;
        running.resize(50, 132).expect("resizes");
        assert_eq!(rest(&*running).await, "50 132\r\n");
        assert_eq!(end(&*running).await, Status::Code(7));
        assert!(matches!(running.resize(0, 80), Err(Error::Command { .. })));
    }
}

#[tokio::test]
async fn the_key_that_interrupts_reaches_its_own_program_alone() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let beside = bash(&room, "echo ready; read -r line; echo \"still here, $line\"").await;
        let running = bash(&room, "echo ready; exec sleep 2000").await;
        for terminal in [&beside, &running] {
            until(&**terminal, "ready").await;
        }
        type_in(&*running, INTERRUPT).await;
        assert_eq!(end(&*running).await, Status::Signal(2));
        assert!(room.bash("true").await.success(), "the supervisor does not hear it");
        type_in(&*beside, b"friend\r").await;
        until(&*beside, "still here, friend").await;
    }
}

/// As one does that was started in the background by a script.
#[tokio::test]
async fn an_owner_that_ignores_the_interrupt_does_not_make_its_commands_ignore_it() {
    #[expect(unsafe_code, reason = "std has no signal handling")]
    // SAFETY: no code of ours runs for a signal that is ignored.
    unsafe {
        libc::signal(libc::SIGINT, libc::SIG_IGN);
    }
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let running = bash(&room, "echo ready; exec sleep 2000").await;
        until(&*running, "ready").await;
        type_in(&*running, INTERRUPT).await;
        assert_eq!(end(&*running).await, Status::Signal(2));
    }
}

#[tokio::test]
async fn a_shell_has_job_control() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mut shell = at_terminal(["bash", "--norc", "--noediting", "-i"]);
        shell.env.insert("PS1".into(), "> ".into());
        let running = start(&room, shell).await;
        let mut eyes = Eyes::on(&*running);
        let greeting = eyes.find("> ").await;
        assert!(!greeting.contains("job control"), "{greeting}");
        // It says that it runs once it has the terminal, so that the key is for it.
        type_in(&*running, b"sh -c 'echo one; exec sleep 2000'; echo not this\r").await;
        eyes.find("\none").await;
        type_in(&*running, INTERRUPT).await;
        eyes.find("^C\r\n> ").await;
        type_in(&*running, b"sh -c 'echo two; exec sleep 2000'\r").await;
        eyes.find("\ntwo").await;
        type_in(&*running, SUSPEND).await;
        eyes.find("Stopped").await;
        type_in(&*running, b"bg; kill -KILL %1; wait %1; echo gone $?\r").await;
        eyes.find("\ngone 137").await;
        eyes.find("> ").await;
        type_in(&*running, b"(exit 5)\r").await;
        eyes.find("> ").await;
        in_time(running.close_stdin()).await;
        assert!(rest(&*running).await.contains("exit"));
        assert_eq!(end(&*running).await, Status::Code(5));
    }
}

#[tokio::test]
async fn the_end_of_input_is_the_character_that_means_it() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        for script in ["echo set; cat; echo over", "stty eof ^X; echo set; cat; echo over"] {
            let running = bash(&room, script).await;
            let mut eyes = Eyes::on(&*running);
            eyes.find("set").await;
            type_in(&*running, b"line\r").await;
            eyes.find("line\r\nline").await;
            in_time(running.close_stdin()).await;
            eyes.find("over").await;
            assert_eq!(end(&*running).await, Status::Code(0));
        }
    }
}

fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("reads");
    let field = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a field");
    field.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[tokio::test]
async fn a_flood_waits_for_who_reads_and_is_taken_without_memory() {
    const FLOOD: usize = 100_000_000;
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let running = bash(&room, &format!("stty raw; head -c {FLOOD} /dev/zero; touch done")).await;
        assert!(room.bash("true").await.success());
        assert!(!room.file("done").exists(), "no terminal holds so much");
        let before = resident_kib();
        let mut length = 0;
        loop {
            match in_time(running.read()).await.expect("reads").len() {
                0 => break,
                piece => length += piece,
            }
        }
        assert_eq!(length, FLOOD, "and not a byte is lost when it ends");
        let grown = resident_kib().saturating_sub(before);
        assert!(grown < 32 << 10, "{grown} KiB");
        assert_eq!(end(&*running).await, Status::Code(0));
    }
}

#[tokio::test]
async fn a_hundred_at_once() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mut open = Vec::new();
        for number in 0..100 {
            open.push(bash(&room, &format!("echo I am {number}; read word; echo $word of {number}")).await);
        }
        for (number, running) in open.iter().enumerate() {
            until(&**running, &format!("I am {number}\r\n")).await;
            type_in(&**running, b"word\r").await;
            until(&**running, &format!("word of {number}\r\n")).await;
            assert_eq!(end(&**running).await, Status::Code(0));
        }
    }
}

/// It must not be taken for its end.
#[tokio::test]
async fn a_program_may_let_go_of_its_terminal_and_take_it_again() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let gate = Gate::build(&room);
        let script = "exec 0<&- 1>&- 2>&-; touch closed; read <gate; exec >/dev/tty; echo back";
        let running = bash(&room, script).await;
        let mut reading = running.read();
        tokio::select! {
            read = &mut reading => panic!("{:?} while nobody spoke", read.map(|said| text(&said))),
            () = eventually("it lets go", || room.file("closed").exists()) => {}
        }
        gate.let_through(1);
        // A line may come in pieces: what ends it is printed by itself.
        let begun = text(&in_time(reading).await.expect("reads"));
        assert_eq!(begun + &rest(&*running).await, "back\r\n");
    }
}

#[tokio::test]
async fn killing_takes_what_it_has_started_along() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mark = mark();
        let tree = format!("trap '' TERM HUP INT; set -m; (setsid sleep {mark} &); sleep {mark} & sleep {mark}; :");
        let running = bash(&room, &tree).await;
        eventually("all starts", || marked(&mark) >= 4).await;
        running.kill();
        assert_eq!(end(&*running).await, Status::Cancelled);
        assert_eq!(marked(&mark), 0);
        rest(&*running).await;

        let dropped = bash(&room, &tree).await;
        eventually("all starts", || marked(&mark) >= 4).await;
        drop(dropped);
        eventually("its end", || marked(&mark) == 0).await;
        assert!(room.bash("true").await.success(), "the sandbox is fine");
    }
}

#[tokio::test]
async fn what_it_leaves_behind_does_not_outlive_it() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mark = mark();
        let running = bash(&room, &format!("trap '' HUP; (setsid sleep {mark} &); sleep {mark} & echo leaving")).await;
        assert!(rest(&*running).await.contains("leaving"));
        assert_eq!(end(&*running).await, Status::Code(0));
        assert_eq!(marked(&mark), 0);
    }
}

#[tokio::test]
async fn it_ends_with_its_sandbox() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let mark = mark();
        let running = bash(&room, &format!("(setsid sleep {mark} &); sleep {mark}; :")).await;
        eventually("its start", || marked(&mark) >= 3).await;
        in_time(room.sandbox.close()).await;
        assert_eq!(marked(&mark), 0);
        assert_eq!(rest(&*running).await, "");
        assert!(matches!(in_time(running.wait()).await, Err(Error::Closed)));
    }
}

/// Pushing characters into a terminal as if they had been typed.
#[tokio::test]
async fn a_confined_program_cannot_type_for_others_even_at_its_own_terminal() {
    let attack = async |provider: &dyn Provider, program: &str| {
        let room = Room::open(provider).await;
        let words = [program, "--exact", "attack::typing_into_its_own_terminal", "--ignored", "--nocapture"];
        rest(&*start(&room, at_terminal(words)).await).await
    };
    let said = attack(&*confined(), ATTACKER).await;
    assert!(said.contains("denied: Operation not permitted"), "{said}");
    let said = attack(&process(), own_program().to_str().expect("text")).await;
    assert!(said.contains("worked"), "the control: {said}");
}

#[tokio::test]
async fn what_makes_no_sense_is_refused() {
    let room = Room::open(&*confined()).await;
    let refused = room.try_run(at_terminal(["true"])).await.expect_err("to be started").to_string();
    assert!(refused.contains("start it instead"), "{refused}");
    for (rows, cols) in [(0, 80), (24, 0)] {
        let mut nothing = at_terminal(["true"]);
        nothing.streams = Streams::Terminal { rows, cols };
        let refused = in_time(room.sandbox.start(nothing)).await.err().expect("no room").to_string();
        assert!(refused.contains("a row and a column"), "{refused}");
    }
    let missing = in_time(room.sandbox.start(at_terminal(["no-such-program"]))).await.err().expect("missing");
    assert!(missing.to_string().starts_with("start no-such-program: No such file"), "{missing}");
    let mut piped = Command::new(["cat"]);
    piped.timeout = Duration::from_secs(30);
    let piped = start(&room, piped).await;
    let refused = piped.resize(24, 80).expect_err("nothing to resize").to_string();
    assert!(refused.contains("without a terminal"), "{refused}");
}
