//! Terminals over a WebSocket, by the real binary and a client of somebody else's make: who sees, who types, and who does not come in.

use std::net::TcpStream;

use rustix::process::Signal;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, HandshakeError, Message, WebSocket, client};

use super::screens::home;
use super::serving::{Served, begun, token};
use crate::support::{Answer, Home, connect, none_left};

const PROTOCOL: &str = "windlass.terminal.v1";

/// A server that works, and an agent on a screen.
pub fn on_screen(home: &Home) -> (Served, String) {
    let script = home.script();
    let words = ["serve", "--listen", "127.0.0.1:0", "--drain", "1", "--rehearsal"];
    let words = [&words[..], &[script.to_str().expect("a plain path")]].concat();
    let agents = home.path().join("agents");
    let program = home.windlass(&words).env("WINDLASS_AGENTS", agents.to_str().expect("a plain path"));
    let served = begun(home, program);
    let wanted = json!({"goal": "Do it", "agent": "claude-code", "terminal": true, "limits": {"max_attempts": 1}});
    served.post("/v1/tasks", &wanted).expect(202);
    while open_sockets(home) == 0 {
        std::thread::yield_now();
    }
    let listed = served.get("/v1/terminals").expect(200).json();
    let execution = listed["terminals"][0]["execution_id"].as_str().expect("it is listed").to_owned();
    (served, execution)
}

fn open_sockets(home: &Home) -> usize {
    let entries = std::fs::read_dir(home.data().join("terminals")).into_iter().flatten();
    entries.filter(|entry| entry.as_ref().is_ok_and(|entry| entry.path().extension() == Some("sock".as_ref()))).count()
}

struct Viewer {
    socket: WebSocket<TcpStream>,
    hello: Value,
    size: Value,
    seen: String,
}

