//! A question of the agent's, and the answers that it can be given: one of the options that came with it, known by their kinds.

use serde_json::{Value, json};

use super::call::weight;
use crate::jsonrpc::{list, reply, text};

#[derive(Debug)]
pub struct Question {
    id: Value,
    allow: Option<String>,
    reject: Option<String>,
}

impl Question {
    /// Of each meaning the narrowest option that there is.
    pub fn new(id: Value, params: &Value) -> Self {
        let options = list(params, "/options");
        Self {
            id,
            allow: option(options, ["allow_once", "allow_always"]),
            reject: option(options, ["reject_once", "reject_always"]),
        }
    }

    /// How much is remembered of it.
    pub fn weight(&self) -> usize {
        let options = [&self.allow, &self.reject].into_iter().flatten().map(String::len).sum::<usize>();
        weight(&self.id) + options
    }

    pub fn allow(&self) -> Vec<u8> {
        self.choose(self.allow.as_deref())
    }

    pub fn reject(&self) -> Vec<u8> {
        self.choose(self.reject.as_deref())
    }

    pub fn cancel(&self) -> Vec<u8> {
        reply(&self.id, &cancelled())
    }

    /// Where no option means it, the question is as good as never answered.
    fn choose(&self, option: Option<&str>) -> Vec<u8> {
        let chosen = |option| json!({ "outcome": { "outcome": "selected", "optionId": option } });
        reply(&self.id, &option.map_or_else(cancelled, chosen))
    }
}

pub fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}

/// The first option of the first of these kinds that there is.
fn option(options: &[Value], kinds: [&str; 2]) -> Option<String> {
    kinds
        .iter()
        .find_map(|kind| options.iter().find(|option| text(option, "/kind") == *kind))
        .map(|option| text(option, "/optionId").to_owned())
}
