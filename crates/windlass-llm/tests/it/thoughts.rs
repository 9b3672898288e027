//! What a model thought goes back to its own provider as it came, in its place, and to no other; and it is asked for in the
//! words that the provider takes.

use serde_json::{Value, json};
use windlass_domain::{CallId, Dialect, Message, Reasoning, ToolCall, ToolResult};
use windlass_llm::{Adjustment, Effort, Models, Opening, Setup};

use crate::support::{Act, TestServer, WIRES, Wire, ask, hasty_setup, http, opening, turn, user, with_tokio};

fn dialect(wire: Wire) -> Dialect {
    match wire {
        Wire::OpenAi => Dialect::OpenAi,
        Wire::Responses => Dialect::OpenAiResponses,
        Wire::Anthropic => Dialect::Anthropic,
    }
}

/// The body of a request for `model`, adjusted so, after these messages.
fn body(wire: Wire, model: &str, wanted: Adjustment, messages: &[Message]) -> Value {
    with_tokio(async {
        let server = TestServer::start(vec![Act::Say(wire.answer("ok"))]).await;
        let models = Models::built_in().adjusted(model, &wanted).expect("a known model");
        let setup = Setup { models: models.into(), ..hasty_setup() };
        let opening = Opening { model, temperature: Some(0.5), ..opening("s") };
        let mut chat = wire.provider(&server.url, setup).expect("a good address").open(opening);
        messages.iter().for_each(|message| chat.push(message));
        ask(&mut *chat, 1).await.0.expect("an answer");
        serde_json::from_str(&server.seen()[0].body).expect("JSON")
    })
}

/// An answer with a call, thought of on every wire, and the call's result.
fn step() -> Vec<Message> {
    let thought = |wire: Wire| {
        let content = match wire {
            Wire::OpenAi => json!({"reasoning_content": "of openai"}),
            Wire::Responses => {
                json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "of responses", "summary": []})
            }
            Wire::Anthropic => json!({"type": "thinking", "thinking": "of anthropic", "signature": "s"}),
        };
        let content = serde_json::value::to_raw_value(&content).expect("JSON");
        Reasoning { wire: dialect(wire), after: usize::from(wire == Wire::Responses), content }
    };
    let calls = vec![ToolCall::new("call_1", "read", "{}")];
    let answer = Message::Assistant { text: "hm".into(), calls, reasoning: WIRES.map(thought).to_vec() };
    let (call_id, tool, content) = (CallId("call_1".into()), "read".into(), "done".into());
    vec![user("go"), answer, Message::Tool(ToolResult { call_id, tool, content, is_error: false, images: vec![] })]
}

const AS_IT_IS: Adjustment = Adjustment { reasoning: None, reasoning_content: None, vision: None, tool_calls: None };

#[test]
fn thoughts_go_back_to_the_wire_they_are_from_and_to_no_other() {
    for wire in WIRES {
        let wanted = Adjustment { reasoning_content: Some(true), ..AS_IT_IS };
        let sent = body(wire, "gpt-5", wanted, &step()).to_string();
        for other in WIRES {
            let word = format!("of {}", format!("{other:?}").to_lowercase());
            assert_eq!(sent.contains(&word), wire == other, "{wire:?}: {sent}");
        }
    }
}

#[test]
fn thoughts_stand_where_they_stood() {
    let anthropic = body(Wire::Anthropic, "claude-opus-4-6", AS_IT_IS, &step());
    let blocks = anthropic["messages"][1]["content"].as_array().expect("blocks");
    let kinds = blocks.iter().map(|block| block["type"].as_str().expect("a kind")).collect::<Vec<_>>();
    assert_eq!(kinds, ["thinking", "text", "tool_use"]);
    assert_eq!(blocks[0], json!({"type": "thinking", "thinking": "of anthropic", "signature": "s"}));
    let responses = body(Wire::Responses, "gpt-5", AS_IT_IS, &step());
    let kinds = responses["input"].as_array().expect("items").iter().map(|item| item["type"].as_str().expect("a kind"));
    assert_eq!(kinds.collect::<Vec<_>>(), ["message", "message", "reasoning", "function_call", "function_call_output"]);
}

