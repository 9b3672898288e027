//! The owner listens on a sandbox's own loopback.

use std::net::{Ipv4Addr, TcpListener as Blocking};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use windlass_sandbox::{Command, Error, Provider, Status};

use crate::support::{Room, confined, in_time, process, text};

fn providers() -> [Box<dyn Provider>; 2] {
    [confined(), Box::new(process())]
}

async fn listen(room: &Room) -> (TcpListener, u16) {
    let listener = in_time(room.sandbox.listen()).await.expect("listens");
    let address = listener.local_addr().expect("an address");
    assert_eq!(address.ip(), Ipv4Addr::LOCALHOST);
    listener.set_nonblocking(true).expect("set");
    (TcpListener::from_std(listener).expect("in the runtime"), address.port())
}

/// Says a word to the port, and prints what comes back.
fn say(word: &str, port: u16) -> String {
    format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo {word} >&3 && cat <&3")
}

/// What the next who connects says, and who that is.
async fn accept(listener: &TcpListener) -> (TcpStream, String) {
    let (mut connection, _) = in_time(listener.accept()).await.expect("somebody");
    let mut said = Vec::new();
    while !said.ends_with(b"\n") {
        assert_ne!(in_time(connection.read_buf(&mut said)).await.expect("reads"), 0, "said {:?}", text(&said));
    }
    (connection, text(&said).trim_end().to_owned())
}

#[tokio::test]
async fn commands_talk_to_who_listens() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let (first, first_port) = listen(&room).await;
        let (second, second_port) = listen(&room).await;
        assert_ne!(first_port, second_port);
        for (listener, port) in [(&first, first_port), (&second, second_port), (&first, first_port)] {
            let script = say("hello", port);
            let answer = async {
                let (mut connection, said) = accept(listener).await;
                assert_eq!(said, "hello");
                connection.write_all(b"good day").await.expect("writes");
            };
            let (heard, ()) = tokio::join!(room.says(&script), answer);
            assert_eq!(heard, "good day");
        }
    }
}

#[tokio::test]
async fn who_stops_listening_is_not_reached_any_more() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let (listener, port) = listen(&room).await;
        drop(listener);
        let said = room.bash(&say("hello", port)).await;
        assert!(text(&said.combined).contains("refused"), "nobody else holds it: {}", text(&said.combined));
    }
}

#[tokio::test]
async fn with_the_sandbox_its_connections_end() {
    for provider in providers() {
        let room = Room::open(&*provider).await;
        let (listener, port) = listen(&room).await;
        let mut command = Command::bash(&say("hello", port));
        command.timeout = Command::NO_TIMEOUT;
        let running = in_time(room.sandbox.start(command)).await.expect("starts");
        let (mut connection, _) = accept(&listener).await;
        in_time(room.sandbox.close()).await;
        // A reset is an end too.
        let read = in_time(connection.read(&mut [0; 16])).await;
        assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
        assert!(matches!(in_time(room.sandbox.listen()).await, Err(Error::Closed)));
        drop(running);
    }
}

/// The same port of the machine's loopback and of another sandbox's is another port.
#[tokio::test]
async fn nobody_else_reaches_it() {
    let provider = confined();
    let (room, other) = (Room::open(&*provider).await, Room::open(&*provider).await);
    let mut taken = Vec::new();
    let (listener, port, of_the_machine) = loop {
        let (listener, port) = listen(&room).await;
        match Blocking::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(of_the_machine) => break (listener, port, of_the_machine),
            // Somebody on this machine has it.
            Err(_) => taken.push(listener),
        }
    };
    let said = other.bash(&say("intruder", port)).await;
    assert!(text(&said.combined).contains("refused"), "{}", text(&said.combined));
    drop(std::net::TcpStream::connect(("127.0.0.1", port)).expect("the machine's own"));
    let script = say("hello", port);
    let answer = async {
        let (connection, said) = accept(&listener).await;
        assert_eq!(said, "hello", "the first who came");
        drop(connection);
    };
    tokio::join!(room.says(&script), answer);
    of_the_machine.set_nonblocking(true).expect("set");
    drop(of_the_machine.accept().expect("who asked the machine"));
    assert!(of_the_machine.accept().is_err(), "nobody from inside");
}

/// The control: without isolation another sandbox does reach it.
#[tokio::test]
async fn without_isolation_everybody_on_the_machine_reaches_it() {
    let provider = process();
    let (room, other) = (Room::open(&provider).await, Room::open(&provider).await);
    let (listener, port) = listen(&room).await;
    let script = say("neighbour", port);
    let answer = async { assert_eq!(accept(&listener).await.1, "neighbour") };
    tokio::join!(other.says(&script), answer);
}

#[tokio::test]
async fn it_can_be_asked_for_so_often_and_no_more() {
    let room = Room::open(&*confined()).await;
    let mut held = Vec::new();
    for _ in 0..16 {
        held.push(listen(&room).await);
    }
    let refused = in_time(room.sandbox.listen()).await.expect_err("one too many").to_string();
    assert!(refused.contains("16 were asked for already"), "{refused}");
    assert_eq!(room.bash("true").await.status, Status::Code(0), "the sandbox is fine");
}
