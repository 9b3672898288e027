//! However a request ends, its account is closed once, with what it is known or thought to have used.

#![expect(clippy::disallowed_methods, reason = "an upstream that never stops talking needs a task of its own")]

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use windlass_llm::gateway::{GatewayParts, Limits, Outcome};
use windlass_llm::{Dialect, Metering};

use super::support::{
    AGENT_KEY, DIALECTS, Desk, Ledger, is_failed, model, parts, path, post, question, rehearsal, usage, wire,
};
use crate::support::{Act, TestServer, http, http_begun, with_tokio};

/// Every way from an agent to a server that this speaks.
const WAYS: [(Dialect, Dialect); 4] = [
    (Dialect::Chat, Dialect::Chat),
    (Dialect::Messages, Dialect::Messages),
    (Dialect::Responses, Dialect::Responses),
    (Dialect::Messages, Dialect::Chat),
];

fn asked(dialect: Dialect) -> String {
    post(path(dialect), &question(dialect, "hi", true).to_string())
}

#[test]
fn a_refusal_comes_before_anything_is_sent() {
    with_tokio(async {
        for (theirs, ours) in DIALECTS.iter().flat_map(|theirs| DIALECTS.map(|ours| (*theirs, ours))) {
            let server = TestServer::start(vec![Act::Say(wire(ours).answer("hi"))]).await;
            let ledger = Ledger::refusing("the budget of this execution is spent; finish or ask for more");
            let desk = Desk::over(model(ours, &server.url), &ledger);
            let answer = desk.ask(theirs, &question(theirs, "hi", true)).await;
            assert_eq!(answer.status, 400, "at which every agent stops");
            assert!(
                answer.json()["error"]["message"].as_str().is_some_and(|text| text.contains("budget")),
                "{answer:?}"
            );
            assert!(server.seen().is_empty() && ledger.closed().is_empty());
        }
        let desk =
            Desk::over(rehearsal("version: 1\ntracks: { worker: [ { reply: x } ] }"), &Ledger::refusing("stopped"));
        let answer = desk.ask(Dialect::Chat, &question(Dialect::Chat, "hi", true)).await;
        assert_eq!((answer.status, answer.json()["error"]["message"].as_str()), (400, Some("stopped")));
    });
}

#[test]
fn a_whole_answer_is_paid_for_as_it_says() {
    with_tokio(async {
        for (theirs, ours) in WAYS {
            let server = TestServer::start(vec![Act::Say(wire(ours).answer("hello"))]).await;
            let ledger = Ledger::open();
            let desk = Desk::over(model(ours, &server.url), &ledger);
            let answer = desk.send(&asked(theirs)).await;
            assert!(answer.is_whole && answer.body.contains("hello"), "{answer:?}");
            let [metered] = &ledger.closed()[..] else { panic!("one account") };
            assert_eq!(
                (metered.usage, &metered.outcome),
                (usage(7, 3), &Outcome::Answered),
                "{theirs:?} over {ours:?}"
            );
            assert_eq!(metered.metering, Metering::Provider);
        }
    });
}

#[test]
fn the_bill_is_settled_before_the_agent_hears_the_end() {
    with_tokio(async {
        for (theirs, ours) in WAYS {
            // All is said, but the connection stays as it is.
            let server = TestServer::start(vec![Act::SayAndFallSilent(http_begun(&wire(ours).events("hello")))]).await;
            let ledger = Ledger::open();
            let desk = Desk::over(model(ours, &server.url), &ledger);
            let mut agent = desk.begin(&asked(theirs)).await;
            agent
                .hears(match theirs {
                    Dialect::Chat => "[DONE]",
                    Dialect::Responses => "response.completed",
                    Dialect::Messages => "message_stop",
                })
                .await;
            assert_eq!(ledger.closed().len(), 1, "{theirs:?} over {ours:?}");
            drop(agent);
            server.client_hung_up().await;
            assert_eq!(ledger.closed()[0].outcome, Outcome::Answered, "{theirs:?} over {ours:?}");
        }
    });
}

#[test]
fn an_error_of_upstreams_costs_nothing() {
    with_tokio(async {
        for (theirs, ours) in WAYS {
            let error = r#"{"error":{"message":"bad tool schema"}}"#;
            let server = TestServer::start(vec![Act::Say(http(422, "", error))]).await;
            let ledger = Ledger::open();
            let desk = Desk::over(model(ours, &server.url), &ledger);
            let answer = desk.send(&asked(theirs)).await;
            assert!((400..500).contains(&answer.status) && answer.body.contains("bad tool schema"), "{answer:?}");
            let [metered] = &ledger.closed()[..] else { panic!("one account") };
            assert!(is_failed(metered) && metered.usage.is_zero(), "{theirs:?} over {ours:?}: {metered:?}");
        }
    });
}

#[test]
fn an_upstream_that_is_not_there_costs_nothing() {
    with_tokio(async {
        // A port that was free a moment ago.
        let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound").port();
        for (theirs, ours) in WAYS {
            let ledger = Ledger::open();
            let desk = Desk::over(model(ours, &format!("http://127.0.0.1:{port}")), &ledger);
            let answer = desk.send(&asked(theirs)).await;
            assert!(answer.status == 503 && answer.body.contains("cannot be reached"), "{answer:?}");
            let [metered] = &ledger.closed()[..] else { panic!("one account") };
            assert!(is_failed(metered) && metered.usage.is_zero(), "{metered:?}");
        }
    });
}

