//! The rehearsal's server as other programs see it: every format, streamed and whole, with its errors.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use windlass_llm::{Script, Server};

use crate::support::{hasty_setup, with_tokio};

const SCRIPT: &str = r#"
version: 1
tracks:
  default:
    - reply: Hello there.
      calls: [ { tool: bash, args: { command: ls } }, { tool: read, args: { path: x } } ]
      usage: { input: 12, output: 7, cached_input: 5 }
    - error: { status: 503, retry_after: 2, times: 2 }
    - reply: Second.
  planner:
    - error: { cut_stream_after: 4 }
    - reply: A plan.
"#;

/// Sends one request on a connection of its own; gives the status, the head and the body as far as it came.
async fn send(address: &str, method: &str, path: &str, body: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    let answer = String::from_utf8(answer).expect("text");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    (head[9..12].parse().expect("a status"), head.to_owned(), body.to_owned())
}

fn served<T>(test: impl AsyncFnOnce(String) -> T) -> T {
    with_tokio(async {
        let setup = hasty_setup();
        let script = Arc::new(Script::parse(SCRIPT).unwrap_or_else(|problems| panic!("{problems}")));
        let server = Server::bind(0, script, setup.runtime.clone()).await.expect("a free port");
        let address = server.local_addr().expect("bound");
        assert!(address.ip().is_loopback());
        setup.runtime.spawn(Box::pin(server.run()));
        test(address.to_string()).await
    })
}

fn events(body: &str) -> Vec<Value> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).expect("JSON")).collect()
}

#[test]
fn chat_completions_whole_and_streamed() {
    served(async |address| {
        let request = json!({"model": "rehearsal/any", "messages": [{"role": "user", "content": "hi"}]});
        let (status, _, body) = send(&address, "POST", "/v1/chat/completions", &request.to_string()).await;
        let whole: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!((status, whole["model"].as_str()), (200, Some("rehearsal/any")));
        let choice = &whole["choices"][0];
        assert_eq!(
            (choice["finish_reason"].as_str(), choice["message"]["content"].as_str()),
            (Some("tool_calls"), Some("Hello there."))
        );
        assert_eq!(
            choice["message"]["tool_calls"][1]["function"],
            json!({"name": "read", "arguments": "{\"path\":\"x\"}"})
        );
        assert_eq!(whole["usage"]["prompt_tokens_details"]["cached_tokens"], 5);

        let mut streaming = request.clone();
        streaming["stream"] = json!(true);
        let (_, head, body) = send(&address, "POST", "/chat/completions", &streaming.to_string()).await;
        assert!(head.contains("text/event-stream") && body.ends_with("data: [DONE]\n\n"));
        let spoken = events(&body);
        assert!(spoken.iter().all(|event| event["usage"].is_null()), "nobody asked for the bill");
        let text =
            spoken.iter().filter_map(|event| event["choices"][0]["delta"]["content"].as_str()).collect::<String>();
        assert_eq!(text, "Hello there.");

        streaming["stream_options"] = json!({"include_usage": true});
        let (_, _, body) = send(&address, "POST", "/v1/chat/completions", &streaming.to_string()).await;
        assert_eq!(events(&body).last().expect("events")["usage"]["completion_tokens"], 7);
    });
}

#[test]
fn responses_whole_and_streamed() {
    served(async |address| {
        let request = json!({"model": "gpt-5", "instructions": "be nice", "input": "hi"});
        let (status, _, body) = send(&address, "POST", "/v1/responses", &request.to_string()).await;
        let whole: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(
            (status, whole["status"].as_str(), whole["usage"]["total_tokens"].as_u64()),
            (200, Some("completed"), Some(19))
        );
        let kinds =
            whole["output"].as_array().expect("items").iter().map(|item| item["type"].as_str().expect("a type"));
        assert_eq!(kinds.collect::<Vec<_>>(), ["message", "function_call", "function_call"]);

        let mut streaming = request;
        streaming["stream"] = json!(true);
        let (_, _, body) = send(&address, "POST", "/v1/responses", &streaming.to_string()).await;
        let events = events(&body);
        let names = events.iter().map(|event| event["type"].as_str().expect("a type")).collect::<Vec<_>>();
        assert_eq!((names[0], names[names.len() - 1]), ("response.created", "response.completed"));
        let numbers =
            events.iter().map(|event| event["sequence_number"].as_u64().expect("a number")).collect::<Vec<_>>();
        assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
        // What the end says is what the items said.
        let done =
            events.iter().filter(|event| event["type"] == "response.output_item.done").map(|event| &event["item"]);
        let last = &events[events.len() - 1]["response"];
        assert_eq!(done.cloned().collect::<Vec<_>>(), *last["output"].as_array().expect("items"));
        assert_eq!(last["output"], whole["output"]);
    });
}

