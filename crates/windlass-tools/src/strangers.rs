//! What somebody outside wrote, for a model to read: letters that hide are written out, and lines end in one way.

use windlass_domain::visible;

pub(crate) fn strangers_words(text: &str) -> String {
    visible(&text.replace("\r\n", "\n")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_lines_and_nothing_hides() {
        assert_eq!(strangers_words("a\r\n\tb\rc\u{200b}d"), "a\n\tb<U+000D>c<U+200B>d");
    }
}
