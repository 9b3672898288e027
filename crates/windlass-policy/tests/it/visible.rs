//! Nothing that steers a terminal or hides from the eye is shown as itself, and readable text stays as it is.

use std::borrow::Cow;

use proptest::prelude::*;
use windlass_policy::{visible, visible_line};

#[test]
fn what_hides_is_written_out() {
    let table = [
        ("\u{1b}]52;c;cm0gLXJm\u{7}", "<U+001B>]52;c;cm0gLXJm<U+0007>"),
        ("\u{1b}[2J\u{1b}[1;1H", "<U+001B>[2J<U+001B>[1;1H"),
        ("\u{9b}31m", "<U+009B>31m"),
        ("safe\rrm -rf", "safe<U+000D>rm -rf"),
        ("a\u{8}b\u{0}c\u{7f}", "a<U+0008>b<U+0000>c<U+007F>"),
        ("\u{202e}txt.exe\u{202c}", "<U+202E>txt.exe<U+202C>"),
        ("pay\u{200b}pal \u{feff}x", "pay<U+200B>pal <U+FEFF>x"),
        ("a\u{2028}b\u{85}c", "a<U+2028>b<U+0085>c"),
        ("hi\u{e0068}\u{e0069}", "hi<U+E0068><U+E0069>"),
        ("x\u{fe01}\u{e0100}", "x<U+FE01><U+E0100>"),
    ];
    for (text, expected) in table {
        assert_eq!(visible(text), expected);
        assert_eq!(visible_line(text), expected);
    }
}

#[test]
fn lines_and_tabs_stay_in_text_and_not_in_a_line() {
    assert_eq!(visible("a\tb\nc"), "a\tb\nc");
    assert_eq!(visible_line("a\tb\nc"), "a<U+0009>b<U+000A>c");
}

#[test]
fn readable_text_in_any_script_is_not_even_copied() {
    for text in
        ["", "plain", "naïve café", "漢字 かな", "עברית", "العربية", "हिन्दी", "🙂 👍", "C:\\dir\\u001b", "“quotes” – €"]
    {
        assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text}");
    }
}

proptest! {
    #[test]
    fn nothing_hidden_is_left(text in any::<String>()) {
        let line = visible_line(&text).into_owned();
        prop_assert!(!line.chars().any(char::is_control));
        let again = visible_line(&line).into_owned();
        prop_assert_eq!(again, line);
    }
}
