//! The forms in which a secret may turn up: as it is, escaped in JSON once or twice, percent-encoded, and in base64,
//! alone or in the middle of something longer. Other encodings, such as hex or compression, are not recognised.

use std::collections::BTreeSet;

/// A shorter secret would be found in ordinary text everywhere; such a value is not looked for.
pub const MIN_SECRET_BYTES: usize = 8;

pub(super) fn forms(secret: &str) -> BTreeSet<Vec<u8>> {
    if secret.len() < MIN_SECRET_BYTES {
        return BTreeSet::new();
    }
    let escaped = json(secret);
    let texts = [
        secret.to_owned(),
        json_ascii(&escaped),
        escaped.replace('/', "\\/"),
        json(&escaped),
        escaped,
        percent(secret, b"-._~", Hex::Upper),
        percent(secret, b"-._~", Hex::Lower),
        percent(secret, b"-._~!'()*", Hex::Upper),
        percent(secret, b"-._~ ", Hex::Upper).replace(' ', "+"),
    ];
    let encoded = [STANDARD, URL_SAFE].into_iter().flat_map(|alphabet| base64(secret.as_bytes(), alphabet));
    texts.into_iter().map(String::into_bytes).chain(encoded).collect()
}

/// As it stands between the quotes of a JSON string.
fn json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// The same where everything outside ASCII is escaped too.
fn json_ascii(escaped: &str) -> String {
    let mut ascii = String::new();
    for letter in escaped.chars() {
        if letter.is_ascii() {
            ascii.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            ascii += &format!("\\u{unit:04x}");
        }
    }
    ascii
}

#[derive(Clone, Copy)]
enum Hex {
    Upper,
    Lower,
}

fn percent(text: &str, kept: &[u8], hex: Hex) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match hex {
            _ if byte.is_ascii_alphanumeric() || kept.contains(&byte) => encoded.push(char::from(byte)),
            Hex::Upper => encoded += &format!("%{byte:02X}"),
            Hex::Lower => encoded += &format!("%{byte:02x}"),
        }
    }
    encoded
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// The letters that encode the secret wherever it stands in what is encoded: after a multiple of three bytes, one more, or
/// two more. Letters that also depend on the neighbours are left out, except where it stands alone and has none.
fn base64(secret: &[u8], alphabet: &[u8; 64]) -> Vec<Vec<u8>> {
    let mut forms: Vec<Vec<u8>> = (0..3).map(|before| letters(secret, before, alphabet)).collect();
    let mut alone = letters(&[secret, &[0]].concat(), 0, alphabet);
    alone.truncate((secret.len() * 8).div_ceil(6));
    let padding = alone.len().next_multiple_of(4) - alone.len();
    let padded = [alone.clone(), vec![b'='; padding]].concat();
    forms.extend([alone, padded]);
    forms
}

fn letters(secret: &[u8], before: usize, alphabet: &[u8; 64]) -> Vec<u8> {
    let bit = |index: usize| {
        let byte = secret[index / 8 - before];
        usize::from(byte >> (7 - index % 8) & 1)
    };
    let (first, end) = ((before * 8).div_ceil(6), (before + secret.len()) * 8 / 6);
    let letter = |at: usize| alphabet[(at * 6..at * 6 + 6).fold(0, |value, index| value << 1 | bit(index))];
    (first..end).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::{STANDARD, base64, forms, json_ascii, percent};

    fn text(form: &[u8]) -> String {
        String::from_utf8(form.to_vec()).unwrap()
    }

    #[test]
    fn base64_agrees_with_other_implementations_at_every_offset() {
        // `printf %s "$prefix""hunter2-secret""!?" | base64`
        let published = ["aHVudGVyMi1zZWNyZXQhPw==", "YWh1bnRlcjItc2VjcmV0IT8=", "YWJodW50ZXIyLXNlY3JldCE/"];
        let aligned = base64(b"hunter2-secret", STANDARD);
        for (whole, form) in published.iter().zip(&aligned) {
            assert!(whole.contains(&text(form)), "{} in {whole}", text(form));
            assert!(form.len() >= 17, "{} leaves too much out", text(form));
        }
        assert_eq!(text(&aligned[4]), "aHVudGVyMi1zZWNyZXQ=");
    }

    #[test]
    fn a_form_is_made_for_each_way_a_secret_travels() {
        let all: Vec<String> = forms("a/b \"c\"+é9").iter().map(|form| text(form)).collect();
        for expected in [
            "a/b \"c\"+é9",
            "a/b \\\"c\\\"+é9",
            "a\\/b \\\"c\\\"+é9",
            "a/b \\\\\\\"c\\\\\\\"+é9",
            "a/b \\\"c\\\"+\\u00e99",
            "a%2Fb%20%22c%22%2B%C3%A99",
            "a%2fb%20%22c%22%2b%c3%a99",
            "a%2Fb+%22c%22%2B%C3%A99",
        ] {
            assert!(all.iter().any(|form| form == expected), "{expected} is not in {all:#?}");
        }
    }

    #[test]
    fn escapes_follow_their_standards() {
        assert_eq!(json_ascii("é🙂"), "\\u00e9\\ud83d\\ude42");
        assert_eq!(percent("a b/ü", b"-._~", super::Hex::Upper), "a%20b%2F%C3%BC");
    }

    #[test]
    fn a_short_secret_has_no_forms() {
        assert!(forms("1234567").is_empty());
        assert!(!forms("12345678").is_empty());
    }
}
