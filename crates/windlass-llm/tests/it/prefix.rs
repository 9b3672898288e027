//! What was sent stays as it was sent: every request begins with all of the one before, byte for byte, so that providers
//! find it in their caches; and it is valid, whatever the conversation holds.

use proptest::prelude::*;
use serde_json::Value;
use windlass_domain::{CallId, Message, ToolCall, ToolResult};
use windlass_llm::Opening;

use crate::support::{Act, TestServer, WIRES, Wire, ask, hasty_setup, opening, tool, user, with_tokio};

const MARKED_TAIL: &str = ",\"cache_control\":{\"type\":\"ephemeral\"}}]}]}";

/// The bodies of a request after each group of messages.
fn bodies(wire: Wire, opening: Opening<'_>, groups: &[Vec<Message>]) -> Vec<String> {
    with_tokio(async {
        let server = TestServer::start(vec![Act::Say(wire.answer("ok")); groups.len()]).await;
        let mut chat = wire.provider(&server.url, hasty_setup()).expect("a good address").open(opening);
        for (answered, group) in (0..).zip(groups) {
            group.iter().for_each(|message| chat.push(message));
            ask(&mut *chat, answered).await.0.expect("an answer");
        }
        server.seen().into_iter().map(|seen| seen.body).collect()
    })
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("  \n".to_owned()),
        any::<String>(),
        "[a-z \\\\\"\n]{0,60}",
        // Long enough to be sent in several pieces.
        (60_000..140_000_usize).prop_map(|length| "long ".repeat(length / 5)),
    ]
}

fn any_call() -> impl Strategy<Value = ToolCall> {
    let arguments = prop_oneof![Just("{}".to_owned()), Just("{\"a\":[1,\"x\"]}".to_owned()), any::<String>()];
    (any::<u32>(), "[a-z_]{1,9}|[^a-z]{0,5}", arguments)
        .prop_map(|(id, name, arguments)| ToolCall::new(format!("call_{id}"), name, &arguments))
}

