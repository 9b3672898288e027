//! What a gate's `config` says, by its type and provider. Unknown words are refused; patterns are compiled here, bounded, so
//! that a gate which was read can be evaluated in time proportional to the text.

use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use windlass_domain::Taint;

use super::Decision;
use super::vocabulary::{GateType, Provider};
use crate::risk::Level;

const MAX_PATTERN_BYTES: usize = 4 * 1024;
const MAX_COMPILED_BYTES: usize = 1024 * 1024;
const MAX_TIMEOUT_SECONDS: u64 = 600;

#[derive(Debug, Clone)]
pub enum Config {
    NumericRange {
        field: String,
        min: Option<f64>,
        max: Option<f64>,
    },
    StringMatch {
        field: String,
        any_of: Vec<String>,
        ignore_case: bool,
        must: Must,
    },
    Regex {
        field: String,
        pattern: Regex,
        must: Must,
        replace: Option<String>,
    },
    FileValid {
        field: String,
        extensions: Vec<String>,
        max_bytes: Option<u64>,
    },
    ApprovalAlways,
    Taint {
        max: Taint,
    },
    Risk {
        approve_at: Level,
        block_at: Level,
    },
    Script {
        run: Vec<String>,
        timeout_seconds: u64,
    },
    Llm {
        criteria: String,
        pass_threshold: f64,
        timeout_seconds: u64,
    },
    /// Of a provider that is not known nothing can be said.
    Unknown,
}

/// Whether the text must or must not be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Must {
    #[default]
    BeAbsent,
    BePresent,
}

/// What a rule that is broken leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Block,
    RequireApproval,
}

impl Effect {
    pub const fn decision(self) -> Decision {
        match self {
            Self::Block => Decision::Block,
            Self::RequireApproval => Decision::RequireApproval,
        }
    }
}

/// What every config may hold besides its own words.
pub struct Shared {
    /// The tools it speaks of; none means all.
    pub tools: Vec<String>,
    pub effect: Option<Effect>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NumericRange {
    field: String,
    min: Option<f64>,
    max: Option<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StringMatch {
    field: String,
    any_of: Vec<String>,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    must: Must,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pattern {
    field: String,
    pattern: String,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    must: Must,
    replace: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileValid {
    field: String,
    #[serde(default)]
    extensions: Vec<String>,
    max_bytes: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HighestTaint {
    max: String,
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Levels {
    approve_at: Level,
    block_at: Level,
}

impl Default for Levels {
    fn default() -> Self {
        Self { approve_at: Level::High, block_at: Level::Critical }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Script {
    run: Vec<String>,
    #[serde(default = "half_a_minute")]
    timeout: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Llm {
    criteria: String,
    #[serde(default = "most")]
    pass_threshold: f64,
    #[serde(default = "half_a_minute")]
    timeout: u64,
}

const fn half_a_minute() -> u64 {
    30
}

const fn most() -> f64 {
    0.7
}

/// The reason is a lower-case fragment for whoever wrote the file.
pub fn read(kind: GateType, provider: &Provider, config: Value) -> Result<(Config, Shared), String> {
    let mut fields = match config {
        Value::Null => Map::new(),
        Value::Object(fields) => fields,
        _ => return Err("`config` must be a mapping".to_owned()),
    };
    if matches!(provider, Provider::Unknown(_)) {
        return Ok((Config::Unknown, Shared { tools: Vec::new(), effect: None }));
    }
    let tools = fields.remove("tools").map(typed::<Vec<String>>).transpose()?.unwrap_or_default();
    let effect = fields.remove("effect").map(typed::<Effect>).transpose()?;
    let config = match provider {
        Provider::Script => script(typed(Value::Object(fields))?)?,
        Provider::Llm => llm(typed(Value::Object(fields))?)?,
        Provider::Predicate | Provider::Unknown(_) => predicate(kind, Value::Object(fields))?,
    };
    Ok((config, Shared { tools, effect }))
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn predicate(kind: GateType, config: Value) -> Result<Config, String> {
    match kind {
        GateType::NumericRange => numeric_range(typed(config)?),
        GateType::StringMatch => string_match(typed(config)?),
        GateType::Regex => pattern(typed(config)?),
        GateType::FileValid => {
            let FileValid { field, extensions, max_bytes } = typed(config)?;
            Ok(Config::FileValid { field, extensions, max_bytes })
        }
        GateType::ApprovalAlways => typed(config).map(|Nothing {}| Config::ApprovalAlways),
        GateType::Taint => match typed::<HighestTaint>(config)?.max.as_str() {
            "owner" => Ok(Config::Taint { max: Taint::Owner }),
            "auth" => Ok(Config::Taint { max: Taint::Auth }),
            other => Err(format!("`max` must be owner or auth, not `{other}`; external would let everything pass")),
        },
        GateType::Risk => {
            let Levels { approve_at, block_at } = typed(config)?;
            Ok(Config::Risk { approve_at, block_at })
        }
        GateType::CustomCheck => Err("a custom_check needs the provider script or llm".to_owned()),
    }
}

fn numeric_range(NumericRange { field, min, max }: NumericRange) -> Result<Config, String> {
    match (min, max) {
        (None, None) => Err("a numeric_range needs `min` or `max`".to_owned()),
        (Some(min), Some(max)) if min > max => Err("`min` is larger than `max`, so that nothing passes".to_owned()),
        _ => Ok(Config::NumericRange { field, min, max }),
    }
}

fn string_match(config: StringMatch) -> Result<Config, String> {
    let StringMatch { field, any_of, ignore_case, must } = config;
    if any_of.is_empty() || any_of.iter().any(String::is_empty) {
        return Err("`any_of` needs texts, none of them empty".to_owned());
    }
    Ok(Config::StringMatch { field, any_of, ignore_case, must })
}

fn pattern(config: Pattern) -> Result<Config, String> {
    let Pattern { field, pattern, ignore_case, must, replace } = config;
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(format!("`pattern` is longer than {MAX_PATTERN_BYTES} bytes"));
    }
    let compiled = RegexBuilder::new(&pattern)
        .case_insensitive(ignore_case)
        .size_limit(MAX_COMPILED_BYTES)
        .dfa_size_limit(MAX_COMPILED_BYTES)
        .nest_limit(64)
        .build();
    let pattern = compiled.map_err(|error| {
        let reason = error.to_string();
        let last = reason.lines().last().unwrap_or_default();
        format!("`pattern` cannot be used: {}", last.trim_start_matches("error: "))
    })?;
    Ok(Config::Regex { field, pattern, must, replace })
}

fn script(Script { run, timeout }: Script) -> Result<Config, String> {
    if run.first().is_none_or(String::is_empty) {
        return Err("`run` needs a program and its arguments".to_owned());
    }
    Ok(Config::Script { run, timeout_seconds: bounded(timeout)? })
}

fn llm(Llm { criteria, pass_threshold, timeout }: Llm) -> Result<Config, String> {
    if !(0.0..=1.0).contains(&pass_threshold) {
        return Err("`pass_threshold` must be between 0 and 1".to_owned());
    }
    Ok(Config::Llm { criteria, pass_threshold, timeout_seconds: bounded(timeout)? })
}

fn bounded(timeout: u64) -> Result<u64, String> {
    match timeout {
        1..=MAX_TIMEOUT_SECONDS => Ok(timeout),
        _ => Err(format!("`timeout` must be between 1 and {MAX_TIMEOUT_SECONDS} seconds")),
    }
}
