//! `WantedChange`: what is to be different about an objective, in the words of the four kinds of redirects. A person says it with flags or
//! at a terminal, or a planner makes it of what a person said. Checks and atoms are texts here, which `windlass-plan` reads.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::agent_response::or_default;
use super::object;
use crate::graph::Constraints;
use crate::visible::is_hidden;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WantedChange {
    /// What it comes to, or why there is none to be made.
    #[serde(deserialize_with = "or_default")]
    pub message: String,
    #[serde(deserialize_with = "or_default")]
    pub objective: WantedObjective,
    #[serde(deserialize_with = "or_default")]
    pub graph: WantedGraph,
    #[serde(deserialize_with = "or_default")]
    pub limits: WantedLimits,
    pub binding: Option<WantedBinding>,
}

/// What is left out stays as it was agreed on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WantedObjective {
    pub goal: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub base_case: Vec<Written>,
    pub intent: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub deliverables: Vec<String>,
    pub done: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WantedGraph {
    #[serde(deserialize_with = "or_default")]
    pub add: Vec<Written>,
    /// What is to hold what is added; none for the whole.
    pub to: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub drop: Vec<String>,
    /// By group.
    #[serde(deserialize_with = "or_default")]
    pub select: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WantedLimits {
    pub max_iterations: Option<NonZeroU32>,
    pub max_parallel_agents: Option<NonZeroU32>,
    pub max_stall_count: Option<NonZeroU32>,
    pub max_atoms: Option<NonZeroU32>,
    pub max_choices: Option<u32>,
    pub max_split_depth: Option<u32>,
    pub max_replan_depth: Option<u32>,
}

impl WantedLimits {
    /// What is wanted, and the rest as it is agreed on.
    #[must_use]
    pub fn over(&self, agreed: Constraints) -> Constraints {
        Constraints {
            max_iterations: self.max_iterations.map(u32::from).or(agreed.max_iterations),
            max_parallel_agents: self.max_parallel_agents.map_or(agreed.max_parallel_agents, u32::from),
            max_stall_count: self.max_stall_count.map_or(agreed.max_stall_count, u32::from),
            max_atoms: self.max_atoms.map_or(agreed.max_atoms, u32::from),
            max_choices: self.max_choices.unwrap_or(agreed.max_choices),
            max_split_depth: self.max_split_depth.unwrap_or(agreed.max_split_depth),
            max_replan_depth: self.max_replan_depth.unwrap_or(agreed.max_replan_depth),
            probe_before_switch: agreed.probe_before_switch,
        }
    }
}

/// What an atom came to, in other words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WantedBinding {
    pub atom: String,
    pub text: String,
}

/// Of a document, in YAML; a model may write it as the JSON that it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Written(pub String);

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Value::deserialize(deserializer)? {
            Value::String(text) => text,
            other => other.to_string(),
        }))
    }
}

/// An answer says what is to be different, or why nothing can be. What nobody would see is no part of either.
pub fn read_wanted_change(text: &str) -> Result<WantedChange, String> {
    let answer: Value = object::read(text)?;
    if let Some(letter) = hidden(&answer) {
        return Err(format!(
            "it holds the character U+{:04X}, which nobody would see: leave it out",
            u32::from(letter)
        ));
    }
    let wanted = WantedChange::deserialize(answer)
        .map_err(|error| format!("the JSON object is not what was asked for: {error}"))?;
    if wanted.is_empty() && wanted.message.trim().is_empty() {
        return Err("nothing is to be different: fill in one of `objective`, `graph`, `limits` and `binding`, or say in `message` why there is no such change".to_owned());
    }
    Ok(wanted)
}

impl WantedChange {
    pub fn is_empty(&self) -> bool {
        self.objective == WantedObjective::default()
            && self.graph == WantedGraph::default()
            && self.limits == WantedLimits::default()
            && self.binding.is_none()
    }
}

fn hidden(value: &Value) -> Option<char> {
    match value {
        Value::String(text) => text.chars().find(|letter| is_hidden(*letter) && !matches!(letter, '\n' | '\t')),
        Value::Array(values) => values.iter().find_map(hidden),
        Value::Object(fields) => fields
            .iter()
            .find_map(|(name, value)| name.chars().find(|letter| is_hidden(*letter)).or_else(|| hidden(value))),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_leave_out_what_they_do_not_mean_in_every_way() {
        let text = r#"{"message": null, "objective": null, "graph": {"add": null, "drop": ["docs"], "select": {"how": "b"}}, "binding": null}"#;
        let wanted = read_wanted_change(text).expect("it is one");
        assert_eq!(wanted.graph.drop, ["docs"]);
        assert_eq!(wanted.graph.select.get("how").map(String::as_str), Some("b"));
        assert!(read_wanted_change(r#"{"message": "There is no such atom."}"#).expect("a word").is_empty());
    }

    #[test]
    fn a_document_is_taken_as_text_or_as_what_it_is() {
        let text = r#"{"objective": {"base_case": ["file: a", {"file": "b"}]}}"#;
        let written = read_wanted_change(text).expect("it is one").objective.base_case;
        assert_eq!(written, [Written("file: a".to_owned()), Written(r#"{"file":"b"}"#.to_owned())]);
    }

    #[test]
    fn what_is_no_change_is_said_in_words_that_a_model_can_act_on() {
        for (text, words) in [
            ("I would drop it.", "there is no JSON object"),
            ("{}", "nothing is to be different"),
            (r#"{"objective": {}}"#, "nothing is to be different"),
            (r#"{"drop": ["a"]}"#, "unknown field `drop`"),
            (r#"{"limits": {"max_iterations": 0}}"#, "nonzero"),
            (r#"{"graph": {"drop": ["a\u202e"]}}"#, "U+202E"),
            (r#"{"message": "fine\u001b[2K", "graph": {"drop": ["a"]}}"#, "U+001B"),
        ] {
            let said = read_wanted_change(text).expect_err(text);
            assert!(said.contains(words), "{text}: {said}");
        }
    }
}
