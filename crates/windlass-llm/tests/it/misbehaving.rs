//! The wires against servers that hang up, redirect, refuse, babble and repeat secrets.

use std::task::Poll;

use windlass_domain::{StopReason, Usd};
use windlass_llm::{Ask, Chat, Error, Metering};

use crate::support::{
    Act, Counting, KEY, TestServer, WIRES, Wire, ask, hasty_setup, http, http_begun, opening, streamed, turn, user,
    with_tokio,
};

fn open(wire: Wire, server: &TestServer) -> Box<dyn Chat> {
    let provider = wire.provider(&server.url, hasty_setup()).expect("a good address");
    let mut chat = provider.open(opening("system"));
    chat.push(&user("go"));
    chat
}

/// One call against a server that does these things.
fn call(wire: Wire, acts: Vec<Act>) -> (Result<windlass_llm::Response, Error>, String, Vec<crate::support::Seen>) {
    with_tokio(async {
        let server = TestServer::start(acts).await;
        let (result, seen) = ask(&mut *open(wire, &server), 0).await;
        (result, streamed(&seen), server.seen())
    })
}

#[test]
fn an_answer_is_heard_and_metered() {
    for wire in WIRES {
        let (result, streamed, seen) = call(wire, vec![Act::Say(wire.answer("hi"))]);
        let response = result.expect("a good answer");
        assert_eq!((streamed.as_str(), response.text.as_str(), &response.stop), ("hi", "hi", &StopReason::EndTurn));
        assert_eq!((response.usage.input, response.usage.output, response.metering), (7, 3, Metering::Provider));
        assert_eq!((response.retries, response.request_id.as_deref()), (0, Some("r1")));
        assert_eq!(response.cost.map(Usd::as_nanos), Some(7 * 2_500 + 3 * 10_000));
        let (path, key) = match wire {
            Wire::OpenAi => ("POST /v1/chat/completions HTTP/1.1", format!("authorization: Bearer {KEY}")),
            Wire::Responses => ("POST /v1/responses HTTP/1.1", format!("authorization: Bearer {KEY}")),
            Wire::Anthropic => ("POST /v1/messages HTTP/1.1", format!("x-api-key: {KEY}")),
        };
        assert!(seen[0].head.starts_with(path) && seen[0].head.contains(&key), "{}", seen[0].head);
    }
}

#[test]
fn connections_are_kept_and_a_closed_one_costs_no_retry() {
    for wire in WIRES {
        with_tokio(async {
            let closing = wire.answer("two");
            let acts = vec![Act::Say(wire.answer("one")), Act::SayAndHangUp(closing), Act::Say(wire.answer("three"))];
            let server = TestServer::start(acts).await;
            let mut chat = open(wire, &server);
            for (answered, expect) in [(0, "one"), (1, "two"), (2, "three")] {
                let response = ask(&mut *chat, answered).await.0.expect("an answer");
                assert_eq!((response.text.as_str(), response.retries), (expect, 0));
                turn(&response, "").iter().for_each(|message| chat.push(message));
                chat.push(&user("more"));
            }
            let connections = server.seen().iter().map(|seen| seen.connection).collect::<Vec<_>>();
            assert_eq!(connections, [0, 0, 1]);
        });
    }
}

#[test]
fn a_kept_connection_that_dies_under_a_request_costs_no_retry() {
    for wire in WIRES {
        with_tokio(async {
            let acts =
                vec![Act::Say(wire.answer("one")), Act::SayAndHangUp(String::new()), Act::Say(wire.answer("two"))];
            let server = TestServer::start(acts).await;
            let mut chat = open(wire, &server);
            for (answered, expect) in [(0, "one"), (1, "two")] {
                let response = ask(&mut *chat, answered).await.0.expect("an answer");
                assert_eq!((response.text.as_str(), response.retries), (expect, 0));
            }
            let connections = server.seen().iter().map(|seen| seen.connection).collect::<Vec<_>>();
            assert_eq!(connections, [0, 0, 1]);
        });
    }
}

#[test]
fn an_answer_does_not_wait_for_the_end_of_its_body_but_the_connection_does() {
    for wire in WIRES {
        with_tokio(async {
            let late = Act::SayAndFinishLater(http_begun(&wire.events("one")), "0\r\n\r\n".to_owned());
            let server = TestServer::start(vec![late, Act::Say(wire.answer("two"))]).await;
            let (tasks, setup) = Counting::setup();
            let mut chat = wire.provider(&server.url, setup).expect("a good address").open(opening("system"));
            assert_eq!(ask(&mut *chat, 0).await.0.expect("the first").text, "one");
            server.finish();
            // The one that waits for the end of the body; the connection's own goes on.
            tasks.a_task_has_ended().await;
            assert_eq!(ask(&mut *chat, 1).await.0.expect("the second").text, "two");
            assert_eq!(server.seen()[1].connection, 0);
        });
    }
}

