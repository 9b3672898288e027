//! What a request would have the provider do elsewhere in the agent's name: search and fetch, talk to servers of the agent's
//! choosing, run code. An agent in a sandbox without a network must not have one by way of its model. Pure; tools that the agent
//! runs itself are known by kind, and what is not known is refused.

use serde_json::{Map, Value};

use crate::dialect::Dialect;

/// The first such thing, in words that fit after "asks for".
pub fn beyond(dialect: Dialect, request: &Map<String, Value>) -> Option<String> {
    let tools = request.get("tools").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let by_tool = || tools.iter().find_map(|tool| tool_beyond(dialect, tool));
    let by_field = || {
        let asks = |name: &&str| request.get(*name).is_some_and(|value| !is_empty(value));
        ["mcp_servers", "web_search_options", "container"].into_iter().find(asks).map(|name| format!("`{name}`"))
    };
    let said = ["system", "messages", "instructions", "input"].iter().filter_map(|name| request.get(*name));
    by_field().or_else(by_tool).or_else(|| said.into_iter().find_map(address_in))
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

fn tool_beyond(dialect: Dialect, tool: &Value) -> Option<String> {
    let kind = tool.get("type").and_then(Value::as_str).unwrap_or_default();
    let is_the_agents = match dialect {
        Dialect::Chat => matches!(kind, "function" | "custom"),
        Dialect::Messages => {
            let families = ["bash_", "text_editor_", "computer_", "memory_", "tool_search_tool_"];
            matches!(kind, "" | "custom") || families.iter().any(|family| kind.starts_with(family))
        }
        Dialect::Responses => match kind {
            // What the provider has in store already is looked up, nothing outside.
            "web_search" => tool.get("external_web_access") == Some(&Value::Bool(false)),
            "namespace" => return tool.get("tools")?.as_array()?.iter().find_map(|tool| tool_beyond(dialect, tool)),
            "function" | "custom" | "local_shell" | "shell" | "apply_patch" | "tool_search" => true,
            _ => kind.starts_with("computer"),
        },
    };
    (!is_the_agents).then(|| format!("the tool `{kind}`"))
}

/// A picture or document that the provider would have to fetch: what is in the request itself begins with `data:`.
fn address_in(content: &Value) -> Option<String> {
    match content {
        Value::Array(items) => items.iter().find_map(address_in),
        Value::Object(part) => {
            let pointed = ["image_url", "file_url", "source"].iter().find_map(|name| elsewhere(part.get(*name)?));
            pointed.or_else(|| ["content", "output", "source"].iter().find_map(|name| address_in(part.get(*name)?)))
        }
        _ => None,
    }
}

fn elsewhere(pointer: &Value) -> Option<String> {
    let address = pointer.as_str().or_else(|| pointer.get("url")?.as_str())?;
    let is_here = address.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"));
    (!is_here).then(|| "something that is at an address, and not in the request".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(dialect: Dialect, request: Value, expect: Option<&str>) {
        let found = beyond(dialect, request.as_object().expect("an object"));
        match expect {
            None => assert_eq!(found, None, "{request}"),
            Some(expect) => assert!(found.as_ref().is_some_and(|found| found.contains(expect)), "{request}: {found:?}"),
        }
    }

    #[test]
    fn what_the_agent_does_itself_is_its_own_business() {
        use Dialect::{Chat, Messages, Responses};
        check(Chat, json!({"tools": [{"type": "function"}, {"type": "custom"}], "messages": []}), None);
        check(Messages, json!({"tools": [{"name": "Bash"}, {"type": "bash_20250124"}], "mcp_servers": []}), None);
        let folder = json!({"type": "namespace", "tools": [{"type": "function"}]});
        let stored = json!({"type": "web_search", "external_web_access": false});
        check(Responses, json!({"tools": [{"type": "function"}, folder, stored], "input": "https://x"}), None);
        let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}});
        let text = json!({"type": "text", "text": "see https://x"});
        check(Chat, json!({"messages": [{"role": "user", "content": [image, text]}]}), None);
        let source = json!({"type": "image", "source": {"type": "base64", "data": "AA=="}});
        check(Messages, json!({"messages": [{"content": [{"type": "tool_result", "content": [source]}]}]}), None);
    }

    #[test]
    fn what_the_provider_would_do_elsewhere_is_found() {
        use Dialect::{Chat, Messages, Responses};
        check(Messages, json!({"mcp_servers": [{"url": "https://x"}]}), Some("`mcp_servers`"));
        check(Messages, json!({"tools": [{"name": "a"}, {"type": "web_fetch_20250910"}]}), Some("web_fetch_20250910"));
        check(Messages, json!({"tools": [{"type": "code_execution_20250522"}]}), Some("code_execution"));
        check(Chat, json!({"web_search_options": {}}), Some("`web_search_options`"));
        check(Responses, json!({"tools": [{"type": "web_search"}]}), Some("`web_search`"));
        check(Responses, json!({"tools": [{"type": "web_search", "external_web_access": true}]}), Some("`web_search`"));
        let folder = json!({"type": "namespace", "tools": [{"type": "mcp"}]});
        check(Responses, json!({"tools": [folder]}), Some("`mcp`"));
        let image = json!({"type": "image", "source": {"type": "url", "url": "https://x/?secret"}});
        let document = json!({"type": "document", "source": {"type": "content", "content": [image]}});
        check(Messages, json!({"messages": [{"role": "user", "content": [document]}]}), Some("at an address"));
        let image = json!({"type": "image_url", "image_url": {"url": "HTTPS://x/?secret"}});
        check(Chat, json!({"messages": [{"role": "user", "content": [image]}]}), Some("at an address"));
        let image = json!({"type": "input_image", "image_url": "https://x"});
        check(
            Responses,
            json!({"input": [{"type": "function_call_output", "output": [image]}]}),
            Some("at an address"),
        );
        let source = json!({"type": "document", "source": {"type": "url", "url": "http://x"}});
        check(
            Messages,
            json!({"messages": [{"content": [{"type": "tool_result", "content": [source]}]}]}),
            Some("at an address"),
        );
        check(
            Responses,
            json!({"input": [{"content": [{"type": "input_file", "file_url": "https://x"}]}]}),
            Some("at an address"),
        );
    }
}