#[test]
fn messages_whole_and_streamed() {
    served(async |address| {
        let request =
            json!({"model": "rehearsal/default", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]});
        let (_, _, body) = send(&address, "POST", "/v1/messages?beta=true", &request.to_string()).await;
        let whole: Value = serde_json::from_str(&body).expect("JSON");
        assert_eq!(whole["content"][0], json!({"type": "text", "text": "Hello there."}));
        assert_eq!(whole["content"][1]["input"], json!({"command": "ls"}));
        assert_eq!(
            (whole["stop_reason"].as_str(), whole["usage"]["input_tokens"].as_u64()),
            (Some("tool_use"), Some(7))
        );

        let mut streaming = request.clone();
        streaming["stream"] = json!(true);
        let (_, _, body) = send(&address, "POST", "/v1/messages", &streaming.to_string()).await;
        let events = events(&body);
        let starts = events.iter().filter(|event| event["type"] == "content_block_start").count();
        let stops = events.iter().filter(|event| event["type"] == "content_block_stop").count();
        assert_eq!((starts, stops), (3, 3));
        assert_eq!(events.last().expect("events")["type"], "message_stop");

        let (_, _, body) = send(&address, "POST", "/v1/messages/count_tokens", &request.to_string()).await;
        assert_eq!(body, "{\"input_tokens\":1}");
    });
}

#[test]
fn models_are_the_tracks() {
    served(async |address| {
        let (status, _, body) = send(&address, "GET", "/v1/models", "").await;
        let list: Value = serde_json::from_str(&body).expect("JSON");
        let ids = list["data"].as_array().expect("models").iter().map(|model| model["id"].as_str().expect("an id"));
        assert_eq!((status, ids.collect::<Vec<_>>()), (200, vec!["rehearsal/default", "rehearsal/planner"]));
    });
}

#[test]
fn faults_count_the_repeats_of_a_request_and_begin_again_once_it_was_answered() {
    served(async |address| {
        let ask = |content: &str| {
            let messages = json!([{"role": "user", "content": content}, {"role": "assistant", "content": "x"}]);
            json!({"model": "m", "messages": messages}).to_string()
        };
        let (one, other) = (ask("one"), ask("other"));
        let status = async |body: &str| send(&address, "POST", "/v1/chat/completions", body).await;
        for _ in 0..2 {
            let (code, head, body) = status(&one).await;
            assert!(
                code == 503 && head.contains("retry-after: 2") && body.contains("a rehearsed error"),
                "{head} {body}"
            );
            assert_eq!(status(&other).await.0, 503, "another request has tries of its own");
            assert_eq!(status(&one).await.0, 503);
            assert_eq!(status(&one).await.0, 200);
            assert_eq!(status(&other).await.0, 503);
            assert_eq!(status(&other).await.0, 200);
        }
    });
}

#[test]
fn a_cut_stream_carries_what_came_before_the_cut() {
    served(async |address| {
        let request = json!({"model": "rehearsal/planner", "stream": true, "messages": []}).to_string();
        let (status, _, body) = send(&address, "POST", "/v1/chat/completions", &request).await;
        assert!(status == 200 && body.contains("\"A pl\"") && !body.contains("\r\n0\r\n"), "{body}");
        let (_, _, body) = send(&address, "POST", "/v1/chat/completions", &request).await;
        assert!(body.contains("\"A plan.\"") && body.contains("[DONE]"));
    });
}

#[test]
fn wrong_requests_are_told_so() {
    served(async |address| {
        let check = async |method: &str, path: &str, body: &str, status: u16, text: &str| {
            let (code, _, answer) = send(&address, method, path, body).await;
            assert!(code == status && answer.contains(text), "{code} {answer}");
        };
        check("POST", "/v1/chat/completions", "{", 400, "not what this address takes").await;
        check("POST", "/v1/embeddings", "{}", 404, "nothing at this address").await;
        check("GET", "/v1/chat/completions", "", 404, "nothing at this address").await;
        let third = r#"{"model":"m","messages":[{"role":"assistant"},{"role":"assistant"}]}"#;
        check("POST", "/v1/chat/completions", third, 400, "nothing for track `default` at turn 2").await;
    });
    with_tokio(async {
        let setup = hasty_setup();
        let script = Arc::new(Script::parse("version: 1\ntracks: { a: [{reply: x}] }").expect("valid"));
        let server = Server::bind(0, script, setup.runtime.clone()).await.expect("a free port");
        let address = server.local_addr().expect("bound").to_string();
        setup.runtime.spawn(Box::pin(server.run()));
        let (code, _, body) = send(&address, "POST", "/v1/messages", r#"{"model":"b","messages":[]}"#).await;
        assert!(code == 404 && body.contains("`b` does not exist; the script has `rehearsal/a`"), "{body}");
    });
}
