//! On what terms a request is sent on: which of its fields the provider may hear, and how long an answer it asks for. A budget
//! holds only where a request costs what we think it does, and ends when we hang up. So what is let through is listed, for each
//! language; of what is not, some is left out, since the agent loses nothing by it, and the rest is refused. Pure.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::dialect::Dialect;

/// Fields that are left out, or written otherwise.
pub type Changes = BTreeMap<&'static str, Option<Value>>;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Untaken {
    #[error("the request has the field `{0}`, and Windlass cannot tell what that would cost; ask without it")]
    Unknown(String),
    #[error("`{0}` is no whole number of tokens; send one")]
    NotACount(&'static str),
    #[error("the request asks for several answers at once; ask for one, without `n`")]
    Several,
    #[error("the request is to be answered in the background, where nobody can stop it; ask without `background`")]
    Background,
    #[error(
        "the request goes on from what the provider has in store (`{0}`), whose length nobody here knows; send the conversation itself"
    )]
    Stored(&'static str),
    #[error(
        "the request wants an answer that is not text (`modalities`), and Windlass cannot tell what that would cost; ask for text"
    )]
    NotText,
    #[error(
        "the request wants something kept in a cache for longer than `5m`, which costs more than Windlass thinks; ask without `ttl`"
    )]
    Kept,
}

/// A request's, as it was read.
#[derive(Debug, PartialEq)]
pub struct Terms {
    /// How many tokens it says that the answer may have.
    pub most_output: Option<u64>,
    pub changes: Changes,
}

/// In all three languages.
const LET: &[&str] =
    &["model", "tools", "tool_choice", "stream", "stream_options", "temperature", "top_p", "top_k", "metadata"];

const LET_IN_CHAT: &[&str] = &[
    "messages",
    "max_tokens",
    "max_completion_tokens",
    "response_format",
    "parallel_tool_calls",
    "stop",
    "seed",
    "min_p",
    "frequency_penalty",
    "presence_penalty",
    "repetition_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "reasoning_effort",
    "thinking",
    "enable_thinking",
    "chat_template_kwargs",
    "verbosity",
    "usage",
    // Of these another rule says what is wrong with them.
    "web_search_options",
];

const LET_IN_RESPONSES: &[&str] = &[
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "parallel_tool_calls",
    "text",
    "reasoning",
    "include",
    "truncation",
    "top_logprobs",
    "client_metadata",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "prompt_cache_retention",
];

const LET_IN_MESSAGES: &[&str] = &[
    "messages",
    "system",
    "max_tokens",
    "stop_sequences",
    "thinking",
    "context_management",
    "output_config",
    "output_format",
    "cache_control",
    // Of these another rule says what is wrong with them.
    "mcp_servers",
    "container",
];

/// What an agent loses nothing by: how soon it is answered, and for how much.
const LEFT_OUT: &[&str] = &["service_tier", "speed", "prediction"];
const STORED: &[&str] = &["previous_response_id", "conversation", "prompt"];

impl Terms {
    pub fn of(dialect: Dialect, request: &Map<String, Value>) -> Result<Self, Untaken> {
        let mut changes = Changes::new();
        for (name, value) in request.iter().filter(|(name, value)| !is_let(dialect, name) && !is_nothing(value)) {
            let name = name.as_str();
            if let Some(left_out) = LEFT_OUT.iter().find(|known| **known == name) {
                changes.insert(left_out, None);
            } else if let Some(stored) = STORED.iter().find(|known| **known == name) {
                return Err(Untaken::Stored(stored));
            } else {
                match name {
                    "store" => _ = changes.insert("store", Some(Value::Bool(false))),
                    "n" if *value == json!(1) => {}
                    "n" => return Err(Untaken::Several),
                    "background" => return Err(Untaken::Background),
                    "modalities" if *value == json!(["text"]) => {}
                    "modalities" => return Err(Untaken::NotText),
                    _ => return Err(Untaken::Unknown(name.to_owned())),
                }
            }
        }
        if dialect == Dialect::Messages && is_kept_long(request) {
            return Err(Untaken::Kept);
        }
        let mut said = Vec::new();
        for name in limits(dialect) {
            match request.get(*name) {
                None | Some(Value::Null) => {}
                Some(limit) => said.push((*name, limit.as_u64().ok_or(Untaken::NotACount(name))?)),
            }
        }
        let most_output = said.iter().map(|(_, limit)| *limit).min();
        // Which of two counts is for the model's server to say: so that it is the one that is paid for, both say the same.
        for (name, limit) in said {
            changes.extend(most_output.filter(|most| *most < limit).map(|most| (name, Some(Value::from(most)))));
        }
        Ok(Self { most_output, changes })
    }

