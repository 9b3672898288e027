//! A model server that nobody here wrote, over every wire. `scripts/real-model` starts one and sets
//! `WINDLASS_REAL_MODEL_URL`; without it these tests fail, and an ordinary run leaves them out. The model is tiny: what it
//! says is not looked at, only that every exchange is well formed.

use std::sync::Arc;

use windlass_domain::{CallId, Message, ToolCall, ToolResult, Usage};
use windlass_llm::{Error, Metering, Opening, Setup};
use windlass_runtime::TokioRuntime;

use crate::support::{WIRES, Wire, ask, opening, streamed, tool, turn, user, with_tokio};

#[expect(clippy::disallowed_methods, reason = "the one way to tell a test about a server outside")]
fn server() -> String {
    std::env::var("WINDLASS_REAL_MODEL_URL").expect("run this through scripts/real-model, which starts a server")
}

#[expect(clippy::disallowed_methods, reason = "tests build their own executor")]
fn setup() -> Setup {
    Setup::new(Arc::new(TokioRuntime::new(tokio::runtime::Handle::current())))
}

#[test]
fn a_conversation_of_several_turns() {
    let url = server();
    for wire in WIRES {
        with_tokio(async {
            let provider = wire.provider(&url, setup()).expect("a good address");
            let mut chat = provider.open(Opening { max_output_tokens: Some(12), ..opening("You are terse.") });
            let mut last = Usage::default();
            for answered in 0..3 {
                chat.push(&user("Name a colour. ✓"));
                let (result, seen) = ask(&mut *chat, answered).await;
                let response = result.unwrap_or_else(|error| panic!("{wire:?}: {error}"));
                assert_eq!(response.text, streamed(&seen), "{wire:?}");
                assert!(!response.text.is_empty() && response.calls.is_empty(), "{wire:?}: {response:?}");
                assert!(response.usage.input > last.input, "{wire:?}: {:?} after {last:?}", response.usage);
                assert!((1..=13).contains(&response.usage.output), "{wire:?}: {:?}", response.usage);
                assert!(response.cost.is_some() && response.retries == 0);
                // This server now and then forgets the event with the input's figure and the id in it; its chat
                // completions forget nothing.
                let is_complete = response.metering == Metering::Provider && response.request_id.is_some();
                assert!(is_complete || wire == Wire::Anthropic, "{response:?}");
                last = response.usage;
                turn(&response, "").iter().for_each(|message| chat.push(message));
            }
        });
    }
}

#[test]
fn tools_calls_and_results_are_taken() {
    let url = server();
    let tools = [tool("read"), tool("write")];
    for wire in WIRES {
        with_tokio(async {
            let provider = wire.provider(&url, setup()).expect("a good address");
            let opening =
                Opening { max_output_tokens: Some(16), temperature: Some(0.0), tools: &tools, ..opening("Use tools.") };
            let mut chat = provider.open(opening);
            chat.push(&user("Read a.txt and b.txt."));
            // One of the calls is what a model gets wrong: no JSON in it.
            let calls =
                vec![ToolCall::new("call_1", "read", "{\"path\":\"a.txt\"}"), ToolCall::new("call_2", "read", "{\"pa")];
            chat.push(&Message::assistant("", calls));
            for id in ["call_1", "call_2"] {
                let call_id = CallId(id.to_owned());
                chat.push(&Message::Tool(ToolResult {
                    call_id,
                    tool: "read".into(),
                    content: "hello".into(),
                    is_error: false,
                    images: vec![],
                }));
            }
            let response = ask(&mut *chat, 1).await.0.unwrap_or_else(|error| panic!("{wire:?}: {error}"));
            assert!(!response.text.is_empty() || !response.calls.is_empty(), "{wire:?}: {response:?}");
        });
    }
}

#[test]
fn a_conversation_that_is_too_long_is_recognised() {
    let url = server();
    for wire in WIRES {
        with_tokio(async {
            let provider = wire.provider(&url, setup()).expect("a good address");
            let mut chat = provider.open(Opening { max_output_tokens: Some(4), ..opening("Short.") });
            chat.push(&user(&"many words ".repeat(3_000)));
            let error = ask(&mut *chat, 0).await.0.expect_err("it cannot fit");
            assert!(matches!(error, Error::ContextOverflow { .. }), "{wire:?}: {error:?}");
        });
    }
}

#[test]
fn a_wrong_address_on_a_real_server_is_recognised() {
    let url = server();
    with_tokio(async {
        let provider = Wire::OpenAi.provider(&format!("{url}/nothing/here"), setup()).expect("a good address");
        let error = ask(&mut *provider.open(opening("")), 0).await.0.expect_err("nothing is there");
        assert!(matches!(error, Error::NotAModelServer { .. }), "{error:?}");
    });
}
