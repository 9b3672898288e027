//! The request with another model's name in it, and without what may not be sent on. All other values stay as they were written,
//! byte for byte: providers cache by the beginning of a prompt. What is written twice is refused, since nobody could say which
//! of the two the server will read.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::dialect::{NotJson, Skim, text_of};
use crate::gateway::terms::Changes;
use crate::wire::{raw, string, value};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotEdit {
    #[error("the request is not a JSON object")]
    NotJson,
    #[error("the request has the field `{0}` twice; send it once")]
    Twice(String),
}

impl From<NotJson> for CannotEdit {
    fn from(_: NotJson) -> Self {
        Self::NotJson
    }
}

/// Whether the bill must be asked for, where it does not come by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bill {
    ComesByItself,
    MustBeAskedFor,
}

pub fn for_model(json: &[u8], model: &str, bill: Bill, changes: &Changes) -> Result<Vec<u8>, CannotEdit> {
    let mut skim = Skim::new(json);
    let mut inside = skim.object()?;
    let mut seen = BTreeSet::new();
    let mut options = Map::new();
    let mut out = Vec::with_capacity(json.len() + 64);
    raw(&mut out, "{\"model\":");
    string(&mut out, model);
    while let Some(written) = skim.name(&mut inside)? {
        let found = skim.value()?;
        let quoted = [b"\"", written, b"\""].concat();
        let name = text_of(&quoted).ok_or(CannotEdit::NotJson)?.into_owned();
        match name.as_str() {
            "model" => {}
            changed if changes.contains_key(changed) => {}
            "stream_options" if bill == Bill::MustBeAskedFor => {
                options = serde_json::from_slice(found).unwrap_or_default();
            }
            _ => {
                raw(&mut out, ",");
                out.extend_from_slice(&quoted);
                raw(&mut out, ":");
                out.extend_from_slice(found);
            }
        }
        if !seen.insert(name.clone()) {
            return Err(CannotEdit::Twice(name));
        }
    }
    for (name, instead) in changes {
        if let Some(instead) = instead {
            raw(&mut out, ",");
            string(&mut out, name);
            raw(&mut out, ":");
            value(&mut out, instead);
        }
    }
    if bill == Bill::MustBeAskedFor {
        options.insert("include_usage".to_owned(), Value::Bool(true));
        raw(&mut out, ",\"stream_options\":");
        value(&mut out, &options);
    }
    raw(&mut out, "}");
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, bill: Bill, expect: &str) {
        let edited = for_model(json.as_bytes(), "ours", bill, &Changes::new())
            .map(|bytes| String::from_utf8(bytes).expect("text"));
        assert_eq!(edited.unwrap_or_else(|problem| problem.to_string()), expect, "{json}");
    }

    #[test]
    fn the_model_is_ours_and_the_rest_is_as_it_was() {
        let own = Bill::ComesByItself;
        check(r#"{"model":"theirs"}"#, own, r#"{"model":"ours"}"#);
        check(
            r#"{ "a" : 1.50, "model":"x" ,"b":[ {"model":"inner"} ]}"#,
            own,
            r#"{"model":"ours","a":1.50,"b":[ {"model":"inner"} ]}"#,
        );
        check(r#"{"stream_options":{"a":1},"a":1}"#, own, r#"{"model":"ours","stream_options":{"a":1},"a":1}"#);
        check(
            r#"{"a":1,"stream_options":{"b":2}}"#,
            Bill::MustBeAskedFor,
            r#"{"model":"ours","a":1,"stream_options":{"b":2,"include_usage":true}}"#,
        );
        check(r#"{"a":1}"#, Bill::MustBeAskedFor, r#"{"model":"ours","a":1,"stream_options":{"include_usage":true}}"#);
    }

    #[test]
    fn what_may_not_be_sent_on_is_left_out_or_replaced_however_it_is_spelt() {
        let changes = Changes::from([("speed", None), ("max_tokens", Some(Value::from(7)))]);
        let check = |json: &str, expect: &str| {
            let edited = for_model(json.as_bytes(), "ours", Bill::ComesByItself, &changes).expect("it can be edited");
            assert_eq!(String::from_utf8(edited).expect("text"), expect, "{json}");
        };
        let lowered = r#"{"model":"ours","max_tokens":7}"#;
        check(r#"{"model":"m","speed":"fast","max_tokens":900}"#, lowered);
        check(r#"{"model":"m","sp\u0065ed":"fast","max\u005ftokens":900}"#, lowered);
        check(r#"{"model":"m"}"#, lowered);
    }

    #[test]
    fn a_second_model_gets_through_in_no_spelling() {
        let twice = "the request has the field `model` twice; send it once";
        check(r#"{"model":"a","model":"dear"}"#, Bill::ComesByItself, twice);
        check(r#"{"model":"a","mod\u0065l":"dear"}"#, Bill::ComesByItself, twice);
        check(r#"{"mod\u0065l":"dear"}"#, Bill::ComesByItself, r#"{"model":"ours"}"#);
        check(r#"["model"]"#, Bill::ComesByItself, "the request is not a JSON object");
        check("", Bill::ComesByItself, "the request is not a JSON object");
    }
}
