//! The one JSON object of an answer: bare, in a fence, or after prose. Where there is none or more than one, nobody guesses.

use serde::de::DeserializeOwned;
use serde_json::{Deserializer, Value};

const FENCE: &str = "```";
/// Braces that are tried as the beginning of the object; prose has few of them.
const MOST_TRIES: usize = 64;

const NONE: &str = "there is no JSON object in the answer; answer with one JSON object and nothing else";

/// The object as a `T`, or what is wrong with it.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let object = find(text)?;
    T::deserialize(object).map_err(|error| format!("the JSON object is not what was asked for: {error}"))
}

fn find(text: &str) -> Result<Value, String> {
    let text = text.trim();
    match fenced(text).as_slice() {
        [] => after_prose(text),
        [one] => whole(one),
        several => Err(format!("there are {} JSON blocks in the answer; answer with one object", several.len())),
    }
}

/// What stands in fences of JSON. An answer that is itself an object may have fences within its texts.
fn fenced(text: &str) -> Vec<&str> {
    if text.starts_with('{') {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, opened)) = rest.split_once("```json") {
        // A fence within a string of the object would end it too early: the object itself says where it ends.
        let body = opened.trim_start();
        let length = first_object(body).map_or_else(|| body.find(FENCE).unwrap_or(body.len()), |(_, end)| end);
        let (inside, after) = body.split_at(length);
        found.push(inside);
        rest = after;
    }
    found
}

fn whole(text: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| format!("the JSON cannot be read: {error}"))?;
    if value.is_object() { Ok(value) } else { Err(NONE.to_owned()) }
}

/// The object that the text ends with.
fn after_prose(text: &str) -> Result<Value, String> {
    let begins = text.match_indices('{').map(|(at, _)| &text[at..]).take(MOST_TRIES);
    let mut problem = None;
    for rest in begins {
        match first_object(rest) {
            Some((value, end)) if rest[end..].trim().is_empty() => return Ok(value),
            Some(_) => problem = Some("words follow the JSON object; end the answer with it".to_owned()),
            None => problem = problem.or_else(|| whole(rest).err()),
        }
    }
    Err(problem.unwrap_or_else(|| NONE.to_owned()))
}

/// The object at the beginning of the text, and where it ends.
fn first_object(text: &str) -> Option<(Value, usize)> {
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok().filter(Value::is_object)?;
    Some((value, values.byte_offset()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        match (find(text), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found.to_string(), expected, "{text}"),
            (Err(said), Err(expected)) => assert!(said.contains(expected), "{text}: {said}"),
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn the_object_is_found_wherever_models_put_it() {
        check(r#"{"a":1}"#, Ok(r#"{"a":1}"#));
        check(" \n{\"a\":1}\n", Ok(r#"{"a":1}"#));
        check("```json\n{\"a\":1}\n```", Ok(r#"{"a":1}"#));
        check("Here it is:\n\n```json\n{\"a\":1}\n```\nDone.", Ok(r#"{"a":1}"#));
        check("I looked at {this} and that.\n{\"a\":1}", Ok(r#"{"a":1}"#));
        check("```json\n{\"a\":\"```bash\\nls\\n```\"}\n```", Ok(r#"{"a":"```bash\nls\n```"}"#));
        check(r#"{"a":"```json\n{}\n```"}"#, Ok(r#"{"a":"```json\n{}\n```"}"#));
    }

    #[test]
    fn nobody_guesses() {
        check("", Err("no JSON object"));
        check("It cannot be done.", Err("no JSON object"));
        check("[1]", Err("no JSON object"));
        check("```json\n[1]\n```", Err("no JSON object"));
        check(r#"{"a":"#, Err("cannot be read"));
        check("```json\n{\"a\":,}\n```", Err("cannot be read"));
        check("```json\n{\"a\":1}\n```\n```json\n{\"a\":2}\n```", Err("2 JSON blocks"));
        check("{\"a\":1} and so on", Err("words follow"));
    }

    #[test]
    fn a_flood_of_braces_and_a_deep_nest_end() {
        check(&"{".repeat(100_000), Err("cannot be read"));
        check(&format!("{}1{}", r#"{"a":"#.repeat(5_000), "}".repeat(5_000)), Err("cannot be read"));
    }
}
