//! Text from a provider on its way into an error message: it is hostile until the key is out of it, its length is capped
//! and nothing in it can move a cursor or hide.

use std::fmt::Write as _;

use windlass_domain::{Secret, is_hidden};

const LONGEST: usize = 600;

/// Shorter keys are not secrets (`x`, `none`), and taking them out would garble the message.
const SHORTEST_KEY: usize = 6;
/// Providers like to quote the beginning of a wrong key, with stars for the rest.
const TELLING_PREFIX: usize = 8;

pub fn presentable(text: &str, key: Option<&Secret>) -> String {
    visible(without_key(text, key).trim())
}

/// The text without the key, and without the beginning of it.
pub fn without_key(text: &str, key: Option<&Secret>) -> String {
    key.and_then(worth_hiding).map_or_else(|| text.to_owned(), |key| without(text, key))
}

/// The key as it is sent, where it is one.
pub fn worth_hiding(key: &Secret) -> Option<&str> {
    Some(key.expose().trim()).filter(|key| key.len() >= SHORTEST_KEY)
}

fn without(text: &str, key: &str) -> String {
    let mut clean = text.replace(key, "[key]");
    let Some(prefix) = key.get(..TELLING_PREFIX) else { return clean };
    while let Some(start) = clean.find(prefix) {
        let ends_word = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '`' | ')' | ']' | '}');
        let rest = start + prefix.len();
        let end = clean[rest..].find(ends_word).map_or(clean.len(), |length| rest + length);
        clean.replace_range(start..end, "[key]");
    }
    clean
}

/// Control, bidirectional and zero-width characters as escapes; line ends as spaces; the end cut off when there is too much.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(LONGEST));
    for character in text.chars() {
        if shown.len() >= LONGEST {
            shown.push('…');
            break;
        }
        match character {
            '\n' | '\r' | '\t' => shown.push(' '),
            hidden if is_hidden(hidden) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(hidden));
            }
            plain => shown.push(plain),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, key: &str, expect: &str) {
        assert_eq!(presentable(text, Some(&Secret::new(key))), expect);
    }

    #[test]
    fn the_key_is_taken_out_whole_and_in_part() {
        check("bad key sk-abcdefghijkl.", "sk-abcdefghijkl", "bad key [key].");
        check("bad key 'sk-abcde****ijkl', sk-abcdeX", "sk-abcdefghijkl", "bad key '[key]', [key]");
        check("no key here", "sk-abcdefghijkl", "no key here");
        check("x marks the spot", "x", "x marks the spot");
        check("schlüsselschlüssel", "schlüsselschlüssel", "[key]");
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        check("a\u{1b}[31mred\u{202e}\nb", "", "a\\u{1b}[31mred\\u{202e} b");
    }

    #[test]
    fn long_text_is_cut() {
        let shown = presentable(&"é".repeat(5_000), None);
        assert!(shown.len() < LONGEST + 8 && shown.ends_with('…'));
    }

    #[test]
    fn a_key_across_the_cut_is_not_shown_in_part() {
        let text = format!("{}sk-abcdefghijkl", "y".repeat(LONGEST - 3));
        assert!(!presentable(&text, Some(&Secret::new("sk-abcdefghijkl"))).contains("sk-"));
    }
}