#[test]
fn an_upstream_that_dies_in_the_middle_has_been_worked_with() {
    with_tokio(async {
        for (theirs, ours) in WAYS {
            let begun = http_begun(&wire(ours).events_cut("half of it"));
            let server = TestServer::start(vec![Act::SayAndHangUp(begun)]).await;
            let ledger = Ledger::open();
            let desk = Desk::over(model(ours, &server.url), &ledger);
            let answer = desk.send(&asked(theirs)).await;
            assert!(answer.body.contains("half of it"), "{answer:?}");
            if theirs == ours {
                assert!(!answer.is_whole, "nobody takes it for all: {answer:?}");
            } else {
                assert!(answer.body.contains("event: error") && !answer.body.contains("message_stop"), "{answer:?}");
            }
            let [metered] = &ledger.closed()[..] else { panic!("one account") };
            assert!(
                is_failed(metered) && metered.usage.input > 0 && metered.usage.output > 0,
                "{theirs:?}: {metered:?}"
            );
        }
    });
}

#[test]
fn an_agent_that_goes_in_the_middle_takes_the_request_with_it() {
    with_tokio(async {
        for (theirs, ours) in WAYS {
            let begun = http_begun(&wire(ours).events_cut("half of it"));
            let server = TestServer::start(vec![Act::SayAndFallSilent(begun)]).await;
            let ledger = Ledger::open();
            let desk = Desk::over(model(ours, &server.url), &ledger);
            let mut agent = desk.begin(&asked(theirs)).await;
            agent.hears("half of it").await;
            assert!(ledger.closed().is_empty());
            drop(agent);
            let metered = ledger.settles(1).await;
            assert_eq!(metered.outcome, Outcome::Abandoned, "{theirs:?} over {ours:?}");
            assert!(metered.usage.input > 0 && metered.usage.output > 0, "{metered:?}");
            server.client_hung_up().await;
        }
    });
}

#[test]
fn an_agent_that_goes_before_the_answer_begins_is_charged_for_what_was_read() {
    with_tokio(async {
        for (theirs, ours) in WAYS {
            let server = TestServer::start(vec![Act::SayAndFallSilent(String::new())]).await;
            let ledger = Ledger::open();
            let desk = Desk::over(model(ours, &server.url), &ledger);
            let agent = desk.begin(&asked(theirs)).await;
            server.asked().await;
            drop(agent);
            let metered = ledger.settles(1).await;
            assert_eq!((metered.outcome, metered.usage.output), (Outcome::Abandoned, 0));
            assert!(metered.usage.input > 0, "{theirs:?} over {ours:?}");
            server.client_hung_up().await;
        }
    });
}

#[test]
fn an_agent_that_goes_while_the_meter_thinks_loses_no_ticket() {
    with_tokio(async {
        let server = TestServer::start(vec![Act::SayAndFallSilent(String::new())]).await;
        let ledger = Ledger::hesitating();
        let desk = Desk::over(model(Dialect::Chat, &server.url), &ledger);
        let mut agent = desk.begin(&asked(Dialect::Chat)).await;
        ledger.arrived.acquire().await.expect("never closed").forget();
        // Once the gateway has hung up, it has seen that nobody waits.
        agent.stream.shutdown().await.expect("it was open");
        assert_eq!(agent.rest().await.status, 0);
        ledger.go_on();
        assert_eq!(ledger.settles(1).await.outcome, Outcome::Abandoned);
        assert_eq!((ledger.opened(), ledger.closed().len()), (1, 1));
        assert!(server.seen().is_empty(), "nobody wants to know");
    });
}

#[test]
fn a_gateway_that_is_taken_away_closes_what_is_open() {
    with_tokio(async {
        for (theirs, ours) in WAYS {
            let begun = http_begun(&wire(ours).events_cut("half of it"));
            let server = TestServer::start(vec![Act::SayAndFallSilent(begun)]).await;
            let ledger = Ledger::open();
            let desk = Desk::over(model(ours, &server.url), &ledger);
            let mut agent = desk.begin(&asked(theirs)).await;
            agent.hears("half of it").await;
            desk.close();
            assert_eq!(ledger.settles(1).await.outcome, Outcome::Abandoned, "{theirs:?} over {ours:?}");
            assert!(!agent.rest().await.is_whole);
            server.client_hung_up().await;
        }
    });
}

#[test]
fn an_agent_that_does_not_read_is_not_waited_for() {
    with_tokio(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.expect("the gateway");
            let portion = http_begun(&wire(Dialect::Chat).events_cut(&"words ".repeat(2_000)));
            let (head, chunk) = portion.split_once("\r\n\r\n").expect("a head");
            let _ = stream.write_all(format!("{head}\r\n\r\n").as_bytes()).await;
            // For as long as anybody listens.
            while stream.write_all(chunk.as_bytes()).await.is_ok() {}
        });
        let ledger = Ledger::open();
        let limits = Limits { stalled: Duration::from_millis(30), ..Limits::default() };
        let desk = Desk::start(GatewayParts { limits, ..parts(model(Dialect::Chat, &url), &ledger) });
        let _agent = desk.begin(&asked(Dialect::Chat)).await;
        let metered = ledger.settles(1).await;
        assert_eq!(metered.outcome, Outcome::Abandoned);
        assert!(metered.usage.output > 0 && !format!("{metered:?}").contains(AGENT_KEY));
    });
}
