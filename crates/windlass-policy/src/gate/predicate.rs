//! Predicates: rules on values, decided here and now.

use serde_json::Value;

use super::Decision;
use super::config::{Config, Effect, Must};
use super::evaluation::{Law, Rewrite};
use super::file::Gate;
use super::subject::{Subject, as_text};
use crate::risk::{Level, assess_call};

/// What a predicate says.
pub struct Said {
    pub decision: Decision,
    pub reason: String,
    pub rewrite: Option<Rewrite>,
}

impl Said {
    fn passes(reason: impl Into<String>) -> Self {
        Self { decision: Decision::Continue, reason: reason.into(), rewrite: None }
    }
}

pub fn judge(gate: &Gate, subject: &Subject, law: &Law<'_>) -> Said {
    let broken = |otherwise: Effect, reason: String| Said {
        decision: gate.effect.unwrap_or(otherwise).decision(),
        reason,
        rewrite: None,
    };
    match &gate.config {
        Config::NumericRange { field, min, max } => match number(subject, field) {
            None => broken(Effect::Block, format!("`{field}` is not a number")),
            Some(number) if min.is_some_and(|min| number < min) || max.is_some_and(|max| number > max) => {
                broken(Effect::Block, format!("`{field}` is {number}"))
            }
            Some(_) => Said::passes("within the range"),
        },
        Config::StringMatch { field, any_of, ignore_case, must } => {
            let text = subject.field(field).map(|value| as_text(&value));
            let found = text.as_deref().is_some_and(|text| contains_any(text, any_of, *ignore_case));
            present(*must, found, field, broken)
        }
        Config::Regex { field, pattern, must, replace } => {
            let text = subject.field(field).map(|value| as_text(&value));
            let found = text.as_deref().is_some_and(|text| pattern.is_match(text));
            match (replace, text) {
                (Some(replace), Some(before)) if found => {
                    let after = pattern.replace_all(&before, replace.as_str()).into_owned();
                    let rewrite = Rewrite {
                        gate: gate.name.clone(),
                        field: field.clone(),
                        before: Value::String(before),
                        after: Value::String(after),
                    };
                    Said { rewrite: Some(rewrite), ..Said::passes(format!("`{field}` was rewritten")) }
                }
                (Some(_), _) => Said::passes("nothing to rewrite"),
                (None, _) => present(*must, found, field, broken),
            }
        }
        Config::FileValid { field, extensions, max_bytes } => {
            match file_problem(subject, field, extensions, *max_bytes) {
                Some(problem) => broken(Effect::Block, problem),
                None => Said::passes("the file is as it should be"),
            }
        }
        Config::ApprovalAlways => broken(Effect::RequireApproval, "this always needs approval".to_owned()),
        Config::Taint { max } if subject.taint > *max => {
            let reason = format!("the context is {}", subject.taint.as_str());
            broken(Effect::RequireApproval, reason)
        }
        Config::Taint { .. } => Said::passes("the context may"),
        Config::Risk { approve_at, block_at } => risk(subject, law, *approve_at, *block_at),
        Config::Script { .. } | Config::Llm { .. } | Config::Unknown => {
            broken(Effect::Block, "this is not a predicate".to_owned())
        }
    }
}

fn present(must: Must, found: bool, field: &str, broken: impl Fn(Effect, String) -> Said) -> Said {
    match (must, found) {
        (Must::BeAbsent, true) => broken(Effect::Block, format!("`{field}` holds what it must not")),
        (Must::BePresent, false) => broken(Effect::Block, format!("`{field}` lacks what it must hold")),
        (Must::BeAbsent, false) | (Must::BePresent, true) => Said::passes("as it should be"),
    }
}

/// Numbers written as text count too, as models write them.
fn number(subject: &Subject, field: &str) -> Option<f64> {
    let number = match subject.field(field)? {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|number| number.is_finite())
}

fn contains_any(text: &str, any_of: &[String], ignore_case: bool) -> bool {
    if ignore_case {
        let text = text.to_lowercase();
        return any_of.iter().any(|wanted| text.contains(&wanted.to_lowercase()));
    }
    any_of.iter().any(|wanted| text.contains(wanted.as_str()))
}

fn file_problem(subject: &Subject, field: &str, extensions: &[String], max_bytes: Option<u64>) -> Option<String> {
    let Some(Value::String(path)) = subject.field(field) else {
        return Some(format!("`{field}` names no file"));
    };
    let Some(file) = subject.files.get(&path) else {
        return Some(format!("there is no file {path}"));
    };
    let name = path.rsplit('/').next().unwrap_or(&path);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    let known = |known: &String| {
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case(known.trim_start_matches('.')))
    };
    if !extensions.is_empty() && !extensions.iter().any(known) {
        return Some(format!("{path} is not of a kind that may be used"));
    }
    match max_bytes {
        Some(max) if file.bytes > max => Some(format!("{path} has {} bytes, more than {max}", file.bytes)),
        _ => None,
    }
}

fn risk(subject: &Subject, law: &Law<'_>, approve_at: Level, block_at: Level) -> Said {
    let Some(tool) = &subject.tool else { return Said::passes("no call") };
    let arguments = subject.tool_args.as_ref().unwrap_or(&Value::Null);
    let risk = assess_call(law.table, tool, arguments, law.place);
    let word = format!("{:?}", risk.level).to_lowercase();
    let reason = match risk.reasons.is_empty() {
        true => format!("risk is {word}"),
        false => format!("risk is {word}: {}", risk.reasons.join("; ")),
    };
    let decision = match risk.level {
        level if level >= block_at => Decision::Block,
        level if level >= approve_at => Decision::RequireApproval,
        _ => Decision::Continue,
    };
    Said { decision, reason, rewrite: None }
}