#[test]
fn a_stream_that_is_cut_is_asked_for_again() {
    for wire in WIRES {
        let half = wire.events_cut("Half of it");
        let acts = vec![Act::SayAndHangUp(http_begun(&half)), Act::Say(wire.answer("All of it"))];
        let (result, streamed, seen) = call(wire, acts);
        let response = result.expect("the second try");
        assert_eq!((response.text.as_str(), response.retries, seen.len()), ("All of it", 1, 2));
        assert!(streamed.ends_with("|All of it"), "{streamed}");
        assert!(response.lost.input > 0, "what the first try used is not forgotten");
        assert_eq!(seen[0].body, seen[1].body);
    }
}

/// Half an answer is never taken for one, wherever it was cut.
#[test]
fn a_stream_that_is_cut_at_any_byte_is_asked_for_again() {
    for wire in WIRES {
        with_tokio(async {
            let whole = wire.events("All of it");
            let cuts: Vec<_> = (0..whole.len()).collect();
            let acts = cuts
                .iter()
                .flat_map(|cut| [Act::SayAndHangUp(http_begun(&whole[..*cut])), Act::Say(wire.answer("All of it"))]);
            let server = TestServer::start(acts.collect()).await;
            for cut in cuts {
                let missing = &whole[cut..];
                // Some servers leave the last word out; what it would have said is known by then.
                if !missing.contains("\"usage\"") {
                    break;
                }
                let response = ask(&mut *open(wire, &server), 0).await.0.expect("the second try");
                assert_eq!((response.text.as_str(), response.retries), ("All of it", 1), "{wire:?} without {missing}");
            }
        });
    }
}

#[test]
fn a_body_that_ends_too_early_though_properly_is_cut_too() {
    for wire in WIRES {
        let acts = vec![Act::Say(http(200, "", &wire.events_cut("Half"))), Act::Say(wire.answer("All"))];
        assert_eq!(call(wire, acts).0.expect("the second try").retries, 1);
    }
}

#[test]
fn a_server_that_hangs_up_or_is_not_there_is_unavailable() {
    for wire in WIRES {
        let (result, _, seen) = call(wire, vec![]);
        assert!(matches!(result, Err(Error::Unavailable { tries: 4, .. })), "{result:?}");
        assert_eq!(seen.len(), 4);
    }
    with_tokio(async {
        // Bound and dropped: nobody listens there.
        let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound").port();
        let provider =
            Wire::OpenAi.provider(&format!("http://127.0.0.1:{port}"), hasty_setup()).expect("a good address");
        let error = ask(&mut *provider.open(opening("")), 0).await.0.expect_err("nobody is there");
        assert!(matches!(error, Error::Unavailable { tries: 4, .. }));
        assert!(error.to_string().contains(&format!("127.0.0.1:{port} cannot be reached")), "{error}");
    });
}