impl Viewer {
    fn attach(served: &Served, execution: &str, headers: &[(&'static str, &str)]) -> Result<Self, StatusCode> {
        let url = format!("ws://{}/v1/executions/{execution}/terminal/attach", served.address);
        let mut request = url.into_client_request().expect("a request");
        for (name, value) in headers {
            request.headers_mut().append(*name, value.parse().expect("a header"));
        }
        match client(request, connect(&served.address)) {
            Ok((socket, _)) => {
                let mut viewer = Self { socket, hello: Value::Null, size: Value::Null, seen: String::new() };
                viewer.hello = viewer.told("hello");
                Ok(viewer)
            }
            Err(HandshakeError::Failure(Error::Http(response))) => Err(response.status()),
            Err(error) => panic!("{error:?}"),
        }
    }

    fn bearing(served: &Served, execution: &str, token: &str) -> Self {
        let bearer = format!("Bearer {token}");
        Self::attach(served, execution, &[("authorization", &bearer)]).expect("it is shown")
    }

    /// What is told next, with what is painted before it.
    fn next(&mut self) -> Result<Value, (CloseCode, String)> {
        loop {
            match self.socket.read().expect("a message") {
                Message::Binary(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Message::Text(text) => {
                    let told: Value = serde_json::from_str(&text).expect("JSON");
                    if told["type"] == "size" {
                        self.size = told.clone();
                    }
                    return Ok(told);
                }
                Message::Close(frame) => {
                    let frame = frame.expect("a reason");
                    return Err((frame.code, frame.reason.to_string()));
                }
                _ => {}
            }
        }
    }

    fn told(&mut self, kind: &str) -> Value {
        loop {
            match self.next() {
                Ok(told) if told["type"] == kind => return told,
                Ok(_) => {}
                Err(end) => panic!("{end:?} and no {kind}; {:?}", self.seen),
            }
        }
    }

    fn sees(&mut self, wanted: &str) {
        while !self.seen.contains(wanted) {
            match self.socket.read().expect("a message") {
                Message::Binary(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Message::Close(frame) => panic!("{frame:?} and no {wanted}; {:?}", self.seen),
                _ => {}
            }
        }
    }

    fn types(&mut self, words: &str) {
        self.socket.send(Message::binary(words.as_bytes().to_vec())).expect("it is heard");
    }

    fn says(&mut self, words: &Value) {
        self.socket.send(Message::text(words.to_string())).expect("it is heard");
    }

    fn end(mut self) -> (CloseCode, String) {
        loop {
            if let Err(end) = self.next() {
                return end;
            }
        }
    }
}

#[test]
fn several_see_a_terminal_and_those_who_may_type_into_it() {
    let home = home();
    let (served, execution) = on_screen(&home);
    let reader = token(&home, "reader", &["--scope", "read"]);
    let mut first = Viewer::bearing(&served, &execution, &served.token);
    let mut second = Viewer::bearing(&served, &execution, &reader);
    assert_eq!((&first.hello["may_type"], &second.hello["may_type"]), (&json!(true), &json!(false)));
    assert_eq!(first.hello["execution_id"], execution);
    for viewer in [&mut first, &mut second] {
        viewer.told("caught_up");
        assert_eq!(viewer.size, json!({"type": "size", "cols": 120, "rows": 40}), "as nobody has said a room");
        viewer.sees("READY 40 120");
    }
    first.types("a word\n");
    first.sees("heard a word");
    second.sees("heard a word");

    // Who may only look changes nothing.
    second.types("not heard\n");
    assert!(second.told("refused")["detail"].as_str().is_some_and(|detail| detail.contains("`terminal`")));
    second.says(&json!({"type": "resize", "cols": 20, "rows": 5}));
    second.told("refused");
    first.says(&json!({"type": "resize", "cols": 90, "rows": 25}));
    assert_eq!(second.told("size"), json!({"type": "size", "cols": 90, "rows": 25}));
    first.types("size\n");
    first.sees("SIZE 25 90");

    // What they see is in the screen that anybody may ask for, and what was refused is not.
    let screen = served.get(&format!("/v1/executions/{execution}/terminal")).expect(200).json();
    assert_eq!((&screen["alive"], &screen["size"]), (&json!(true), &json!({"cols": 90, "rows": 25})));
    let lines = screen["screen"].to_string();
    assert!(lines.contains("heard a word") && !lines.contains("not heard"), "{lines}");

    // Somebody who comes late sees what has scrolled away, too.
    for number in 0..30 {
        first.types(&format!("line {number}\n"));
    }
    first.sees("heard line 29");
    let mut late = Viewer::bearing(&served, &execution, &reader);
    late.told("caught_up");
    assert!(late.seen.contains("READY") && late.seen.contains("heard line 29"), "{:?}", late.seen);
    drop(late);

    first.types("quit\n");
    assert_eq!(first.told("ended")["how"], "it exited with 0");
    assert_eq!(first.end().0, CloseCode::Normal);
    assert_eq!(second.end().0, CloseCode::Normal);
    let recorded = served.get(screen["recording"].as_str().expect("a path")).expect(200);
    assert_eq!(recorded.header("content-type"), Some("application/x-asciicast"));
    assert!(recorded.body.contains("\"version\":2") && recorded.body.contains("bye now"), "{}", recorded.body);
    // It is among those that can be looked at afterwards, by whoever's it is.
    let list = served.get("/v1/recordings").expect(200).json();
    assert_eq!((&list["recordings"][0]["recording"], &list["next"]), (&screen["recording"], &json!(null)), "{list}");
    assert_eq!(served.get(&format!("/v1/executions/{execution}")).expect(200).json()["recorded"], true);
    let stranger = token(&home, "stranger", &["--scope", "read", "--tenant", "other"]);
    let theirs = served.ask_as(&stranger, "GET", "/v1/recordings?limit=1", &[], "").expect(200).json();
    assert_eq!(theirs, json!({"recordings": [], "next": null}));
    served.end();
    none_left(&home);
}

#[test]
fn nobody_looks_at_a_terminal_who_may_not() {
    let home = home();
    let (served, execution) = on_screen(&home);
    let bearer = |token: &str| format!("Bearer {token}");
    let attach = |headers: &[(&'static str, &str)]| Viewer::attach(&served, &execution, headers).map(drop);
    let ours = bearer(&served.token);
    let scopeless = bearer(&token(&home, "scopeless", &["--scope", "terminal"]));
    let foreign = bearer(&token(&home, "foreign", &["--scope", "read,terminal", "--tenant", "other"]));

    // The control: this very request comes in.
    attach(&[("authorization", &ours)]).expect("it is shown");
    assert_eq!(attach(&[]), Err(StatusCode::UNAUTHORIZED));
    assert_eq!(attach(&[("authorization", &scopeless)]), Err(StatusCode::FORBIDDEN));
    assert_eq!(attach(&[("authorization", &foreign)]), Err(StatusCode::NOT_FOUND));
    assert_eq!(
        served.ask_as(&foreign["Bearer ".len()..], "GET", "/v1/terminals", &[], "").json()["terminals"],
        json!([])
    );
    for page in ["http://evil.example", "null"] {
        assert_eq!(attach(&[("authorization", &ours), ("origin", page)]), Err(StatusCode::FORBIDDEN), "{page}");
    }
    let own = format!("http://{}", served.address);
    attach(&[("authorization", &ours), ("origin", &own)]).expect("a page of ours");
    let by_address = format!("{execution}/terminal/attach?token={}#", served.token);
    assert_eq!(Viewer::attach(&served, &by_address, &[]).map(drop), Err(StatusCode::UNAUTHORIZED));
    let plain: Answer = served.get(&format!("/v1/executions/{execution}/terminal/attach"));
    assert_eq!(plain.status, 426);
    served.end();
}

#[test]
fn a_browser_comes_in_with_a_ticket_once_and_from_our_page_alone() {
    let home = home();
    let (served, execution) = on_screen(&home);
    let own = format!("http://{}", served.address);
    let path = format!("/v1/executions/{execution}/terminal/ticket");
    let given = || {
        let given = served.ask_as(&served.token, "POST", &path, &[("Idempotency-Key", "one")], "").expect(201).json();
        format!("{PROTOCOL}, {}", given["protocol"].as_str().expect("a ticket"))
    };
    let attach = |protocols: &str, origin: &str| {
        Viewer::attach(&served, &execution, &[("sec-websocket-protocol", protocols), ("origin", origin)])
    };
    let ticket = given();
    assert!(!ticket.contains(&served.token));
    assert_eq!(attach(&ticket, "http://evil.example").map(drop), Err(StatusCode::FORBIDDEN));
    let mut viewer = attach(&ticket, &own).expect("it is shown, and nobody else had spent it");
    viewer.types("by ticket\n");
    viewer.sees("heard by ticket");
    assert_eq!(attach(&ticket, &own).map(drop), Err(StatusCode::UNAUTHORIZED), "once");
    assert_eq!(attach(PROTOCOL, &own).map(drop), Err(StatusCode::UNAUTHORIZED));
    let other = given().replace(PROTOCOL, "another");
    assert_eq!(attach(&other, &own).map(drop), Err(StatusCode::BAD_REQUEST), "the protocol is none of ours");
    // A ticket is good for nothing else.
    let bare = given().replace(&format!("{PROTOCOL}, ticket."), "");
    served.ask_as(&bare, "GET", "/v1/tasks", &[], "").expect(401);

    // It is good for no more than its token.
    let passing = token(&home, "passing", &["--scope", "read,terminal"]);
    let taken = served.ask_as(&passing, "POST", &path, &[], "").expect(201).json();
    let taken = format!("{PROTOCOL}, {}", taken["protocol"].as_str().expect("a ticket"));
    let mut theirs = Viewer::bearing(&served, &execution, &passing);
    home.windlass(&["token", "revoke", "passing"]).run().expect(0);
    assert_eq!(attach(&taken, &own).map(drop), Err(StatusCode::UNAUTHORIZED));
    theirs.types("too late\n");
    assert_eq!(theirs.end(), (CloseCode::Policy, "the token is good for nothing any more".to_owned()));
    served.end();
}

/// Pings are far apart: it is not by them that it is noticed.
#[test]
fn whoever_only_looks_is_let_go_when_their_token_is_taken_back() {
    let home = home();
    let (served, execution) = on_screen(&home);
    let passing = token(&home, "passing", &["--scope", "read"]);
    let mut theirs = Viewer::bearing(&served, &execution, &passing);
    theirs.told("caught_up");
    home.windlass(&["token", "revoke", "passing"]).run().expect(0);
    loop {
        match theirs.socket.read().expect("a message") {
            Message::Ping(_) => panic!("it was not noticed before"),
            Message::Close(frame) => break assert_eq!(frame.expect("why").code, CloseCode::Policy),
            _ => {}
        }
    }
    served.end();
}

#[test]
fn nonsense_is_not_listened_to_and_a_drain_tells_everybody() {
    let home = home();
    let (mut served, execution) = on_screen(&home);
    let attach = || Viewer::bearing(&served, &execution, &served.token);
    let mut viewer = attach();
    viewer.says(&json!({"type": "dance"}));
    assert_eq!(viewer.end().0, CloseCode::Unsupported);
    let mut viewer = attach();
    viewer.types(&"x".repeat((64 << 10) + 1));
    assert_eq!(viewer.end().0, CloseCode::Size);
    let mut viewer = attach();
    viewer.told("caught_up");
    served.running.signal(Signal::TERM);
    served.running.wait_for(|line| line.contains("takes nothing new"));
    assert_eq!(viewer.end(), (CloseCode::Away, "the server ends; come back".to_owned()));
    served.running.end();
}
