//! Secrets whose value is known are found in every form they travel in, and only they are.

use std::sync::LazyLock;

use proptest::prelude::*;
use windlass_policy::{MARKER, Redactor};

use crate::texts::{REDACTOR, SECRETS, json, redactor, text};

#[test]
fn a_secret_is_found_in_every_form() {
    let secret = "p@ss/wörd \"7\"+x";
    let redactor = redactor(&[secret]);
    let json = serde_json::Value::from(secret).to_string();
    let twice = serde_json::Value::from(json.as_str()).to_string();
    let table = [
        ("as it is", secret.to_owned()),
        ("in JSON", json.trim_matches('"').to_owned()),
        ("in JSON in JSON", twice[3..twice.len() - 3].to_owned()),
        ("in JSON of ASCII", "p@ss/w\\u00f6rd \\\"7\\\"+x".to_owned()),
        ("in a URL", "p%40ss%2Fw%C3%B6rd%20%227%22%2Bx".to_owned()),
        ("in a form", "p%40ss%2Fw%C3%B6rd+%227%22%2Bx".to_owned()),
        ("in base64", "cEBzcy93w7ZyZCAiNyIreA==".to_owned()),
    ];
    for (form, written) in table {
        let redacted = redactor.redact(&written).into_owned();
        assert_eq!(redacted, MARKER, "{form}: {written}");
        let redacted = redactor.redact(&format!("before {written} after")).into_owned();
        assert_eq!(redacted, format!("before {MARKER} after"), "{form}: {written}");
    }
}

#[test]
fn a_secret_inside_longer_base64_is_found_at_every_offset() {
    // `printf %s "user:hunter2-hunter2!" | base64`, with one, two and three letters before the colon.
    let redactor = redactor(&["hunter2-hunter2"]);
    for whole in ["YTpodW50ZXIyLWh1bnRlcjIh", "YWI6aHVudGVyMi1odW50ZXIyIQ==", "YWJjOmh1bnRlcjItaHVudGVyMiE="] {
        let redacted = redactor.redact(whole);
        let left = redacted.replace(MARKER, "");
        assert!(redacted.contains(MARKER) && left.len() <= 10, "{whole}: {redacted}");
    }
}

#[test]
fn overlapping_secrets_leave_nothing_of_either() {
    let redactor = redactor(&["abcdefghij", "ghijklmnop", "cdefghij"]);
    assert_eq!(redactor.redact("<abcdefghijklmnop>"), format!("<{MARKER}>"));
    assert_eq!(redactor.redact("<cdefghijklmnop>"), format!("<{MARKER}>"));
    assert_eq!(redactor.redact("<abcdefghij><ghijklmnop>"), format!("<{MARKER}><{MARKER}>"));
}

#[test]
fn a_secret_that_goes_on_after_a_token_ends_is_covered_to_its_own_end() {
    let secret = "aB3dE5fG7hJ9kL1mN3pQ5rS7$tail!";
    let redacted = redactor(&[secret]).redact(&format!("Authorization: Bearer {secret} end")).into_owned();
    assert_eq!(redacted, format!("Authorization: Bearer {MARKER} end"));
}

#[test]
fn a_short_secret_is_not_looked_for_and_no_secrets_are_fine() {
    assert_eq!(redactor(&["1234567"]).redact("1234567"), "1234567");
    assert_eq!(redactor(&[]).redact("anything at all"), "anything at all");
    assert_eq!(redactor(&[""]).redact("anything at all"), "anything at all");
}

#[test]
fn printing_a_redactor_tells_nothing() {
    assert_eq!(format!("{:?}", redactor(&SECRETS)), "Redactor");
}

/// Without the secret that JSON could hold outside a string.
static UNQUOTED: LazyLock<Redactor> = LazyLock::new(|| {
    let secrets: Vec<&str> = SECRETS.into_iter().filter(|secret| !secret.contains('"')).collect();
    redactor(&secrets)
});

/// With secrets that are JSON themselves, or would be found in it.
static AWKWARD: LazyLock<Redactor> = LazyLock::new(|| {
    let more = ["12345678", "{\"a\":1}", "\":[{\"a\"", ",null,true", "\\u0041\\u00"];
    redactor(&[&SECRETS[..], &more].concat())
});

proptest! {
    #[test]
    fn no_known_secret_comes_through(text in text()) {
        let redacted = REDACTOR.redact(&text).into_owned();
        for secret in SECRETS {
            prop_assert!(!redacted.contains(secret), "{secret} in {redacted}");
        }
    }

    #[test]
    fn redacting_again_changes_nothing(text in text()) {
        let once = REDACTOR.redact(&text).into_owned();
        let twice = REDACTOR.redact(&once).into_owned();
        prop_assert_eq!(&twice, &once);
    }

    #[test]
    fn serialised_json_stays_json(value in json()) {
        for written in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            let redacted = UNQUOTED.redact(&written).into_owned();
            let read = serde_json::from_str::<serde_json::Value>(&redacted);
            prop_assert!(read.is_ok(), "{written}\n{redacted}\n{read:?}");
        }
    }

    #[test]
    fn json_keeps_its_shape_and_numbers_whatever_the_secrets(value in json()) {
        let written = value.to_string();
        let redacted = AWKWARD.redact_json(&written).into_owned();
        let read: serde_json::Value = serde_json::from_str(&redacted).map_err(|error| {
            TestCaseError::fail(format!("{written}\n{redacted}\n{error}"))
        })?;
        same_shape(&value, &read)?;
        for secret in SECRETS.into_iter().filter(|secret| !secret.contains(['"', '\\'])) {
            prop_assert!(!redacted.contains(secret), "{secret} in {redacted}");
        }
    }
}

fn same_shape(before: &serde_json::Value, after: &serde_json::Value) -> Result<(), TestCaseError> {
    use serde_json::Value::{Array, Object, String};
    match (before, after) {
        (String(_), String(_)) => Ok(()),
        (Array(before), Array(after)) => {
            prop_assert_eq!(before.len(), after.len());
            before.iter().zip(after).try_for_each(|(before, after)| same_shape(before, after))
        }
        // Two names may both become the marker, and one field then hides the other.
        (Object(before), Object(after)) => {
            prop_assert!(after.len() <= before.len());
            Ok(())
        }
        (before, after) => {
            prop_assert_eq!(before, after);
            Ok(())
        }
    }
}
