//! Pictures, in each provider's way of being shown them, and in words where a model cannot see.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_domain::{CallId, Digest, Image, Message, ToolCall, ToolResult};
use windlass_llm::Opening;

use crate::support::{Act, TestServer, WIRES, Wire, ask, hasty_setup, opening, with_tokio};

/// Three pixels by five; as letters, `R0lGODlhAwAFADs=`.
const GIF: &[u8] = b"GIF89a\x03\0\x05\0;";
const LETTERS: &str = "R0lGODlhAwAFADs=";

fn image(name: &str) -> Image {
    Image::describing(name, GIF, Digest::of(GIF)).expect("a picture")
}

fn result(id: &str, images: Vec<Image>) -> Message {
    Message::Tool(ToolResult {
        call_id: CallId(id.into()),
        tool: "read".into(),
        content: id.into(),
        is_error: false,
        images,
    })
}

/// A user who shows something, and two calls at once of which the first has something to show.
fn conversation() -> Vec<Message> {
    vec![
        Message::User { text: "look".into(), images: vec![image("mine")] },
        Message::assistant("", ["a", "b"].map(|id| ToolCall::new(id, "read", "{}")).to_vec()),
        result("a", vec![image("theirs")]),
        result("b", vec![]),
    ]
}

fn body(wire: Wire, model: &str, messages: &[Message]) -> Value {
    with_tokio(async {
        let server = TestServer::start(vec![Act::Say(wire.answer("ok"))]).await;
        let provider = wire.provider(&server.url, hasty_setup()).expect("a good address");
        let mut chat = provider.open(Opening { model, ..opening("s") });
        for message in messages {
            message.images().iter().for_each(|image| chat.show(image.digest, Arc::from(GIF)));
            chat.push(message);
        }
        ask(&mut *chat, 1).await.0.expect("an answer");
        serde_json::from_str(&server.seen()[0].body).expect("JSON")
    })
}

#[test]
fn anthropic_takes_pictures_from_users_and_in_results() {
    let body = body(Wire::Anthropic, "claude-opus-4-1", &conversation());
    let picture = json!({"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": LETTERS}});
    assert_eq!(body["messages"][0]["content"], json!([{"type": "text", "text": "look"}, picture]));
    let results = &body["messages"][2]["content"];
    assert_eq!(results[0]["content"], json!([{"type": "text", "text": "a"}, picture]));
    assert_eq!(results[1]["content"], "b");
}

#[test]
fn chat_completions_take_pictures_from_users_only() {
    let body = body(Wire::OpenAi, "gpt-4o", &conversation());
    let picture = json!({"type": "image_url", "image_url": {"url": format!("data:image/gif;base64,{LETTERS}")}});
    let messages = body["messages"].as_array().expect("messages");
    assert_eq!(messages[1]["content"], json!([{"type": "text", "text": "look"}, picture]));
    // Results of one answer's calls stand together; what they show comes after.
    let roles = messages.iter().map(|message| message["role"].as_str().expect("a role")).collect::<Vec<_>>();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "user"]);
    assert_eq!((&messages[3]["content"], &messages[5]["content"][1]), (&json!("a"), &picture));
}

#[test]
fn responses_take_pictures_as_input() {
    let body = body(Wire::Responses, "gpt-5", &conversation());
    let picture = json!({"type": "input_image", "image_url": format!("data:image/gif;base64,{LETTERS}")});
    assert_eq!(body["input"][0]["content"], json!([{"type": "input_text", "text": "look"}, picture]));
    assert_eq!(body["input"][3]["output"], json!([{"type": "input_text", "text": "a"}, picture]));
    assert_eq!(body["input"][4]["output"], "b");
}

#[test]
fn a_model_without_eyes_is_told_what_there_would_be_to_see() {
    for wire in WIRES {
        let body = body(wire, "deepseek-chat", &conversation()).to_string();
        assert!(!body.contains(LETTERS), "{body}");
        for name in ["mine", "theirs"] {
            assert!(body.contains(&format!("[image: {name}, image/gif, 3 × 5 pixels, 11 bytes]")), "{body}");
        }
    }
}

#[test]
fn a_picture_that_nobody_gave_is_told() {
    with_tokio(async {
        let server = TestServer::start(vec![Act::Say(Wire::OpenAi.answer("ok"))]).await;
        let mut chat = Wire::OpenAi.provider(&server.url, hasty_setup()).expect("a good address").open(opening("s"));
        chat.push(&conversation()[0]);
        ask(&mut *chat, 0).await.0.expect("an answer");
        assert!(server.seen()[0].body.contains("[image: mine"));
    });
}

#[test]
fn what_was_shown_stays_as_it_was_shown() {
    for wire in WIRES {
        with_tokio(async {
            let server = TestServer::start(vec![Act::Say(wire.answer("ok")); 2]).await;
            let mut chat = wire.provider(&server.url, hasty_setup()).expect("a good address").open(opening("s"));
            for (answered, messages) in (0..).zip([conversation(), vec![Message::user("and now?")]]) {
                for message in &messages {
                    message.images().iter().for_each(|image| chat.show(image.digest, Arc::from(GIF)));
                    chat.push(message);
                }
                ask(&mut *chat, answered).await.0.expect("an answer");
            }
            let seen = server.seen();
            let tail = if wire == Wire::Anthropic { ",\"cache_control\":{\"type\":\"ephemeral\"}}]}]}" } else { "]}" };
            assert!(seen[1].body.starts_with(seen[0].body.strip_suffix(tail).expect("the tail")), "{wire:?}");
            assert_eq!(seen[1].body.matches(LETTERS).count(), 2, "{wire:?}");
        });
    }
}
