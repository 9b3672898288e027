//! A request costs what was set aside for it: a shorter answer is asked for where less is left, and what would cost otherwise is
//! not sent.

use serde_json::{Value, json};
use windlass_llm::Dialect;
use windlass_llm::gateway::Outcome;

use super::support::{DIALECTS, Desk, Ledger, model, path, post, question, rehearsal, wire};
use crate::support::{Act, TestServer, with_tokio};

const fn limit(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Chat => "max_completion_tokens",
        Dialect::Responses => "max_output_tokens",
        Dialect::Messages => "max_tokens",
    }
}

#[test]
fn what_may_be_answered_is_asked_for_with_what_has_to_be_read() {
    with_tokio(async {
        for (theirs, ours) in DIALECTS.iter().flat_map(|theirs| DIALECTS.map(|ours| (*theirs, ours))) {
            let server = TestServer::start(vec![Act::Say(wire(ours).answer("hi")); 2]).await;
            let ledger = Ledger::open();
            let desk = Desk::over(model(ours, &server.url), &ledger);
            let mut request = question(theirs, "hi", true);
            request[limit(theirs)] = json!(900);
            assert_eq!(desk.ask(theirs, &request).await.status, 200);
            assert_eq!(ledger.asked.lock().expect("no panic")[0].asking.output, 900, "{theirs:?} over {ours:?}");
            assert!(ledger.asked.lock().expect("no panic")[0].asking.input > 0);
        }
    });
}

#[test]
fn an_answer_is_as_short_as_what_is_left_whatever_the_request_says() {
    with_tokio(async {
        for (theirs, ours) in DIALECTS.iter().flat_map(|theirs| DIALECTS.map(|ours| (*theirs, ours))) {
            for said in [None, Some(32_000)] {
                let server = TestServer::start(vec![Act::Say(wire(ours).answer("hi"))]).await;
                let desk = Desk::over(model(ours, &server.url), &Ledger::shortening(300));
                let mut request = question(theirs, "hi", true);
                request.as_object_mut().expect("an object").remove("max_tokens");
                if let Some(said) = said {
                    request[limit(theirs)] = json!(said);
                }
                assert_eq!(desk.ask(theirs, &request).await.status, 200);
                let sent = serde_json::from_str::<Value>(&server.seen()[0].body).expect("JSON");
                let limits = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
                let found = limits.iter().filter_map(|name| sent[*name].as_u64()).collect::<Vec<_>>();
                assert_eq!(found, [300], "{theirs:?} over {ours:?}, {said:?}: {sent}");
            }
        }
    });
}

#[test]
fn what_would_cost_otherwise_is_not_sent_to_anybody() {
    with_tokio(async {
        for (theirs, ours) in DIALECTS.iter().flat_map(|theirs| DIALECTS.map(|ours| (*theirs, ours))) {
            let server = TestServer::start(vec![Act::Say(wire(ours).answer("hi"))]).await;
            let ledger = Ledger::open();
            let desk = Desk::over(model(ours, &server.url), &ledger);
            for (name, value) in [("n", json!(50)), ("background", json!(true)), ("of_tomorrow", json!("x"))] {
                let mut request = question(theirs, "hi", true);
                request[name] = value;
                let answer = desk.ask(theirs, &request).await;
                assert!(answer.status == 400 && answer.body.contains(&format!("`{name}`")), "{answer:?}");
            }
            assert!(server.seen().is_empty() && ledger.opened() == 0, "{theirs:?} over {ours:?}");
            let mut request = question(theirs, "hi", true);
            (request["service_tier"], request["speed"], request["store"]) =
                (json!("priority"), json!("fast"), json!(true));
            assert_eq!(desk.ask(theirs, &request).await.status, 200);
            let sent = serde_json::from_str::<Value>(&server.seen()[0].body).expect("JSON");
            assert!(
                sent["service_tier"].is_null() && sent["speed"].is_null() && sent["store"] != json!(true),
                "{sent}"
            );
        }
        let desk = Desk::over(rehearsal("version: 1\ntracks: { worker: [ { reply: x } ] }"), &Ledger::open());
        let mut request = question(Dialect::Chat, "hi", true);
        request["n"] = json!(2);
        assert_eq!(desk.ask(Dialect::Chat, &request).await.status, 400);
    });
}

#[test]
fn the_dearer_ways_of_an_interface_are_not_asked_for_by_a_header() {
    with_tokio(async {
        let server = TestServer::start(vec![Act::Say(wire(Dialect::Messages).answer("hi"))]).await;
        let desk = Desk::over(model(Dialect::Messages, &server.url), &Ledger::open());
        let body = question(Dialect::Messages, "hi", true).to_string();
        let request = post(path(Dialect::Messages), &body).replacen(
            "\r\n",
            "\r\nanthropic-beta: one,context-1m-2025-08-07,fast-mode-2026-02-01\r\nanthropic-beta: two\r\n",
            1,
        );
        assert_eq!(desk.send(&request).await.status, 200);
        let head = server.seen()[0].head.to_lowercase();
        assert!(head.contains("anthropic-beta: one,two\r\n") && head.matches("anthropic-beta").count() == 1, "{head}");
    });
}

/// Nobody can tell how much of an answer was made that would have come as a whole.
#[test]
fn an_agent_that_goes_before_a_whole_answer_comes_is_charged_for_all_that_was_set_aside() {
    with_tokio(async {
        for (theirs, ours) in [(Dialect::Chat, Dialect::Chat), (Dialect::Messages, Dialect::Chat)] {
            let server = TestServer::start(vec![Act::SayAndFallSilent(String::new())]).await;
            let ledger = Ledger::open();
            let desk = Desk::over(model(ours, &server.url), &ledger);
            let mut request = question(theirs, "hi", false);
            request["max_tokens"] = json!(700);
            let agent = desk.begin(&post(path(theirs), &request.to_string())).await;
            server.asked().await;
            drop(agent);
            let metered = ledger.settles(1).await;
            assert_eq!((metered.outcome, metered.usage.output), (Outcome::Abandoned, 700), "{theirs:?} over {ours:?}");
            assert!(metered.usage.input > 0);
            server.client_hung_up().await;
        }
    });
}

/// It has been read, and may have been answered.
#[test]
fn an_upstream_that_hangs_up_without_a_word_is_charged_for_what_was_sent() {
    with_tokio(async {
        let hang_up = || Act::SayAndHangUp(String::new());
        for ours in DIALECTS {
            let server = TestServer::start((0..6).map(|_| hang_up()).collect()).await;
            let ledger = Ledger::open();
            let desk = Desk::over(model(ours, &server.url), &ledger);
            for theirs in DIALECTS {
                let answer = desk.ask(theirs, &question(theirs, "hi", true)).await;
                assert!(answer.status >= 500, "{answer:?}");
                let metered = ledger.settles(1).await;
                assert!(metered.usage.input > 0 && metered.usage.output == 0, "{theirs:?} over {ours:?}: {metered:?}");
            }
        }
    });
}
