//! Gates that can be read and yet could never do what they say: a field that is not there when they look, an effect that nothing
//! heeds, a model where none can be asked. They are refused with the file, because who wrote one believes to be guarded.

use super::config::{Config, Effect};
use super::vocabulary::Trigger;

/// The reason is a lower-case fragment for whoever wrote the file.
pub fn check(on: Trigger, config: &Config, effect: Option<Effect>) -> Result<(), String> {
    if on == Trigger::EveryUserMessage && matches!(config, Config::Llm { .. }) {
        let advice = "use a predicate or a script there, or on every_agent_response";
        return Err(format!("before a task runs no model can be asked: {advice}"));
    }
    if let (Some(_), Some(why)) = (effect, without_effect(config)) {
        return Err(format!("`effect` means nothing here: {why}; leave it out"));
    }
    match config {
        Config::NumericRange { field, .. } | Config::StringMatch { field, .. } | Config::FileValid { field, .. } => {
            is_there(on, field)
        }
        Config::Regex { field, replace, .. } => {
            is_there(on, field)?;
            if replace.is_some() { can_be_rewritten(on, field) } else { Ok(()) }
        }
        _ => Ok(()),
    }
}

/// What decides instead.
const fn without_effect(config: &Config) -> Option<&'static str> {
    match config {
        Config::Risk { .. } => Some("`approve_at` and `block_at` say what follows"),
        Config::Script { .. } => Some("the script's answer says what follows"),
        Config::ApprovalAlways => Some("you are always asked"),
        Config::Regex { replace: Some(_), .. } => Some("what is rewritten passes"),
        _ => None,
    }
}

fn is_there(on: Trigger, field: &str) -> Result<(), String> {
    let (first, has_more) = field.split_once('.').map_or((field, false), |(first, _)| (first, true));
    if !on.fields().contains(&first) {
        let words = on.fields().iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
        return Err(format!("there is no `{field}` at this trigger: `field` begins with {words}"));
    }
    let has_parts = matches!(first, "tool_args" | "step");
    match has_more && !has_parts {
        true => Err(format!("there is no `{field}`: `{first}` is text and has no parts")),
        false => Ok(()),
    }
}

fn can_be_rewritten(on: Trigger, field: &str) -> Result<(), String> {
    let first = field.split('.').next().unwrap_or_default();
    match on.rewritable() {
        Some(rewritable) if rewritable == first => Ok(()),
        Some(rewritable) => Err(format!("`{field}` cannot be rewritten here, only `{rewritable}`")),
        None => Err(format!("`{field}` cannot be rewritten: at this trigger nothing can")),
    }
}
