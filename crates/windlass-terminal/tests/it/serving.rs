//! Terminals that others look at over a socket: who sees what, who fits whom, and names that were left behind.

use std::fs;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tempfile::TempDir;
use tokio::net::UnixStream;
use windlass_terminal::{
    BoxFuture, Ending, Hands, Screen, Seen, Sight, Size, Sockets, Terminal, look_on, look_on_as_it_is, serve,
};

use crate::stage::{SMALL, drive, play, stage, until};

const LARGE: Size = Size { cols: 40, rows: 10 };

/// Deeper than the path of a socket may be long.
fn folder() -> (TempDir, Sockets) {
    let folder = tempfile::tempdir().expect("a folder");
    let deep = folder.path().join("d".repeat(100)).join("terminals");
    (folder, Sockets::new(deep))
}

fn serving(sockets: &Sockets, terminal: &Terminal) {
    let bound = sockets.bind("one").expect("bound");
    let pause = || -> BoxFuture<'static, ()> { panic!("everybody can be taken") };
    drive(serve(bound, terminal.clone(), "something".to_owned(), Arc::new(drive), Arc::new(pause)));
}

async fn attach(sockets: &Sockets, size: Size) -> (Seen, Hands) {
    let stream = sockets.connect("one").await.expect("connected").expect("it is open");
    let (title, seen, hands) = look_on(stream, size).await.expect("it is shown");
    assert_eq!(title, "something");
    (seen, hands)
}

async fn seen_until(seen: &mut Seen, wanted: &str) -> String {
    let mut all = String::new();
    while !all.contains(wanted) {
        match seen.next().await.expect("it is read") {
            Some(Sight::Paint(bytes)) => all.push_str(&String::from_utf8(bytes).expect("text")),
            Some(Sight::Sized(_) | Sight::CaughtUp) => {}
            other => panic!("{other:?} after {all:?}"),
        }
    }
    all
}

#[test]
fn everybody_sees_it_types_into_it_and_hears_how_it_ended() {
    play(async {
        let (_folder, sockets) = folder();
        let mut stage = stage(|options| options);
        serving(&sockets, &stage.terminal);
        let (mut first, mut hands) = attach(&sockets, LARGE).await;
        let (mut second, _hands) = attach(&sockets, LARGE).await;
        stage.print("hello\u{1b}]52;c;aGk=\u{7}").await;
        for seen in [&mut first, &mut second] {
            let painted = seen_until(seen, "hello").await;
            assert!(!painted.contains("\u{1b}]"), "{painted:?}");
        }
        hands.types(b"typed").await.unwrap();
        assert_eq!(stage.hear(5).await, "typed");
        stage.exit(Ending::Exited(3)).await;
        for seen in [&mut first, &mut second] {
            let end = loop {
                match seen.next().await.unwrap() {
                    Some(Sight::Paint(_) | Sight::Sized(_) | Sight::CaughtUp) => {}
                    other => break other,
                }
            };
            assert_eq!(end, Some(Sight::Ended("it exited with 3".to_owned())));
        }
        assert_eq!(sockets.names().unwrap(), [""; 0]);
        assert!(sockets.connect("one").await.unwrap().is_none());
    });
}

/// Regression: the terminal was closed to everybody from then on, and its name went.
#[test]
fn whoever_cannot_be_taken_for_a_moment_is_taken_after_it() {
    play(async {
        let (_folder, sockets) = folder();
        let mut stage = stage(|options| options);
        let bound = sockets.bind("one").expect("bound");
        let stream = sockets.connect("one").await.expect("connected").expect("it is open");
        // From here on this process opens no file: each test has one of its own.
        let free = fs::File::open("/dev/null").expect("the next one").as_raw_fd();
        let before = getrlimit(Resource::Nofile);
        let none = Rlimit { current: u64::try_from(free).ok(), ..before };
        setrlimit(Resource::Nofile, none).expect("it is lower");
        let (waits, mut waited) = tokio::sync::mpsc::unbounded_channel();
        let pause = move || -> BoxFuture<'static, ()> {
            let waits = waits.clone();
            Box::pin(async move {
                let (go_on, goes_on) = tokio::sync::oneshot::channel();
                waits.send(go_on).expect("the test listens");
                goes_on.await.expect("the test says so");
            })
        };
        let terminal = stage.terminal.clone();
        drive(serve(bound, terminal, "something".to_owned(), Arc::new(drive), Arc::new(pause)));
        let go_on: tokio::sync::oneshot::Sender<()> = waited.recv().await.expect("it could not be taken");
        setrlimit(Resource::Nofile, before).expect("as it was");
        go_on.send(()).expect("it waits");
        let (_, mut seen, _hands) = look_on(stream, LARGE).await.expect("it is shown");
        stage.print("hello").await;
        seen_until(&mut seen, "hello").await;
    });
}