    pub fn apply(&self, request: &mut Map<String, Value>) {
        for (name, instead) in &self.changes {
            match instead {
                None => _ = request.remove(*name),
                Some(instead) => _ = request.insert((*name).to_owned(), instead.clone()),
            }
        }
    }

    /// The same with no more than so many tokens, under the name that the request has for it or else under the first of `names`.
    pub fn shortened(
        mut self,
        dialect: Dialect,
        request: &Map<String, Value>,
        otherwise: &'static str,
        most: u64,
    ) -> Changes {
        let said = limits(dialect).iter().copied().filter(|name| request.contains_key(*name)).collect::<Vec<_>>();
        for name in if said.is_empty() { vec![otherwise] } else { said } {
            self.changes.insert(name, Some(Value::from(most)));
        }
        // Who is to think for longer than it may speak is refused.
        let thinks_for =
            request.get("thinking").and_then(|thinking| thinking.get("budget_tokens")).and_then(Value::as_u64);
        if dialect == Dialect::Messages && thinks_for.is_some_and(|budget| budget >= most) {
            self.changes.insert("thinking", Some(json!({"type": "disabled"})));
            self.changes.insert("context_management", None);
        }
        self.changes
    }
}

/// What a language calls the limit on an answer.
pub const fn limits(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Chat => &["max_tokens", "max_completion_tokens"],
        Dialect::Responses => &["max_output_tokens"],
        Dialect::Messages => &["max_tokens"],
    }
}

/// Of what a request's header asks of Anthropic's interface, what costs no more than the model's own price.
pub fn without_dearer(betas: &str) -> String {
    const DEARER: &[&str] = &["context-1m", "fast-mode"];
    let is_let = |beta: &&str| !beta.is_empty() && !DEARER.iter().any(|dearer| beta.starts_with(dearer));
    betas.split(',').map(str::trim).filter(is_let).collect::<Vec<_>>().join(",")
}