/// A question or an answer with its results, as a loop would push them.
fn any_group() -> impl Strategy<Value = Vec<Message>> {
    let answer = (any_text(), prop::collection::vec(any_call(), 0..4), any_text(), any::<bool>());
    prop_oneof![
        any_text().prop_map(|text| vec![Message::user(text)]),
        answer.prop_map(|(text, calls, result, is_error)| {
            let results = calls.iter().map(|call| {
                let (call_id, tool) = (call.call_id.clone(), call.tool.clone());
                Message::Tool(ToolResult { call_id, tool, content: result.clone(), is_error, images: vec![] })
            });
            let results = results.collect::<Vec<_>>();
            [vec![Message::assistant(text, calls)], results, vec![user("go on")]].concat()
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn every_request_begins_with_the_one_before(
        system in any_text(),
        first in any_text(),
        groups in prop::collection::vec(any_group(), 1..6),
    ) {
        let tools = [tool("write"), tool("bash")];
        let groups = std::iter::once(vec![Message::user(first)]).chain(groups).collect::<Vec<_>>();
        for wire in WIRES {
            let opening = Opening { tools: &tools, temperature: Some(0.5), max_output_tokens: Some(99), ..opening(&system) };
            let bodies = bodies(wire, opening, &groups);
            let tail = if wire == Wire::Anthropic { MARKED_TAIL } else { "]}" };
            for (earlier, later) in bodies.iter().zip(&bodies[1..]) {
                let head = earlier.strip_suffix(tail).expect("the tail");
                prop_assert!(later.starts_with(head));
            }
            for (body, count) in bodies.iter().zip(1..) {
                let pushed = groups[..count].iter().flatten().collect::<Vec<_>>();
                check_body(wire, &serde_json::from_str::<Value>(body).expect("JSON"), &pushed);
            }
        }
    }
}

/// Valid by the provider's rules, and nothing that was said is missing.
fn check_body(wire: Wire, body: &Value, pushed: &[&Message]) {
    let messages = || body["messages"].as_array().expect("messages");
    match wire {
        Wire::OpenAi => {
            let messages = messages();
            assert_eq!(messages.len(), pushed.len() + 1);
            for (sent, pushed) in messages[1..].iter().zip(pushed) {
                match pushed {
                    Message::User { text, .. } => {
                        assert_eq!((sent["role"].as_str(), sent["content"].as_str()), (Some("user"), Some(&**text)));
                    }
                    Message::Tool(result) => assert_eq!(sent["content"].as_str(), Some(&*result.content)),
                    Message::Assistant { calls, .. } => {
                        assert_eq!(sent["tool_calls"].as_array().map_or(0, Vec::len), calls.len());
                        for call in sent["tool_calls"].as_array().into_iter().flatten() {
                            let arguments = call["function"]["arguments"].as_str().expect("text");
                            assert!(serde_json::from_str::<Value>(arguments).expect("JSON").is_object());
                        }
                    }
                }
            }
        }
        Wire::Responses => check_items(body["input"].as_array().expect("items"), pushed),
        Wire::Anthropic => {
            let messages = messages();
            let roles = messages.iter().map(|message| message["role"].as_str().expect("a role")).collect::<Vec<_>>();
            assert!(roles.windows(2).all(|pair| pair[0] != pair[1]), "{roles:?}");
            let blocks =
                messages.iter().flat_map(|message| message["content"].as_array().expect("blocks")).collect::<Vec<_>>();
            let marked = blocks.iter().filter(|block| !block["cache_control"].is_null()).count();
            assert_eq!(
                (marked, blocks.last().expect("a block")["cache_control"]["type"].as_str()),
                (1, Some("ephemeral"))
            );
            for block in blocks {
                match block["type"].as_str() {
                    Some("text") => assert!(!block["text"].as_str().expect("text").trim().is_empty()),
                    Some("tool_use") => assert!(block["input"].is_object()),
                    kind => assert_eq!(kind, Some("tool_result")),
                }
            }
        }
    }
}

/// An answer is a message, where it has words or nothing else, and an item for each call.
fn check_items(items: &[Value], pushed: &[&Message]) {
    let mut items = items.iter();
    let mut next = || items.next().expect("an item");
    let said = |item: &Value, role: &str, kind: &str, text: &str| {
        assert_eq!((item["type"].as_str(), item["role"].as_str()), (Some("message"), Some(role)));
        assert_eq!(item["content"], serde_json::json!([{"type": kind, "text": text}]));
    };
    for pushed in pushed {
        match pushed {
            Message::User { text, .. } => said(next(), "user", "input_text", text),
            Message::Tool(result) => {
                let item = next();
                assert_eq!(item["type"].as_str(), Some("function_call_output"));
                assert_eq!(item["output"].as_str(), Some(&*result.content));
            }
            Message::Assistant { text, calls, .. } => {
                if !text.is_empty() || calls.is_empty() {
                    said(next(), "assistant", "output_text", text);
                }
                for call in calls {
                    let item = next();
                    assert_eq!(item["call_id"].as_str(), Some(&*call.call_id.0));
                    let arguments = item["arguments"].as_str().expect("text");
                    assert!(serde_json::from_str::<Value>(arguments).expect("JSON").is_object());
                }
            }
        }
    }
    assert!(items.next().is_none());
}

#[test]
fn tools_are_sent_in_order_of_their_names_however_they_come() {
    let (one, other) = ([tool("b"), tool("a"), tool("c")], [tool("c"), tool("b"), tool("a")]);
    for wire in WIRES {
        let body = |tools| bodies(wire, Opening { tools, ..opening("s") }, &[vec![user("x")]]).remove(0);
        let (first, second) = (body(&one[..]), body(&other[..]));
        assert_eq!(first, second);
        let places = ["Does a.", "Does b.", "Does c."].map(|text| first.find(text).expect("sent"));
        assert!(places.is_sorted());
    }
}

#[test]
fn the_results_of_parallel_calls_stand_in_one_message() {
    let call = |id: &str| ToolCall::new(id, "read", "{}");
    let result = |id: &str, is_error| {
        let (call_id, tool, content) = (CallId(id.into()), "read".into(), id.into());
        Message::Tool(ToolResult { call_id, tool, content, is_error, images: vec![] })
    };
    let messages = vec![
        user("go"),
        Message::assistant("", vec![call("a"), call("b")]),
        result("a", false),
        result("b", true),
        user("and also"),
    ];
    let body = bodies(Wire::Anthropic, opening("s"), &[messages]).remove(0);
    let expected = "\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"go\"}]},\
        {\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"read\",\"input\":{}},\
        {\"type\":\"tool_use\",\"id\":\"b\",\"name\":\"read\",\"input\":{}}]},\
        {\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"a\",\"content\":\"a\"},\
        {\"type\":\"tool_result\",\"tool_use_id\":\"b\",\"content\":\"b\",\"is_error\":true},\
        {\"type\":\"text\",\"text\":\"and also\",\"cache_control\":{\"type\":\"ephemeral\"}}]}]}";
    assert!(body.ends_with(expected), "{body}");
}

#[test]
fn the_form_of_an_answer_is_asked_for_where_the_wire_knows_how() {
    let schema = serde_json::json!({"type": "object", "properties": {"action": {"enum": ["DONE"]}}});
    let body = |wire| {
        let opening = Opening { answer_schema: Some(&schema), ..opening("s") };
        serde_json::from_str::<Value>(&bodies(wire, opening, &[vec![user("x")]]).remove(0)).expect("JSON")
    };
    let chat = body(Wire::OpenAi);
    assert_eq!(chat["response_format"]["type"], "json_schema");
    assert_eq!(chat["response_format"]["json_schema"]["schema"], schema);
    assert_eq!(body(Wire::Responses)["text"]["format"]["schema"], schema);
    let anthropic = body(Wire::Anthropic);
    assert!(anthropic.get("response_format").is_none() && anthropic.get("text").is_none());
}

#[test]
fn the_limit_on_an_answer_has_the_name_that_the_model_knows() {
    let body = |wire, model| {
        let opening = Opening { model, max_output_tokens: Some(77), ..opening("s") };
        bodies(wire, opening, &[vec![user("x")]]).remove(0)
    };
    assert!(body(Wire::OpenAi, "gpt-4o").contains("\"max_tokens\":77"));
    assert!(body(Wire::OpenAi, "openai/gpt-5-mini").contains("\"max_completion_tokens\":77"));
    assert!(body(Wire::Responses, "gpt-5-mini").contains("\"max_output_tokens\":77"));
    assert!(body(Wire::Anthropic, "claude-sonnet-4-5").contains("\"max_tokens\":77"));
    // Where the caller leaves it open, an answer has room, but does not take the conversation's.
    let unlimited = |model| {
        let opening = Opening { model, ..opening("s") };
        bodies(Wire::Anthropic, opening, &[vec![user("x")]]).remove(0)
    };
    assert!(unlimited("claude-opus-4-1-20250805").contains("\"max_tokens\":16384"));
    assert!(unlimited("claude-3-haiku-20240307").contains("\"max_tokens\":4096"));
}
