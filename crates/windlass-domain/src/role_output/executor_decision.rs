//! `EXECUTOR_DECISION` (seed 003): what a model that is given no tools decides, one call at a time. Its account of where it stands
//! (`state`) is read over: the tracker's counts.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::object;

#[derive(Debug, Clone, PartialEq)]
pub enum ExecutorDecision {
    /// Make this call.
    CallTool {
        tool: String,
        arguments: Map<String, Value>,
        reasoning: String,
    },
    Done {
        reasoning: String,
    },
    Escalate {
        reasoning: String,
    },
}

pub const EXECUTOR_DECISION: &str = "EXECUTOR_DECISION";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default, rename = "_type")]
    kind: Option<String>,
    action: Action,
    #[serde(default)]
    tool: Option<Tool>,
    #[serde(default, rename = "state")]
    _state: Option<IgnoredAny>,
    #[serde(default)]
    reasoning: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Action {
    CallTool,
    Done,
    Escalate,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    name: String,
    #[serde(default)]
    args: Map<String, Value>,
}

pub fn read_executor_decision(text: &str) -> Result<ExecutorDecision, String> {
    let Written { kind, action, tool, reasoning, .. } = object::read(text)?;
    if kind.is_some_and(|kind| kind != EXECUTOR_DECISION) {
        return Err(format!("`_type` must be `{EXECUTOR_DECISION}`"));
    }
    let reasoning = reasoning.unwrap_or_default().trim().to_owned();
    Ok(match action {
        Action::Done => ExecutorDecision::Done { reasoning },
        Action::Escalate => ExecutorDecision::Escalate { reasoning },
        Action::CallTool => {
            let Tool { name, args } = tool.ok_or("`tool` is missing: say which one to call")?;
            ExecutorDecision::CallTool { tool: name, arguments: args, reasoning }
        }
    })
}

/// The form of a decision among these tools, each a name and the schema of its arguments, for servers that can hold a model to it.
pub fn decision_schema<'a>(tools: impl IntoIterator<Item = (&'a str, &'a Value)>) -> Value {
    let kind = json!({"type": "string", "enum": [EXECUTOR_DECISION]});
    let reasoning = json!({"type": "string", "maxLength": 200});
    let call = |(name, parameters): (&str, &Value)| {
        json!({
            "type": "object",
            "properties": {
                "_type": kind,
                "action": {"type": "string", "enum": ["CALL_TOOL"]},
                "tool": {
                    "type": "object",
                    "properties": {"name": {"type": "string", "enum": [name]}, "args": parameters},
                    "required": ["name", "args"],
                    "additionalProperties": false,
                },
                "reasoning": reasoning,
            },
            "required": ["_type", "action", "tool", "reasoning"],
            "additionalProperties": false,
        })
    };
    let ends = json!({
        "type": "object",
        "properties": {
            "_type": kind,
            "action": {"type": "string", "enum": ["DONE", "ESCALATE"]},
            "reasoning": reasoning,
        },
        "required": ["_type", "action", "reasoning"],
        "additionalProperties": false,
    });
    let forms: Vec<Value> = tools.into_iter().map(call).chain([ends]).collect();
    // Some servers want to read at once that it is an object.
    json!({"type": "object", "anyOf": forms})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_of_the_seed_is_read() {
        let call = r#"{"_type": "EXECUTOR_DECISION", "action": "CALL_TOOL", "tool": {"name": "read", "args": {"path": "a"}},
            "state": {"step": 99, "completed": ["everything"], "pending": []}, "reasoning": "look first"}"#;
        let ExecutorDecision::CallTool { tool, arguments, reasoning } = read_executor_decision(call).unwrap() else {
            panic!("a call")
        };
        assert_eq!((tool.as_str(), arguments["path"].as_str(), reasoning.as_str()), ("read", Some("a"), "look first"));
        let done = read_executor_decision(r#"{"action": "DONE", "reasoning": "It is written."}"#).unwrap();
        assert_eq!(done, ExecutorDecision::Done { reasoning: "It is written.".to_owned() });
        let stuck = read_executor_decision("I am lost.\n{\"action\": \"ESCALATE\"}").unwrap();
        assert_eq!(stuck, ExecutorDecision::Escalate { reasoning: String::new() });
    }

    #[test]
    fn what_is_wrong_is_said_so_that_it_can_be_mended() {
        let check = |text: &str, words: &str| {
            let said = read_executor_decision(text).unwrap_err();
            assert!(said.contains(words), "{text}: {said}");
        };
        check("I would read the file.", "answer with one JSON object");
        check(r#"{"action": "READ"}"#, "unknown variant `READ`, expected one of `CALL_TOOL`, `DONE`, `ESCALATE`");
        check(r#"{"action": "CALL_TOOL"}"#, "`tool` is missing");
        check(r#"{"action": "DONE", "why": "x"}"#, "unknown field `why`");
        check(r#"{"_type": "PLAN", "action": "DONE"}"#, "`_type` must be");
        check(r#"{"action": "CALL_TOOL", "tool": {"name": "read", "args": "a"}}"#, "expected a map");
    }

    #[test]
    fn the_schema_has_one_form_for_each_tool_and_one_to_end() {
        let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}});
        let schema = decision_schema([("read", &parameters)]);
        let forms = schema["anyOf"].as_array().unwrap();
        assert_eq!(forms.len(), 2);
        assert_eq!(forms[0]["properties"]["tool"]["properties"]["args"], parameters);
        assert_eq!(forms[1]["properties"]["action"]["enum"], json!(["DONE", "ESCALATE"]));
    }
}
