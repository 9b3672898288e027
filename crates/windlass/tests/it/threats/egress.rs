//! Data that leaves: where a command can reach the network, one that runs after something external was read needs an answer;
//! where hosts are listed, nothing else is reached. The far end is a listener of the test's own.

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

/// Asks for the listener by the proxy that the variables name, and says in a file how that went.
const ASKER: &str = r#"use IO::Socket::INET;
my ($proxy) = ($ENV{http_proxy} // '') =~ m{^http://(.*)$} or exit 1;
my $way = IO::Socket::INET->new(PeerAddr => $proxy) or exit 1;
print $way "CONNECT 127.0.0.1:$ARGV[0] HTTP/1.1\r\n\r\n";
my $said = <$way>;
open F, '>', $said =~ / 200 / ? 'made' : 'refused';
exit($said =~ / 200 / ? 0 : 1);
"#;

/// The same, with leave to reach the listener, or something else.
fn scene_with_list(commands: &[&str], list: &str) -> (Home, TcpListener) {
    let (home, listener) = scene_with_listener(commands);
    let port = listener.local_addr().expect("an address").port().to_string();
    home.write("ask.pl", ASKER);
    let list = list.replace("PORT", &port);
    put_data(&home, "windlass.toml", &format!("[sandbox]\nnetwork = \"restricted\"\nallowed_hosts = [\"{list}\"]\n"));
    (home, listener)
}

#[test]
fn only_what_is_listed_is_reached_and_only_by_the_proxy() {
    let (home, listener) = scene_with_list(&["perl ask.pl PORT || true"], "example.com");
    home.run(&[]).run().expect(0);
    assert!(!was_reached(&listener) && home.workspace().join("refused").exists());

    let (home, listener) = scene_with_list(&["perl send.pl PORT || touch refused"], "127.0.0.1:PORT");
    home.run(&[]).run().expect(0);
    assert!(!was_reached(&listener) && home.workspace().join("refused").exists(), "past the proxy");

    let (home, listener) = scene_with_list(&["perl ask.pl PORT"], "127.0.0.1:PORT");
    home.run(&[]).run().expect(0);
    assert!(was_reached(&listener) && home.workspace().join("made").exists(), "the control");
}

/// What was refused is told to the operator, once for each host, with how often.
#[test]
fn what_was_refused_is_in_the_log_and_in_the_audit() {
    const TWICE: [&str; 1] = ["perl ask.pl PORT || true; perl ask.pl PORT || true"];
    let told = |list: &str| {
        let (home, listener) = scene_with_list(&TWICE, list);
        let place = listener.local_addr().expect("an address").to_string();
        home.run(&[]).run().expect(0);
        let audit = home.windlass(&["audit", "show", "--json", "--type", "gate_block"]).run().expect(0).objects();
        let refused = audit.into_iter().filter(|event| event["decision"] == "egress refused");
        let times: Vec<u64> = refused.filter_map(|event| event["details"]["times"].as_u64()).collect();
        let log = home.windlass(&["log"]).run().expect(0).stdout;
        let lines = log.lines().filter(|line| line.contains("not reached") && line.contains(&place)).count();
        (times, lines)
    };
    assert_eq!(told("example.com"), (vec![2], 1));
    assert_eq!(told("127.0.0.1:PORT"), (vec![], 0), "the twin");
}

/// A listed host takes whatever it is sent: what was read from outside is not sent there unasked either.
#[test]
fn a_list_of_hosts_is_no_leave_for_what_came_from_outside() {
    let (home, listener) = scene_with_list(&["cat harmless.txt", "perl ask.pl PORT"], "127.0.0.1:PORT");
    home.run(&[]).run().expect(3);
    let waiting = cards(&home);
    assert_eq!((waiting.len(), &waiting[0]["details"]["taint"]), (1, &"external".into()));
    assert!(!was_reached(&listener));
}

/// An agent writes what a check runs, and nobody looks at it in between.
#[test]
fn a_check_reaches_nothing() {
    let (home, listener) = scene_with_list(&["perl ask.pl PORT"], "127.0.0.1:PORT");
    let port = listener.local_addr().expect("an address").port();
    let check = format!("command: perl ask.pl {port}");
    home.run(&["--max-attempts", "1", "--base-case", &check]).run().expect(1);
    assert!(was_reached(&listener) && !was_reached(&listener), "by the agent, once, and by nobody else");
}