fn is_let(dialect: Dialect, name: &str) -> bool {
    let own = match dialect {
        Dialect::Chat => LET_IN_CHAT,
        Dialect::Responses => LET_IN_RESPONSES,
        Dialect::Messages => LET_IN_MESSAGES,
    };
    LET.contains(&name) || own.contains(&name)
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::String(text) => text.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

fn is_kept_long(request: &Map<String, Value>) -> bool {
    let is_long = |part: &Value| part.pointer("/cache_control/ttl").is_some_and(|ttl| ttl != "5m");
    let of_request = request.get("cache_control").and_then(|control| control.get("ttl")).is_some_and(|ttl| ttl != "5m");
    let parts = |name: &str| request.get(name).and_then(Value::as_array).into_iter().flatten();
    let inside =
        |part: &'_ Value| -> Vec<Value> { part.get("content").and_then(Value::as_array).cloned().unwrap_or_default() };
    of_request
        || parts("system").chain(parts("tools")).any(is_long)
        || parts("messages")
            .any(|message| inside(message).iter().any(|block| is_long(block) || inside(block).iter().any(is_long)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIALECTS: [Dialect; 3] = [Dialect::Chat, Dialect::Responses, Dialect::Messages];

    fn terms(dialect: Dialect, request: &Value) -> Result<Terms, Untaken> {
        Terms::of(dialect, request.as_object().expect("an object"))
    }

    /// With `field` as it is, in each language.
    fn check(field: Value, expect: &Result<Changes, Untaken>) {
        for dialect in DIALECTS {
            let found = terms(dialect, &field).map(|terms| terms.changes);
            assert_eq!(&found, expect, "{dialect:?} {field}");
        }
    }

    #[test]
    fn what_only_makes_an_answer_dearer_or_sooner_is_left_out() {
        for field in ["service_tier", "speed", "prediction"] {
            check(json!({field: "fast"}), &Ok(Changes::from([(field, None)])));
        }
        check(json!({"store": true}), &Ok(Changes::from([("store", Some(Value::Bool(false)))])));
        check(json!({"store": false, "service_tier": null}), &Ok(Changes::new()));
    }

    #[test]
    fn of_two_limits_the_one_that_is_paid_for_is_asked_for() {
        let both = json!({"max_tokens": 10, "max_completion_tokens": 500_000});
        let found = terms(Dialect::Chat, &both).expect("it is taken");
        assert_eq!(found.most_output, Some(10));
        assert_eq!(found.changes, Changes::from([("max_completion_tokens", Some(Value::from(10)))]));
    }

    #[test]
    fn what_costs_otherwise_or_goes_on_without_us_is_refused() {
        check(json!({"n": 2}), &Err(Untaken::Several));
        check(json!({"n": "2"}), &Err(Untaken::Several));
        check(json!({"n": 1}), &Ok(Changes::new()));
        check(json!({"background": true}), &Err(Untaken::Background));
        check(json!({"background": false}), &Ok(Changes::new()));
        check(json!({"modalities": ["text", "audio"]}), &Err(Untaken::NotText));
        check(json!({"modalities": ["text"]}), &Ok(Changes::new()));
        for field in ["previous_response_id", "conversation", "prompt"] {
            check(json!({field: "x-1"}), &Err(Untaken::Stored(field)));
            check(json!({field: null}), &Ok(Changes::new()));
        }
        for field in ["requests", "inference_geo", "best_of", "models", "plugins", "provider", "of_tomorrow"] {
            check(json!({field: ["x"]}), &Err(Untaken::Unknown(field.to_owned())));
            check(json!({field: []}), &Ok(Changes::new()));
        }
    }

    #[test]
    fn each_language_has_its_own_names_and_those_of_others_are_refused() {
        for name in LET_IN_CHAT.iter().chain(LET_IN_RESPONSES).chain(LET_IN_MESSAGES).chain(LET) {
            let is_taken = |dialect| terms(dialect, &json!({*name: 7})).is_ok();
            let knows = |own: &[&str]| own.contains(name) || LET.contains(name);
            let expect = [knows(LET_IN_CHAT), knows(LET_IN_RESPONSES), knows(LET_IN_MESSAGES)];
            assert_eq!(DIALECTS.map(is_taken), expect, "{name}");
        }
    }

    #[test]
    fn a_limit_is_the_lowest_that_is_said_and_a_whole_number() {
        let most = |dialect, request: Value| terms(dialect, &request).map(|terms| terms.most_output);
        assert_eq!(most(Dialect::Messages, json!({"max_tokens": 9})), Ok(Some(9)));
        assert_eq!(most(Dialect::Responses, json!({"max_output_tokens": null})), Ok(None));
        assert_eq!(most(Dialect::Chat, json!({"max_tokens": 9, "max_completion_tokens": 7})), Ok(Some(7)));
        for wrong in [json!(1e9), json!("9"), json!(-1), json!([9])] {
            assert_eq!(most(Dialect::Chat, json!({"max_tokens": wrong})), Err(Untaken::NotACount("max_tokens")));
        }
    }

    #[test]
    fn a_shorter_answer_is_asked_for_by_the_name_that_was_used() {
        let check = |dialect, request: Value, expect: Changes| {
            let found = terms(dialect, &request).expect("it is taken");
            let changes = found.shortened(dialect, request.as_object().expect("an object"), "otherwise", 300);
            assert_eq!(changes, expect, "{request}");
        };
        let lowered = |name| Changes::from([(name, Some(json!(300)))]);
        check(Dialect::Messages, json!({"max_tokens": 900}), lowered("max_tokens"));
        check(Dialect::Responses, json!({"max_output_tokens": 900}), lowered("max_output_tokens"));
        check(Dialect::Chat, json!({"max_completion_tokens": 900}), lowered("max_completion_tokens"));
        check(Dialect::Chat, json!({}), lowered("otherwise"));
        let mut quick = lowered("max_tokens");
        quick.insert("speed", None);
        check(Dialect::Messages, json!({"max_tokens": 900, "speed": "fast"}), quick);
        let thinking = json!({"type": "enabled", "budget_tokens": 299});
        check(Dialect::Messages, json!({"max_tokens": 900, "thinking": thinking}), lowered("max_tokens"));
        let mut thoughtless = lowered("max_tokens");
        thoughtless.insert("thinking", Some(json!({"type": "disabled"})));
        thoughtless.insert("context_management", None);
        let thinking = json!({"type": "enabled", "budget_tokens": 300});
        check(Dialect::Messages, json!({"max_tokens": 900, "thinking": thinking}), thoughtless);
    }

    #[test]
    fn what_is_kept_for_an_hour_is_refused_wherever_it_stands() {
        let long = json!({"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "1h"}});
        let result = json!({"type": "tool_result", "content": [long]});
        for request in [
            json!({"cache_control": {"type": "ephemeral", "ttl": "1h"}}),
            json!({"system": [long]}),
            json!({"tools": [long]}),
            json!({"messages": [{"role": "user", "content": [long]}]}),
            json!({"messages": [{"role": "user", "content": [result]}]}),
        ] {
            assert_eq!(terms(Dialect::Messages, &request), Err(Untaken::Kept), "{request}");
            let short = request.to_string().replace("1h", "5m");
            let short = serde_json::from_str::<Value>(&short).expect("it is JSON");
            assert!(terms(Dialect::Messages, &short).is_ok(), "{short}");
        }
    }

    #[test]
    fn of_the_interfaces_novelties_those_that_cost_more_are_not_asked_for() {
        assert_eq!(without_dearer("a-1, context-1m-2025-08-07,fast-mode-2026-02-01,b-2"), "a-1,b-2");
        assert_eq!(without_dearer("context-1m-2025-08-07"), "");
    }
}
