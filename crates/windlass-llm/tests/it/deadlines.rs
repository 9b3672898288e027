//! Servers that say nothing. They would keep silent for ever, so however slow the machine, only the deadline can end it.

use std::time::Duration;

use windlass_llm::{Deadlines, Error, Setup};

use crate::support::{Act, TestServer, WIRES, Wire, ask, hasty_setup, http_begun, opening, user, with_tokio};

const SHORT: Duration = Duration::from_millis(30);
const LONG: Duration = Duration::from_secs(300);

fn reason(wire: Wire, said: &str, deadlines: Deadlines) -> String {
    with_tokio(async {
        let server = TestServer::start(vec![Act::SayAndFallSilent(said.to_owned()); 4]).await;
        let setup = Setup { deadlines, ..hasty_setup() };
        let mut chat = wire.provider(&server.url, setup).expect("a good address").open(opening("system"));
        chat.push(&user("go"));
        let error = ask(&mut *chat, 0).await.0.expect_err("nothing comes");
        server.client_hung_up().await;
        assert_eq!(server.seen().len(), 4);
        match error {
            Error::Unavailable { tries: 4, reason, .. } => reason,
            other => panic!("{other:?}"),
        }
    })
}

#[test]
fn a_server_that_takes_the_request_and_says_nothing() {
    for wire in WIRES {
        let deadlines = Deadlines { connect: LONG, first_byte: SHORT, idle: LONG, total: LONG };
        assert!(reason(wire, "", deadlines).contains("did not begin to answer"));
    }
}

#[test]
fn a_stream_that_stalls() {
    for wire in WIRES {
        let deadlines = Deadlines { connect: LONG, first_byte: LONG, idle: SHORT, total: LONG };
        assert!(reason(wire, &http_begun(": ping\n\n"), deadlines).contains("fell silent"));
    }
}

#[test]
fn an_answer_that_takes_too_long_as_a_whole() {
    for wire in WIRES {
        let deadlines = Deadlines { connect: LONG, first_byte: LONG, idle: LONG, total: SHORT };
        assert!(reason(wire, &http_begun(": ping\n\n"), deadlines).contains("did not come to the end"));
    }
}