#[test]
fn it_is_as_large_as_the_smallest_room_and_whoever_changes_theirs_sees_all_of_it_again() {
    play(async {
        let (_folder, sockets) = folder();
        let mut stage = stage(|options| options);
        serving(&sockets, &stage.terminal);
        let (mut first, mut hands) = attach(&sockets, LARGE).await;
        let (mut second, left) = attach(&sockets, SMALL).await;
        stage.print("hello").await;
        seen_until(&mut first, "hello").await;
        seen_until(&mut second, "hello").await;
        assert_eq!(stage.terminal.look(windlass_terminal::Screen::size), SMALL);
        hands.resize(Size { cols: 50, rows: 12 }).await.unwrap();
        seen_until(&mut first, "[2J").await;
        assert_eq!(stage.terminal.look(windlass_terminal::Screen::size), SMALL);
        drop((left, second));
        until(&stage.terminal, |lines| lines.len() == 12).await;
    });
}

/// What scrolled away and what stands there now, as an emulator of theirs has it.
#[test]
fn whoever_has_no_room_to_say_takes_it_as_it_is_with_what_has_scrolled_away() {
    play(async {
        for lines in [0, 2, SMALL.rows - 1, SMALL.rows, 3 * SMALL.rows] {
            let (_folder, sockets) = folder();
            let mut stage = stage(|options| options);
            let printed: String = (0..lines).map(|line| format!("\u{1b}[1mline {line}\r\n")).collect();
            stage.print(&format!("{printed}$ ")).await;
            until(&stage.terminal, |lines| lines.iter().any(|line| line == "$")).await;
            serving(&sockets, &stage.terminal);
            let stream = sockets.connect("one").await.unwrap().unwrap();
            let (_, mut seen, mut hands) = look_on_as_it_is(stream).await.unwrap();
            assert_eq!(seen.next().await.unwrap(), Some(Sight::Sized(SMALL)));
            let mut theirs = Screen::new(SMALL);
            loop {
                match seen.next().await.unwrap().unwrap() {
                    Sight::Paint(bytes) => drop(theirs.feed(&String::from_utf8(bytes).unwrap())),
                    Sight::CaughtUp => break,
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(theirs.history(), stage.terminal.look(Screen::history), "{lines} lines");
            assert_eq!(stage.sizes.lock().unwrap().as_slice(), [], "it stays as it is");
            hands.resize(LARGE).await.unwrap();
            while seen.next().await.unwrap() != Some(Sight::Sized(LARGE)) {}
        }
    });
}

#[test]
fn a_name_that_was_left_behind_is_told_from_one_that_is_in_use_and_goes() {
    play(async {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("terminals");
        let sockets = Sockets::new(place.clone());
        assert!(sockets.connect("one").await.unwrap().is_none(), "not even a folder");
        let bound = sockets.bind("one").unwrap();
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&place), mode(&place.join("one.sock"))), (0o700, 0o600));
        let accepted: Option<UnixStream> = sockets.connect("one").await.unwrap();
        assert!(accepted.is_some() && bound.accept().await.is_ok());
        drop(bound);
        assert_eq!(sockets.names().unwrap(), [""; 0]);
        // Of somebody who was killed.
        drop(UnixListener::bind(place.join("one.sock")).unwrap());
        assert_eq!(sockets.names().unwrap(), ["one"]);
        assert!(sockets.connect("one").await.unwrap().is_none());
        assert!(!place.join("one.sock").exists());
        // Whoever comes after them takes the name.
        drop(UnixListener::bind(place.join("one.sock")).unwrap());
        let robbed = sockets.bind("one").unwrap();
        let _bound = sockets.bind("one").unwrap();
        drop(robbed);
        assert!(sockets.connect("one").await.unwrap().is_some());
        assert_eq!(fs::read_dir(&place).unwrap().count(), 1);
    });
}

#[test]
fn whoever_says_something_else_is_not_listened_to() {
    play(async {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let (_folder, sockets) = folder();
        let mut stage = stage(|options| options);
        serving(&sockets, &stage.terminal);
        for nonsense in [&b"h\xff\xff\xff\xff"[..], b"zzzzzzzzz", b"h\0\0\0\x05\x09\0\x50\0\x18"] {
            let mut stream = sockets.connect("one").await.unwrap().unwrap();
            stream.write_all(nonsense).await.unwrap();
            let mut rest = Vec::new();
            let _reset = stream.read_to_end(&mut rest).await;
            assert!(!rest.windows(4).any(|four| four == b"[2J\x1b" || four == b"[2J["), "nothing is painted");
        }
        let (mut seen, _hands) = attach(&sockets, LARGE).await;
        stage.print("still here").await;
        seen_until(&mut seen, "still here").await;
    });
}
