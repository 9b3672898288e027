//! What a model, or whoever pretends to be one, can send: one table over all wires. Each is answered or refused, within
//! bounds, and nothing of it hangs, crashes or is lost.

use serde_json::{Value, json};
use windlass_domain::StopReason;
use windlass_llm::{Error, Response, Unusable};

use crate::support::{Act, TestServer, WIRES, Wire, ask, hasty_setup, http, opening, turn, user, with_tokio};

/// The answer of a server that does not stream: these words, and calls of these arguments.
fn whole(wire: Wire, text: &str, calls: &[(&str, &str)]) -> String {
    let numbered = || calls.iter().enumerate();
    let body = match wire {
        Wire::OpenAi => {
            let call = |(index, (tool, arguments)): (usize, &(&str, &str))| json!({"id": format!("c{index}"), "function": {"name": tool, "arguments": arguments}});
            let message = json!({"content": text, "tool_calls": numbered().map(call).collect::<Vec<_>>()});
            json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 7, "completion_tokens": 3}})
        }
        Wire::Responses => {
            let message = json!({"type": "message", "content": [{"type": "output_text", "text": text}]});
            let call = |(index, (tool, arguments)): (usize, &(&str, &str))| json!({"type": "function_call", "call_id": format!("c{index}"), "name": tool, "arguments": arguments});
            let output = std::iter::once(message).chain(numbered().map(call)).collect::<Vec<_>>();
            json!({"status": "completed", "output": output, "usage": {"input_tokens": 7, "output_tokens": 3}})
        }
        Wire::Anthropic => {
            let call = |(index, (tool, arguments)): (usize, &(&str, &str))| {
                let input = serde_json::from_str::<Value>(arguments).unwrap_or_else(|_| json!(arguments));
                json!({"type": "tool_use", "id": format!("c{index}"), "name": tool, "input": input})
            };
            let content = std::iter::once(json!({"type": "text", "text": text})).chain(numbered().map(call));
            json!({"content": content.collect::<Vec<_>>(), "stop_reason": "end_turn", "usage": {"input_tokens": 7, "output_tokens": 3}})
        }
    };
    body.to_string()
}

/// What comes of an answer, and of the request that repeats it.
fn heard(wire: Wire, body: &str) -> Result<(Response, Value), Error> {
    with_tokio(async {
        let server = TestServer::start(vec![Act::Say(http(200, "", body)), Act::Say(wire.answer("ok"))]).await;
        let mut chat = wire.provider(&server.url, hasty_setup()).expect("a good address").open(opening("s"));
        chat.push(&user("go"));
        let response = ask(&mut *chat, 0).await.0?;
        turn(&response, "no").iter().for_each(|message| chat.push(message));
        chat.push(&user("again"));
        ask(&mut *chat, 1).await.0.expect("an answer");
        let repeated = serde_json::from_str(&server.seen()[1].body).expect("what is sent back is JSON");
        Ok((response, repeated))
    })
}

/// And what it has used by then is known.
fn is_too_long(error: &Error) -> bool {
    matches!(error, Error::Unusable { what: Unusable::TooLong { .. }, .. }) && error.lost().0.output > 1_000_000
}

#[test]
fn arguments_that_are_no_json_are_kept_as_text_and_go_back_inside_an_object() {
    for wire in WIRES {
        let (response, repeated) = heard(wire, &whole(wire, "", &[("read", "{\"path\": ")])).expect("an answer");
        assert_eq!(response.calls[0].arguments.get(), "\"{\\\"path\\\": \"", "{wire:?}");
        assert!(repeated.to_string().contains("invalid_arguments"), "{wire:?}: {repeated}");
    }
}

#[test]
fn a_tool_that_nobody_has_is_kept_and_goes_back_under_a_name_that_providers_take() {
    for wire in WIRES {
        let (response, repeated) = heard(wire, &whole(wire, "", &[("do what I mean!", "{}")])).expect("an answer");
        assert_eq!((response.calls[0].tool.as_str(), &response.stop), ("do what I mean!", &StopReason::ToolCalls));
        assert!(repeated.to_string().contains("do_what_I_mean_"), "{wire:?}: {repeated}");
    }
}

#[test]
fn so_many_calls_and_no_more() {
    for wire in WIRES {
        let calls = vec![("read", "{}"); 513];
        assert_eq!(heard(wire, &whole(wire, "", &calls[1..])).expect("an answer").0.calls.len(), 512, "{wire:?}");
        let error = heard(wire, &whole(wire, "", &calls)).expect_err("too many");
        assert!(
            matches!(error, Error::Unusable { what: Unusable::TooManyCalls { limit: 512 }, .. }),
            "{wire:?}: {error}"
        );
    }
}

#[test]
fn an_argument_of_ten_megabytes_is_refused() {
    for wire in WIRES {
        let arguments = json!({ "content": "x".repeat(10 << 20) }).to_string();
        let error = heard(wire, &whole(wire, "", &[("write", &arguments)])).expect_err("too long");
        assert!(is_too_long(&error), "{wire:?}: {error}");
    }
}

#[test]
fn an_empty_message_is_an_answer_that_can_be_repeated() {
    for wire in WIRES {
        let (response, _) = heard(wire, &whole(wire, "", &[])).expect("an answer");
        assert!(response.text.is_empty() && response.calls.is_empty(), "{wire:?}: {response:?}");
        assert_eq!(response.stop, StopReason::EndTurn);
    }
}

#[test]
fn a_stream_that_never_ends_is_left() {
    for wire in WIRES {
        // Nine megabytes of one answer, and no end of it.
        let events = wire.events_cut(&"word ".repeat(20_000)).repeat(90);
        let error = heard(wire, &events).expect_err("too long");
        assert!(is_too_long(&error), "{wire:?}: {error}");
    }
}

#[test]
fn thoughts_are_bounded_as_words_are() {
    let long = "x".repeat(5 << 20);
    let item = json!({"type": "reasoning", "encrypted_content": long, "summary": []});
    let responses = json!({"status": "completed", "output": [item, item]});
    let block = json!({"type": "thinking", "thinking": "", "signature": long});
    let anthropic = json!({"content": [block, block], "stop_reason": "end_turn"});
    for (wire, body) in [(Wire::Responses, responses), (Wire::Anthropic, anthropic)] {
        let error = heard(wire, &body.to_string()).expect_err("too long");
        assert!(is_too_long(&error), "{wire:?}: {error}");
    }
}
