//! What a field's text means: text, yes or no, a number, a span of time. Each reader says what it expected and where, and
//! yields nothing when it did not get it.

use crate::fields::Field;
use crate::problem::Collector;
use crate::yaml::Value;

/// What is signed is JSON, whose numbers are exact up to 2^53.
const LARGEST_COUNT: u64 = 1_000_000_000_000;
const LONGEST_SECONDS: u64 = 24 * 60 * 60;

pub(crate) fn text<'a>(field: Field<'a>, problems: &mut Collector) -> Option<&'a str> {
    match &field.value.value {
        Value::Text(text) if text.contains('\0') => {
            report(field, "holds a zero byte, which no command and no path can have", problems)
        }
        Value::Text(text) => Some(text),
        Value::Null => {
            problems.report(field.at, format!("`{}` has no value; write '' if empty text is meant", field.name));
            None
        }
        Value::List(_) | Value::Map(_) => {
            let message = format!("`{}` must be text, not {}", field.name, field.value.kind());
            problems.report(field.value.at, message);
            None
        }
    }
}

pub(crate) fn boolean(field: Field<'_>, problems: &mut Collector) -> Option<bool> {
    match text(field, problems)? {
        "true" => Some(true),
        "false" => Some(false),
        _ => report(field, "must be `true` or `false`", problems),
    }
}

pub(crate) fn exit_code(field: Field<'_>, problems: &mut Collector) -> Option<i32> {
    match text(field, problems)?.parse() {
        Ok(code @ 0..=255) => Some(code),
        _ => report(field, "must be a whole number from 0 to 255", problems),
    }
}

pub(crate) fn number(field: Field<'_>, problems: &mut Collector) -> Option<f64> {
    match text(field, problems)?.parse::<f64>() {
        Ok(number) if number.is_finite() => Some(number),
        _ => report(field, "must be a number", problems),
    }
}

pub(crate) fn count<T: TryFrom<u64>>(field: Field<'_>, problems: &mut Collector) -> Option<T> {
    let count = text(field, problems)?.replace('_', "").parse::<u64>().ok();
    if count.is_some_and(|count| count > LARGEST_COUNT) {
        return report(field, "is more than anybody has, and cannot be signed", problems);
    }
    count
        .and_then(|count| T::try_from(count).ok())
        .or_else(|| report(field, "must be a whole number, such as 200000", problems))
}

/// Seconds, or a number with the unit `s`, `m` or `h`.
pub(crate) fn seconds(field: Field<'_>, problems: &mut Collector) -> Option<u64> {
    let text = text(field, problems)?;
    let (digits, unit) = match text.as_bytes().last() {
        Some(b's') => (&text[..text.len() - 1], 1),
        Some(b'm') => (&text[..text.len() - 1], 60),
        Some(b'h') => (&text[..text.len() - 1], 60 * 60),
        _ => (text, 1),
    };
    let seconds = digits.trim_end().parse::<u64>().ok().and_then(|count| count.checked_mul(unit));
    match seconds {
        Some(seconds @ 1..=LONGEST_SECONDS) => Some(seconds),
        _ => report(field, "must be a time from 1 second to 24 hours, as `90`, `90s`, `10m` or `2h`", problems),
    }
}

fn report<T>(field: Field<'_>, expectation: &str, problems: &mut Collector) -> Option<T> {
    problems.report(field.value.at, format!("`{}` {expectation}", field.name));
    None
}
