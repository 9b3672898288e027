//! Data that leaves: where nothing keeps a command from the network, one that runs after something external was read needs an
//! answer. The far end is a listener of the test's own.

use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;

use super::trial::{asking_for, cards, put_data, scene};
use crate::support::Home;

const UNCONFINED: [&str; 3] = ["--sandbox", "process", "--no-isolation"];
const SENDER: &str = "use IO::Socket::INET; IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $ARGV[0]) or die; open F, '>made';\n";

/// A home whose agent does this, `PORT` being the listener's.
fn scene_with_listener(commands: &[&str]) -> (Home, TcpListener) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a flag");
    let port = listener.local_addr().expect("an address").port().to_string();
    let commands: Vec<String> = commands.iter().map(|command| command.replace("PORT", &port)).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    let home = scene("");
    fs::write(home.script(), asking_for(&commands)).expect("written");
    home.write("send.pl", SENDER);
    (home, listener)
}

fn was_reached(listener: &TcpListener) -> bool {
    match listener.accept() {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::WouldBlock, "{error}");
            false
        }
    }
}

#[test]
fn a_context_that_has_read_from_outside_sends_nothing_unasked() {
    let (home, listener) = scene_with_listener(&["cat harmless.txt", "perl send.pl PORT"]);
    home.run(&UNCONFINED).run().expect(3);
    let waiting = cards(&home);
    assert_eq!((waiting.len(), &waiting[0]["details"]["taint"]), (1, &"external".into()));
    assert!(!was_reached(&listener));

    let (home, listener) = scene_with_listener(&["perl send.pl PORT"]);
    home.run(&UNCONFINED).run().expect(0);
    assert!(was_reached(&listener), "without anything external in the context it is sent");

    let (home, listener) = scene_with_listener(&["cat harmless.txt", "cat harmless.txt > made"]);
    home.run(&[]).run().expect(0);
    assert!(!was_reached(&listener) && home.workspace().join("made").exists(), "a sandbox without network asks nobody");
}

#[test]
fn a_shell_s_own_connections_are_asked_about() {
    const SEND: [&str; 1] = ["echo secret > /dev/tcp/127.0.0.1/PORT"];
    let (home, listener) = scene_with_listener(&SEND);
    home.run(&UNCONFINED).run().expect(3);
    assert!(!was_reached(&listener));

    let (home, listener) = scene_with_listener(&SEND);
    put_data(&home, "risk.toml", "[shell]\noutside = \"medium\"\n");
    home.run(&UNCONFINED).run().expect(0);
    assert!(was_reached(&listener));

    let (home, listener) = scene_with_listener(&["echo secret > made"]);
    home.run(&UNCONFINED).run().expect(0);
    assert!(!was_reached(&listener) && home.workspace().join("made").exists());
}

/// The sandbox is the wall behind the rule: with the rule off, nothing arrives all the same.
#[test]
fn from_the_sandbox_nothing_arrives() {
    let (home, listener) = scene_with_listener(&["perl send.pl PORT || touch refused"]);
    home.run(&[]).run().expect(0);
    assert!(!was_reached(&listener) && home.workspace().join("refused").exists());
}