#[test]
fn refusals_say_what_to_do() {
    let check = |wire: Wire, status: u16, body: &str, expect: &[&str]| {
        let (result, _, seen) = call(wire, vec![Act::Say(http(status, "", body))]);
        let error = result.expect_err("a refusal").to_string();
        assert!(expect.iter().all(|part| error.contains(part)), "{error}");
        assert_eq!(seen.len(), 1, "it is not retried: {error}");
    };
    let no = r#"{"error":{"message":"no"}}"#;
    check(Wire::OpenAi, 401, no, &["set LITELLM_API_KEY", "401", "no"]);
    check(Wire::Responses, 401, no, &["set LITELLM_API_KEY"]);
    check(Wire::Anthropic, 401, no, &["set ANTHROPIC_API_KEY"]);
    check(
        Wire::OpenAi,
        404,
        r#"{"error":{"message":"The model does not exist","code":"model_not_found"}}"#,
        &["no model `gpt-4o`"],
    );
    check(Wire::Anthropic, 404, "<h1>Not Found</h1>", &["check the base URL", "/v1/messages"]);
    check(Wire::OpenAi, 200, "<!doctype html><p>Welcome", &["a web page", "check the base URL"]);
    for wire in WIRES {
        check(wire, 200, "{\"hello\":1}", &["without an answer", "check the base URL"]);
    }
    let overflow = r#"{"error":{"message":"Your input exceeds the context window of this model.","type":"invalid_request_error","code":"context_length_exceeded"}}"#;
    check(Wire::Responses, 400, overflow, &["longer than `gpt-4o` takes", "shorten it"]);
    check(Wire::Anthropic, 413, r#"{"error":{"type":"request_too_large","message":"too big"}}"#, &["413", "too big"]);
}

#[test]
fn redirects_are_not_followed() {
    for wire in WIRES {
        with_tokio(async {
            let elsewhere = TestServer::start(vec![Act::Say(wire.answer("stolen"))]).await;
            let headers = format!("location: {}/v1/messages\r\n", elsewhere.url);
            let server = TestServer::start(vec![Act::Say(http(307, &headers, ""))]).await;
            let error = ask(&mut *open(wire, &server), 0).await.0.expect_err("no answer").to_string();
            assert!(error.contains("redirects elsewhere"), "{error}");
            assert!(elsewhere.seen().is_empty(), "the key went to another server");
        });
    }
}

#[test]
fn the_key_never_comes_back_in_an_error() {
    let masked = format!("{}***", &KEY[..10]);
    for wire in WIRES {
        for status in [400, 401, 403, 404, 429, 500] {
            let message = format!("bad key '{KEY}' ({masked}), Bearer {KEY}");
            let bodies =
                [format!("{{\"error\":{{\"message\":\"{message}\"}}}}"), message.clone(), format!("<p>{message}")];
            for body in bodies {
                let acts = vec![Act::Say(http(status, "", &body)); 4];
                let error = call(wire, acts).0.expect_err("a refusal");
                let shown = format!("{error} {error:?}");
                assert!(!shown.contains(&KEY[..8]), "{shown}");
                assert!(shown.contains("[key]"), "the message is there, without it: {shown}");
            }
        }
        let in_stream = format!(
            "data: {{\"type\":\"error\",\"error\":{{\"type\":\"invalid_request_error\",\"message\":\"{KEY}\"}}}}\n\n"
        );
        let error = call(wire, vec![Act::Say(http(200, "", &in_stream))]).0.expect_err("an error in the stream");
        assert!(!format!("{error} {error:?}").contains(KEY));
    }
}

#[test]
fn a_long_error_is_cut_and_cannot_draw_on_the_terminal() {
    let body = format!("\u{1b}[2J{}", "x".repeat(1 << 20));
    let error = call(Wire::OpenAi, vec![Act::Say(http(400, "", &body))]).0.expect_err("a refusal").to_string();
    assert!(error.len() < 1000 && !error.contains('\u{1b}'), "{} bytes", error.len());
}

#[test]
fn dropping_a_call_aborts_the_request() {
    for wire in WIRES {
        with_tokio(async {
            let whole = wire.events("begun");
            let begun = http_begun(&whole[..whole.rfind("data:").expect("an event")]);
            let server = TestServer::start(vec![Act::SayAndFallSilent(begun)]).await;
            let mut chat = open(wire, &server);
            let (sender, mut heard) = tokio::sync::mpsc::unbounded_channel();
            let mut watch = move |delta| sender.send(delta).expect("the test listens");
            let mut call = chat.call(Ask { answered: 0 }, &mut watch);
            std::future::poll_fn(|context| match call.as_mut().poll(context) {
                Poll::Ready(result) => panic!("{result:?}"),
                Poll::Pending if heard.try_recv().is_ok() => Poll::Ready(()),
                Poll::Pending => Poll::Pending,
            })
            .await;
            drop(call);
            server.client_hung_up().await;
        });
    }
}

#[test]
fn a_server_that_meters_nothing_is_metered_by_estimate() {
    let body = "data: {\"choices\":[{\"delta\":{\"content\":\"four words or so\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let response = call(Wire::OpenAi, vec![Act::Say(http(200, "", body))]).0.expect("an answer");
    assert_eq!(response.metering, Metering::Estimated);
    assert!(response.usage.input > 0 && response.usage.output == 5, "{:?}", response.usage);
    // A real server was seen to leave out the first event, which has the input's figure.
    let events = Wire::Anthropic.events("hi");
    let without_start = &events[events.find("\n\n").expect("an event") + 2..];
    let response = call(Wire::Anthropic, vec![Act::Say(http(200, "", without_start))]).0.expect("an answer");
    assert_eq!((response.metering, response.usage.output), (Metering::Estimated, 3));
    assert!(response.usage.input > 0);
}

#[test]
fn a_server_that_ignores_streaming_is_understood() {
    let openai = include_str!("../fixtures/openai/whole.json");
    let anthropic = include_str!("../fixtures/anthropic/whole.json");
    let responses = include_str!("../fixtures/responses/whole.json");
    let bodies = [
        (Wire::OpenAi, openai, "One moment."),
        (Wire::Responses, responses, "One moment."),
        (Wire::Anthropic, anthropic, "Done"),
    ];
    for (wire, body, text) in bodies {
        let (result, streamed, _) = call(wire, vec![Act::Say(http(200, "content-type: application/json\r\n", body))]);
        assert_eq!((result.expect("an answer").text.as_str(), streamed.as_str()), (text, text));
    }
}