#[test]
fn chat_servers_hear_their_thoughts_again_only_where_they_want_to() {
    assert_eq!(body(Wire::OpenAi, "gpt-5", AS_IT_IS, &step())["messages"][2]["reasoning_content"], Value::Null);
    let wants = |messages: &[Message]| body(Wire::OpenAi, "deepseek-v4-pro", AS_IT_IS, messages);
    assert_eq!(wants(&step())["messages"][2]["reasoning_content"], "of openai");
    // A call without a thought has an empty one: without the field the whole conversation is refused.
    let mut thoughtless = step();
    thoughtless[1] = Message::assistant("", vec![ToolCall::new("call_1", "read", "{}")]);
    assert_eq!(wants(&thoughtless)["messages"][2]["reasoning_content"], "");
    assert_eq!(
        wants(&[user("a"), Message::assistant("b", vec![]), user("c")])["messages"][2].get("reasoning_content"),
        None
    );
}

#[test]
fn what_a_chat_server_thought_is_kept_only_where_it_is_wanted_back() {
    let stream = include_str!("../fixtures/openai/imitator.sse");
    let kept = |model: &'static str| {
        with_tokio(async {
            let server =
                TestServer::start(vec![Act::Say(http(200, "", stream)), Act::Say(Wire::OpenAi.answer("ok"))]).await;
            let provider = Wire::OpenAi.provider(&server.url, hasty_setup()).expect("a good address");
            let mut chat = provider.open(Opening { model, ..opening("s") });
            chat.push(&user("go"));
            let response = ask(&mut *chat, 0).await.0.expect("an answer");
            turn(&response, "done").iter().for_each(|message| chat.push(message));
            ask(&mut *chat, 1).await.0.expect("an answer");
            (response.reasoning.len(), server.seen()[1].body.contains("\"reasoning_content\":\"Let me think.\""))
        })
    };
    assert_eq!(kept("kimi-k2.6"), (1, true));
    assert_eq!(kept("gpt-4o"), (0, false));
}

#[test]
fn models_are_asked_to_think_in_their_providers_words() {
    let asked =
        |wire, model, effort| body(wire, model, Adjustment { reasoning: Some(effort), ..AS_IT_IS }, &[user("x")]);
    let budget = asked(Wire::Anthropic, "claude-sonnet-4-5", Effort::Medium);
    assert_eq!(budget["thinking"], json!({"type": "enabled", "budget_tokens": 12_288}));
    assert_eq!((budget["max_tokens"].as_u64(), &budget["temperature"]), (Some(16_384 + 12_288), &Value::Null));
    // However little the model may say, it may say more than it thinks.
    let tight = asked(Wire::Anthropic, "claude-opus-4-1", Effort::Tokens(60_000));
    assert_eq!(
        (tight["max_tokens"].as_u64(), tight["thinking"]["budget_tokens"].as_u64()),
        (Some(32_000), Some(24_000))
    );
    let adaptive = asked(Wire::Anthropic, "claude-opus-4-7", Effort::Low);
    assert_eq!(
        (&adaptive["thinking"], &adaptive["output_config"]),
        (&json!({"type": "adaptive"}), &json!({"effort": "low"}))
    );
    assert_eq!(asked(Wire::OpenAi, "gpt-5", Effort::High)["reasoning_effort"], "high");
    let responses = asked(Wire::Responses, "gpt-5", Effort::Tokens(2_000));
    assert_eq!(
        (&responses["reasoning"], &responses["include"]),
        (&json!({"effort": "low"}), &json!(["reasoning.encrypted_content"]))
    );
    assert_eq!(responses["store"], json!(false));
}

#[test]
fn a_model_that_is_not_asked_to_think_is_told_nothing_about_it() {
    for wire in WIRES {
        let body = body(wire, "gpt-4o", AS_IT_IS, &[user("x")]);
        for field in ["thinking", "output_config", "reasoning", "reasoning_effort", "include"] {
            assert_eq!(body.get(field), None, "{wire:?}");
        }
        assert_eq!(body["temperature"], 0.5);
    }
}
