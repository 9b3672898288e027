//! Terminals with somebody in them, and several who look on.

use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::Arc;

use windlass_terminal::{Closed, Ending, NotTyped, Painter, Screen, Size, Terminal, Terminals, Unopened};

use crate::pty::open_pty;
use crate::stage::{SMALL, drive, options, play, stage, until};

/// In a pseudo-terminal of its own, which is its controlling one.
fn run(terminals: &Terminals, name: &str, size: Size, script: &str) -> (Terminal, tokio::process::Child) {
    let (pty, slave) = open_pty(size).expect("the machine has pseudo-terminals");
    let end = || Stdio::from(slave.try_clone().expect("it can be shared"));
    #[expect(clippy::disallowed_methods, reason = "a real program in a real pseudo-terminal")]
    let mut command = tokio::process::Command::new("setsid");
    command.args(["--ctty", "sh", "-c", script]).stdin(end()).stdout(end()).stderr(end()).kill_on_drop(true);
    let child = command.spawn().expect("there is a shell");
    drop(command);
    drop::<OwnedFd>(slave);
    let (terminal, carrying) = terminals.open(name, Arc::new(pty), options(size, None)).expect("the name is free");
    drive(carrying);
    (terminal, child)
}

#[test]
fn a_program_has_a_terminal_of_its_size_that_can_be_typed_into() {
    play(async {
        let terminals = Terminals::default();
        let script = "test -t 0 && test -t 1 && tty -s && stty size; read answer; echo got $answer; stty size";
        let (terminal, mut child) = run(&terminals, "a", SMALL, script);
        until(&terminal, |lines| lines[0] == "4 20").await;
        terminal.resize(Size { cols: 30, rows: 6 }).unwrap();
        terminal.input(b"yes\r").await.unwrap();
        let text = until(&terminal, |lines| lines.contains(&"6 30".to_owned())).await;
        assert_eq!(text[..4], ["4 20", "yes", "got yes", "6 30"]);
        let status = child.wait().await.unwrap();
        terminal.hung_up().await;
        terminal.end(Ending::Exited(status.code().unwrap()));
        assert_eq!(terminal.ending(), Some(Ending::Exited(0)));
        assert_eq!(terminal.input(b"more").await, Err(Closed));
    });
}

/// Whoever carries it has something else to do than to wait for it.
#[test]
fn a_program_that_does_not_read_keeps_nobody_waiting_but_who_wants_to() {
    play(async {
        let mut stage = stage(|options| options);
        let terminal = stage.terminal.clone();
        // More than the pipe holds, and nobody reads: it comes to rest with its places full.
        let full = (0..1_000).map(|_| terminal.type_now(&[b'x'; 1_000])).find(Result::is_err);
        assert_eq!(full, Some(Err(NotTyped::Unread)));
        assert!(!terminal.is_typed_into(), "not by a person");
        stage.hear(10_000).await;
        terminal.input(b"y").await.unwrap();
        assert!(terminal.is_typed_into());
        let terminal = stage.exit(Ending::Exited(0)).await;
        assert_eq!(terminal.type_now(b"x"), Err(NotTyped::Closed));
    });
}

#[test]
fn an_interrupt_that_is_typed_reaches_the_program() {
    play(async {
        let terminals = Terminals::default();
        let (terminal, mut child) = run(&terminals, "a", SMALL, "trap 'echo caught; exit 3' INT; echo ready; read x");
        until(&terminal, |lines| lines[0] == "ready").await;
        terminal.input(b"\x03").await.unwrap();
        assert_eq!(child.wait().await.unwrap().code(), Some(3));
        until(&terminal, |lines| lines.concat().contains("caught")).await;
    });
}

#[test]
fn everybody_who_looks_on_sees_the_same_and_whoever_comes_late_sees_all_of_it() {
    play(async {
        let mut stage = stage(|options| options);
        let mut early = stage.terminal.attach();
        let mut eyes = Screen::new(SMALL);
        stage.print("one\r\n\x1b[32mtwo").await;
        while eyes.text()[1] != "two" {
            eyes.feed(&early.next().await.unwrap());
        }
        let mut late = stage.terminal.attach();
        let mut other = Screen::new(SMALL);
        other.feed(&late.next().await.unwrap());
        assert_eq!(Painter::default().paint(&eyes), Painter::default().paint(&other));
        let terminal = stage.exit(Ending::Signalled(9)).await;
        assert_eq!(late.next().await, None);
        assert_eq!(terminal.ending(), Some(Ending::Signalled(9)));
    });
}

/// Whoever does not look holds nobody up, and sees the end of it when they do.
#[test]
fn a_slow_eye_holds_nobody_up() {
    play(async {
        let mut stage = stage(|options| options);
        let mut slow = stage.terminal.attach();
        slow.next().await.unwrap();
        for number in 0..5_000 {
            stage.print(&format!("\r\nline {number}")).await;
        }
        until(&stage.terminal, |lines| lines[3] == "line 4999").await;
        let mut eyes = Screen::new(SMALL);
        eyes.feed(&slow.next().await.unwrap());
        assert_eq!(eyes.text(), ["line 4996", "line 4997", "line 4998", "line 4999"]);
        assert!(stage.terminal.look(|screen| screen.history().len()) > 1_000, "it can be scrolled back");
    });
}

#[test]
fn a_size_is_told_once_and_a_kill_reaches_whoever_started_it() {
    play(async {
        let stage = stage(|options| options);
        let wide = Size { cols: 40, rows: 4 };
        stage.terminal.resize(wide).unwrap();
        stage.terminal.resize(wide).unwrap();
        stage.terminal.kill();
        assert_eq!(*stage.sizes.lock().unwrap(), [wide]);
        assert_eq!(*stage.kills.lock().unwrap(), 1);
    });
}

#[test]
fn a_hundred_at_once() {
    play(async {
        let terminals = Terminals::default();
        let mut children = Vec::new();
        for number in 0..100 {
            let name = format!("terminal-{number}");
            children.push(run(&terminals, &name, SMALL, &format!("echo I am {number}; read x; echo $x of {number}")));
        }
        assert_eq!(terminals.names().len(), 100);
        for (number, (terminal, child)) in children.iter_mut().enumerate() {
            until(terminal, |lines| lines[0] == format!("I am {number}")).await;
            terminal.input(b"word\r").await.unwrap();
            until(terminal, |lines| lines[2] == format!("word of {number}")).await;
            assert!(child.wait().await.unwrap().success());
        }
        let (pty, _slave) = open_pty(SMALL).unwrap();
        let taken = terminals.open("terminal-7", Arc::new(pty), options(SMALL, None)).map(drop).unwrap_err();
        assert_eq!(taken, Unopened::Taken("terminal-7".to_owned()));
        assert!(terminals.close("terminal-7").is_some());
        assert!(terminals.get("terminal-7").is_none());
    });
}
