//! The same conversation in three languages is the same conversation; what one of them alone can say is refused by name.

use serde_json::{Value, json};
use windlass_domain::{Digest, Message, ToolCall};

use crate::dialect::Dialect;
use crate::gateway::translate::told::Told;
use crate::gateway::translate::translator::read;

/// One black pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

fn told(dialect: Dialect, request: &Value) -> Told {
    read(dialect, request.as_object().expect("an object")).unwrap_or_else(|problem| panic!("{dialect:?}: {problem}"))
}

fn chat() -> Value {
    let url = format!("data:image/png;base64,{PNG}");
    json!({
        "model": "m", "temperature": 0.5, "max_completion_tokens": 900, "tool_choice": "auto", "n": 1, "top_p": 0.95,
        "tools": [{"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": {"type": "object"}}}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "string"}}},
        "messages": [
            {"role": "system", "content": "Be brief."}, {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
            {"role": "user", "content": [
                {"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": url}}, {"type": "text", "text": "and say"},
            ]},
            {"role": "assistant", "content": "I see.", "reasoning_content": "hm", "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{\"p\":1}"}},
                {"id": "b", "type": "function", "function": {"name": "read", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "a", "content": "one"},
            {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "two"}, {"type": "image_url", "image_url": {"url": url}}]},
            {"role": "system", "content": "Hurry."}, {"role": "user", "content": "go on"},
        ],
    })
}

fn responses() -> Value {
    let url = format!("data:image/png;base64,{PNG}");
    json!({
        "model": "m", "temperature": 0.5, "max_output_tokens": 900, "tool_choice": "auto", "store": false, "include": ["x"],
        "reasoning": {"effort": "high"}, "instructions": "Be brief.", "client_metadata": {"a": 1},
        "tools": [{"type": "function", "name": "read", "description": "Reads.", "parameters": {"type": "object"}, "strict": false}],
        "text": {"format": {"type": "json_schema", "name": "a", "schema": {"type": "string"}}, "verbosity": "low"},
        "input": [
            {"role": "developer", "content": "Be kind."},
            {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "look"}, {"type": "input_image", "image_url": url}, {"type": "input_text", "text": "and say"},
            ]},
            {"type": "reasoning", "summary": [], "encrypted_content": "hm"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I see."}]},
            {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{\"p\":1}"},
            {"type": "function_call", "call_id": "b", "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "one"},
            {"type": "function_call_output", "call_id": "b", "output": [
                {"type": "input_text", "text": "two"}, {"type": "input_image", "image_url": url},
            ]},
            {"type": "message", "role": "system", "content": "Hurry."}, {"role": "user", "content": "go on"},
        ],
    })
}

fn messages() -> Value {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}});
    json!({
        "model": "m", "temperature": 0.5, "max_tokens": 900, "tool_choice": {"type": "auto"}, "metadata": {"user_id": "u"},
        "thinking": {"type": "enabled", "budget_tokens": 800}, "context_management": {"edits": []},
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "Be kind."}],
        "tools": [{"name": "read", "description": "Reads.", "input_schema": {"type": "object"}, "cache_control": {}}],
        "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": {"type": "string"}}},
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "look"}, image, {"type": "text", "text": "and say"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "I see."},
                {"type": "tool_use", "id": "a", "name": "read", "input": {"p": 1}},
                {"type": "tool_use", "id": "b", "name": "read", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "one"},
                {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "two"}, image]},
            ]},
            {"role": "system", "content": "Hurry."}, {"role": "user", "content": "go on"},
        ],
    })
}

#[test]
fn three_languages_say_the_same() {
    let one = told(Dialect::Chat, &chat());
    assert_eq!(told(Dialect::Responses, &responses()), one);
    assert_eq!(told(Dialect::Messages, &messages()), one);

    assert_eq!(
        (one.system.as_str(), one.temperature, one.max_output_tokens),
        ("Be brief.\n\nBe kind.", Some(0.5), Some(900))
    );
    assert_eq!((one.tools[0].description.as_str(), one.answer_schema), ("Reads.", Some(json!({"type": "string"}))));
    let said = one.lines.iter().map(|line| &line.message).collect::<Vec<_>>();
    let texts = said.iter().map(|message| match message {
        Message::User { text, .. } | Message::Assistant { text, .. } => text.as_str(),
        Message::Tool(result) => result.content.as_str(),
    });
    assert_eq!(
        texts.collect::<Vec<_>>(),
        ["look", "and say", "I see.", "one", "two", "<system>\nHurry.\n</system>", "go on"]
    );
    let calls = vec![ToolCall::new("a", "read", "{\"p\":1}"), ToolCall::new("b", "read", "{}")];
    assert_eq!(*said[2], Message::assistant("I see.", calls));
    let Message::Tool(result) = said[4] else { panic!("a result") };
    assert_eq!((result.tool.as_str(), result.images.len()), ("read", 1));
    let (digest, bytes) = &one.lines[0].pictures[0];
    assert_eq!((Digest::of(bytes), one.lines[4].pictures[0].0), (*digest, result.images[0].digest));
}

