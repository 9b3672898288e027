//! An agent and a server of different languages: what is said arrives, while it is waited for the agent is kept company, and
//! what cannot be said is refused.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_llm::gateway::{GatewayParts, Limits, Outcome};
use windlass_llm::{Dialect, Models, Setup};

use super::support::{Desk, Ledger, heard, is_failed, model, parts, path, post, question, wire};
use crate::support::{Act, TestServer, hasty_setup, http, http_begun, with_tokio};

/// One black pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

#[test]
fn tools_results_pictures_and_the_system_prompt_arrive() {
    with_tokio(async {
        let server = TestServer::start(vec![Act::Say(wire(Dialect::Messages).answer("ok"))]).await;
        let ledger = Ledger::open();
        let setup = Setup { models: Models::built_in().into(), ..hasty_setup() };
        let parts = parts(model(Dialect::Messages, &server.url), &ledger);
        let desk = Desk::start(GatewayParts { model: "claude-sonnet-4-5".into(), setup, ..parts });
        let mut request = question(Dialect::Responses, "", false);
        request["instructions"] = "Be brief.".into();
        request["max_output_tokens"] = 500.into();
        request["input"] = json!([
            {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be kind."}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "look"}, {"type": "input_image", "image_url": format!("data:image/png;base64,{PNG}")}]},
            {"type": "reasoning", "summary": [], "encrypted_content": "theirs"},
            {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{\"path\":\"x\"}"},
            {"type": "function_call_output", "call_id": "c1", "output": "the content"},
        ]);
        let answer = desk.ask(Dialect::Responses, &request).await;
        assert_eq!(heard(Dialect::Responses, &answer.json()).text, "ok");
        let sent: Value = serde_json::from_str(&server.seen()[0].body).expect("JSON");
        assert_eq!((sent["model"].as_str(), sent["max_tokens"].as_u64()), (Some("claude-sonnet-4-5"), Some(500)));
        assert_eq!(sent["system"][0]["text"], "Be brief.\n\nBe kind.");
        assert_eq!(
            (sent["tools"][0]["name"].as_str(), sent["tools"].as_array().map(Vec::len)),
            (Some("read"), Some(1))
        );
        let content = &sent["messages"][0]["content"];
        assert_eq!((content[0]["text"].as_str(), content[1]["source"]["data"].as_str()), (Some("look"), Some(PNG)));
        assert_eq!(sent["messages"][1]["content"][0]["input"], json!({"path": "x"}));
        let result = &sent["messages"][2]["content"][0];
        assert_eq!((result["tool_use_id"].as_str(), result["content"].as_str()), (Some("c1"), Some("the content")));
        assert!(ledger.closed()[0].cost.is_some_and(|cost| !cost.is_zero()), "the price is known");
    });
}

/// Whether the words are passed on or translated.
#[test]
fn another_model_answers_from_the_next_question_on_and_is_priced_as_itself() {
    with_tokio(async {
        for theirs in [Dialect::Messages, Dialect::Chat] {
            let answer = || Act::Say(wire(Dialect::Messages).answer("ok"));
            let server = TestServer::start(vec![answer(), answer()]).await;
            let ledger = Ledger::open();
            let setup = Setup { models: Models::built_in().into(), ..hasty_setup() };
            let parts = parts(model(Dialect::Messages, &server.url), &ledger);
            let desk = Desk::start(GatewayParts { model: "claude-sonnet-4-5".into(), setup, ..parts });
            desk.ask(theirs, &question(theirs, "first", false)).await;
            *ledger.switched.lock().expect("no panic") = Some("claude-opus-4-5".to_owned());
            desk.ask(theirs, &question(theirs, "second", false)).await;
            let sent = |number: usize| {
                let sent: Value = serde_json::from_str(&server.seen()[number].body).expect("JSON");
                sent["model"].as_str().expect("a name").to_owned()
            };
            assert_eq!((sent(0).as_str(), sent(1).as_str()), ("claude-sonnet-4-5", "claude-opus-4-5"), "{theirs:?}");
            let asked: Vec<String> =
                ledger.asked.lock().expect("no panic").iter().map(|asked| asked.model.clone()).collect();
            assert_eq!(asked, ["claude-sonnet-4-5", "claude-opus-4-5"], "{theirs:?}");
            let closed = ledger.closed();
            assert!(closed[1].cost > closed[0].cost, "the dearer one: {closed:?}");
        }
    });
}

#[test]
fn an_agent_that_waits_is_told_so() {
    with_tokio(async {
        for (theirs, ours, sign) in [
            (Dialect::Messages, Dialect::Chat, "event: ping"),
            (Dialect::Chat, Dialect::Messages, ": still thinking"),
            (Dialect::Responses, Dialect::Chat, ": still thinking"),
        ] {
            let events = wire(ours).events("at last");
            let later = format!("{:x}\r\n{events}\r\n0\r\n\r\n", events.len());
            let server = TestServer::start(vec![Act::SayAndFinishLater(http_begun(": hold on\n\n"), later)]).await;
            let ledger = Ledger::open();
            let limits = Limits { ping: Duration::from_millis(5), ..Limits::default() };
            let desk = Desk::start(GatewayParts { limits, ..parts(model(ours, &server.url), &ledger) });
            let mut agent = desk.begin(&post(path(theirs), &question(theirs, "hi", true).to_string())).await;
            agent.hears(sign).await;
            server.finish();
            let answer = agent.rest().await;
            assert!(answer.is_whole && answer.body.contains("at last"), "{answer:?}");
            assert_eq!(ledger.closed()[0].outcome, Outcome::Answered);
        }
    });
}

#[test]
fn a_try_that_nobody_heard_of_is_made_again() {
    with_tokio(async {
        let acts = vec![Act::Say(http(503, "", "")), Act::Say(wire(Dialect::Chat).answer("hello"))];
        let server = TestServer::start(acts).await;
        let ledger = Ledger::open();
        let desk = Desk::over(model(Dialect::Chat, &server.url), &ledger);
        let answer = desk.ask(Dialect::Messages, &question(Dialect::Messages, "hi", true)).await;
        let said = answer
            .events()
            .iter()
            .filter_map(|event| event["delta"]["text"].as_str().map(str::to_owned))
            .collect::<String>();
        assert_eq!((said.as_str(), ledger.closed().len()), ("hello", 1));
    });
}

#[test]
fn words_that_were_heard_are_not_taken_back() {
    with_tokio(async {
        let acts = vec![
            Act::SayAndHangUp(http_begun(&wire(Dialect::Chat).events_cut("the first try"))),
            Act::Say(wire(Dialect::Chat).answer("the second try")),
        ];
        let server = TestServer::start(acts).await;
        let ledger = Ledger::open();
        let desk = Desk::over(model(Dialect::Chat, &server.url), &ledger);
        let answer = desk.ask(Dialect::Messages, &question(Dialect::Messages, "hi", true)).await;
        assert!(answer.body.contains("the first try") && !answer.body.contains("the second try"), "{answer:?}");
        let last = answer.events().pop().expect("events");
        assert_eq!((last["type"].as_str(), last["error"]["type"].as_str()), (Some("error"), Some("overloaded_error")));
        assert!(is_failed(&ledger.closed()[0]));
    });
}

#[test]
fn an_overflow_is_told_in_the_words_that_agents_know() {
    with_tokio(async {
        let error = r#"{"error":{"message":"maximum context length is 8192 tokens","code":"context_length_exceeded"}}"#;
        let server = TestServer::start(vec![Act::Say(http(400, "", error))]).await;
        let desk = Desk::over(model(Dialect::Chat, &server.url), &Ledger::open());
        let answer = desk.ask(Dialect::Messages, &question(Dialect::Messages, "hi", true)).await;
        let told = &answer.json()["error"];
        assert_eq!((answer.status, told["code"].as_str()), (400, Some("context_length_exceeded")));
        assert!(told["message"].as_str().is_some_and(|text| text.starts_with("prompt is too long")), "{told}");
    });
}

#[test]
fn what_cannot_be_said_is_refused_before_it_is_paid_for() {
    with_tokio(async {
        let server = TestServer::start(vec![]).await;
        let ledger = Ledger::open();
        let desk = Desk::over(model(Dialect::Chat, &server.url), &ledger);
        let mut request = question(Dialect::Messages, "hi", true);
        request["mcp_servers"] = json!([{"url": "https://elsewhere"}]);
        let answer = desk.ask(Dialect::Messages, &request).await;
        assert!(answer.status == 400 && answer.body.contains("`mcp_servers`"), "{answer:?}");
        assert!(server.seen().is_empty() && ledger.opened() == 0);
    });
}
