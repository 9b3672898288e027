//! An agent and a server of one language: the bytes of both go through, but for the model, the credential and the bill.

use serde_json::json;
use windlass_llm::gateway::Outcome;
use windlass_llm::{Dialect, Metering};

use super::support::{AGENT_KEY, DIALECTS, Desk, Ledger, model, path, post_with, question, usage, wire};
use crate::support::{Act, KEY, TestServer, http, with_tokio};

#[test]
fn what_goes_up_is_the_agents_request_under_our_name_and_with_our_key() {
    with_tokio(async {
        for dialect in DIALECTS {
            let server = TestServer::start(vec![Act::Say(wire(dialect).answer("hi"))]).await;
            let desk = Desk::over(model(dialect, &server.url), &Ledger::open());
            let body = r#"{"metadata" : [1.50, {"model":"inner"}] ,"model":"dear-model","stream":true,"stream_options":{"include_usage":true},"tools":[],"temperature":1.0}"#;
            let headers = format!(
                "authorization: Bearer {AGENT_KEY}\r\nx-api-key: {AGENT_KEY}\r\nanthropic-beta: one,two\r\nanthropic-version: 2023-06-01\r\n\
                 cookie: secret=1\r\nuser-agent: their-agent\r\nx-session-id: 7\r\naccept-encoding: gzip\r\n"
            );
            assert_eq!(desk.send(&post_with(path(dialect), &headers, body)).await.status, 200);
            let [seen] = &server.seen()[..] else { panic!("one request") };
            let expect = r#"{"model":"rehearsal/worker","metadata":[1.50, {"model":"inner"}],"stream":true,"stream_options":{"include_usage":true},"tools":[],"temperature":1.0}"#;
            assert_eq!(seen.body, expect, "{dialect:?}");
            let head = seen.head.to_lowercase();
            assert!(
                head.contains(KEY)
                    && head.contains("anthropic-beta: one,two")
                    && head.contains("user-agent: windlass/"),
                "{head}"
            );
            for theirs in [AGENT_KEY, "cookie", "their-agent", "x-session-id", "accept-encoding"] {
                assert!(!head.contains(theirs), "{theirs} in {head}");
            }
        }
    });
}

#[test]
fn what_comes_down_is_the_servers_answer() {
    with_tokio(async {
        for dialect in DIALECTS {
            let server = TestServer::start(vec![Act::Say(http(
                200,
                "content-type: text/event-stream; charset=utf-8\r\nrequest-id: r-7\r\nset-cookie: a=b\r\n",
                &wire(dialect).events("hello – ä"),
            ))])
            .await;
            let desk = Desk::over(model(dialect, &server.url), &Ledger::open());
            let answer = desk.ask(dialect, &question(dialect, "hi", true)).await;
            assert_eq!((answer.body, answer.is_whole), (wire(dialect).events("hello – ä"), true));
            assert!(answer.head.contains("content-type: text/event-stream; charset=utf-8"), "{}", answer.head);
            assert_eq!(answer.head.matches("content-type").count(), 1, "{}", answer.head);
            assert!(answer.head.contains("request-id: r-7") && !answer.head.contains("cookie"), "{}", answer.head);
        }
    });
}

#[test]
fn a_bill_that_nobody_asked_for_is_read_and_not_passed_on() {
    with_tokio(async {
        let server = TestServer::start(vec![Act::Say(wire(Dialect::Chat).answer("hello"))]).await;
        let ledger = Ledger::open();
        let desk = Desk::over(model(Dialect::Chat, &server.url), &ledger);
        let mut request = question(Dialect::Chat, "hi", true);
        request["stream_options"] = json!(null);
        let answer = desk.ask(Dialect::Chat, &request).await;
        assert!(
            answer.body.contains("hello") && answer.body.contains("[DONE]") && !answer.body.contains("usage"),
            "{answer:?}"
        );
        assert!(server.seen()[0].body.contains(r#""stream_options":{"include_usage":true}"#));
        let metered = ledger.closed().remove(0);
        assert_eq!((metered.usage, metered.metering), (usage(7, 3), Metering::Provider));
    });
}

#[test]
fn an_answer_without_a_bill_is_estimated() {
    with_tokio(async {
        let events = "data: {\"choices\":[{\"delta\":{\"content\":\"hello there\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        let server = TestServer::start(vec![Act::Say(http(200, "", events))]).await;
        let ledger = Ledger::open();
        let desk = Desk::over(model(Dialect::Chat, &server.url), &ledger);
        assert_eq!(desk.ask(Dialect::Chat, &question(Dialect::Chat, "hi", true)).await.body, events);
        let metered = ledger.closed().remove(0);
        let asked = ledger.asked.lock().expect("no panic")[0].clone();
        assert_eq!((metered.usage, metered.metering), (usage(asked.asking.input, 4), Metering::Estimated));
        assert_eq!(metered.outcome, Outcome::Answered);
    });
}

#[test]
fn no_agent_reaches_outside_by_way_of_its_model() {
    with_tokio(async {
        for dialect in DIALECTS {
            let server = TestServer::start(vec![Act::Say(wire(dialect).answer("hi"))]).await;
            let ledger = Ledger::open();
            let desk = Desk::over(model(dialect, &server.url), &ledger);
            let mut request = question(dialect, "hi", true);
            let search = json!({"type": "web_search_20250305", "name": "web_search"});
            request["tools"].as_array_mut().expect("tools").push(search);
            let answer = desk.ask(dialect, &request).await;
            assert!(answer.status == 400 && answer.body.contains("`web_search_20250305`"), "{answer:?}");
            assert!(server.seen().is_empty() && ledger.opened() == 0);
            // Without it the same request is answered.
            assert_eq!(desk.ask(dialect, &question(dialect, "hi", true)).await.status, 200);
        }
    });
}

#[test]
fn errors_keep_their_status_and_what_to_wait_for() {
    with_tokio(async {
        let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
        let acts = vec![
            Act::Say(http(529, "retry-after: 7\r\ncontent-type: application/json\r\n", error)),
            Act::Say(http(502, "content-type: text/html\r\n", "<html>bad gateway</html>")),
            Act::Say(http(302, "location: http://elsewhere\r\n", "")),
        ];
        let server = TestServer::start(acts).await;
        let desk = Desk::over(model(Dialect::Messages, &server.url), &Ledger::open());
        let request = question(Dialect::Messages, "hi", true);
        let overloaded = desk.ask(Dialect::Messages, &request).await;
        assert_eq!((overloaded.status, overloaded.body.as_str()), (529, error));
        assert!(overloaded.head.contains("retry-after: 7"), "{}", overloaded.head);
        let page = desk.ask(Dialect::Messages, &request).await;
        assert_eq!((page.status, page.json()["error"]["type"].as_str()), (502, Some("api_error")));
        let moved = desk.ask(Dialect::Messages, &request).await;
        assert!(moved.status == 400 && !moved.head.contains("location"), "{moved:?}");
    });
}
