//! Text that a model, tool or repository wrote, made safe to show: what a terminal or a reader's eye would obey or not see
//! is written out as `<U+202E>`. Escape sequences lose the character that begins them, right-to-left overrides and
//! invisible characters appear, to people and to models. Colours are shown as text too.

use std::borrow::Cow;

/// Keeps line breaks and tabs.
pub fn visible(text: &str) -> Cow<'_, str> {
    shown(text, |letter| is_hidden(letter) && !matches!(letter, '\n' | '\t'))
}

/// Keeps everything on one line, for a place where a line break could forge another record.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    shown(text, is_hidden)
}

fn shown(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = text.find(&hidden) else {
        return Cow::Borrowed(text);
    };
    let mut shown = text[..first].to_owned();
    for letter in text[first..].chars() {
        if hidden(letter) {
            shown += &format!("<U+{:04X}>", u32::from(letter));
        } else {
            shown.push(letter);
        }
    }
    Cow::Owned(shown)
}

/// Whether a terminal or a reader's eye would obey it or not see it: controls, marks of direction, what has no width, tags.
pub fn is_hidden(letter: char) -> bool {
    if letter.is_ascii() {
        return letter.is_ascii_control();
    }
    letter.is_control()
        || matches!(letter,
            // Marks that change the direction of text.
            '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Characters of no width, joiners and fillers.
            | '\u{00ad}' | '\u{034f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            // Line and paragraph separators.
            | '\u{2028}' | '\u{2029}'
            // Variation selectors and tags, in which whole messages can be hidden.
            | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}')
}