#[test]
fn tools_in_folders_are_told_apart_and_found_again() {
    let request = json!({
        "model": "m", "input": [
            {"role": "user", "content": "go"},
            {"type": "function_call", "call_id": "a", "namespace": "crew", "name": "spawn", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "done"},
        ],
        "tools": [
            {"type": "function", "name": "spawn", "parameters": {}},
            {"type": "namespace", "name": "crew", "tools": [{"type": "function", "name": "spawn", "description": "Spawns."}]},
        ],
    });
    let told = told(Dialect::Responses, &request);
    let names = told.tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>();
    assert_eq!(names, ["spawn", "crew__spawn"]);
    assert_eq!(told.folders["crew__spawn"], ("crew".to_owned(), "spawn".to_owned()));
    let Message::Tool(result) = &told.lines[2].message else { panic!("a result") };
    assert_eq!(result.tool, "crew__spawn");
}

/// The refusal of a conversation with one thing changed.
fn refused(dialect: Dialect, place: &str, value: Value) -> String {
    let mut request = match dialect {
        Dialect::Chat => chat(),
        Dialect::Responses => responses(),
        Dialect::Messages => messages(),
    };
    let (around, name) = place.rsplit_once('/').expect("a place");
    match request.pointer_mut(around).expect(place) {
        Value::Array(items) => items[name.parse::<usize>().expect("an index")] = value,
        around => around[name] = value,
    }
    read(dialect, request.as_object().expect("an object")).expect_err(place).to_string()
}

#[test]
fn what_cannot_be_said_is_named() {
    let check = |dialect, place: &str, value: Value, expect: &str| {
        let problem = refused(dialect, place, value);
        assert!(problem.contains(expect), "{place}: {problem}");
    };
    use Dialect::{Chat, Messages, Responses};
    check(Chat, "/stop", json!(["END"]), "`stop`");
    check(Chat, "/tool_choice", json!("required"), "`tool_choice`");
    check(Chat, "/tools/0/type", json!("custom"), "a tool of the kind `custom`");
    check(Chat, "/messages/2/content/0", json!({"type": "input_audio"}), "`input_audio`");
    check(Chat, "/messages/2/content/1/image_url/url", json!("https://x/y.png"), "not in the request itself");
    check(Chat, "/messages/2/content/1/image_url/url", json!("data:image/png;base64,!!"), "no base64");
    check(Chat, "/messages/2/content/1/image_url/url", json!("data:image/png;base64,aGVsbG8="), "broken");
    check(Chat, "/messages/4/tool_call_id", json!("z"), "the call `z`, which nobody made");
    check(Chat, "/response_format", json!({"type": "grammar"}), "`grammar`");
    check(Responses, "/previous_response_id", json!("r"), "`previous_response_id`");
    check(Responses, "/background", json!(true), "`background`");
    check(Responses, "/tools/0", json!({"type": "web_search"}), "web_search = \"disabled\"");
    check(Responses, "/tools/0", json!({"type": "mcp", "server_url": "https://x"}), "`mcp`");
    check(Responses, "/input/2", json!({"type": "web_search_call"}), "`web_search_call`");
    check(Messages, "/mcp_servers", json!([{"url": "https://x"}]), "`mcp_servers`");
    check(Messages, "/stop_sequences", json!(["END"]), "`stop_sequences`");
    check(Messages, "/tools/0/type", json!("web_search_20250305"), "`web_search_20250305`");
    check(Messages, "/tools/0/defer_loading", json!(true), "ENABLE_TOOL_SEARCH=false");
    check(Messages, "/messages/0/content/1", json!({"type": "document"}), "`document`");
    check(
        Messages,
        "/messages/0/content/1/source",
        json!({"type": "url", "url": "https://x"}),
        "not in the request itself",
    );
    check(Messages, "/messages/1/content/0", json!({"type": "server_tool_use"}), "`server_tool_use`");
    check(Messages, "/messages/0/role", json!("king"), "`king`");
}

#[test]
fn a_field_that_asks_for_nothing_is_no_obstacle() {
    for nothing in [json!(null), json!(false), json!(0), json!(""), json!([]), json!({})] {
        let mut request = chat();
        request["something_new"] = nothing;
        told(Dialect::Chat, &request);
    }
    assert!(refused(Dialect::Chat, "/something_new", json!(1)).contains("`something_new`"));
}
