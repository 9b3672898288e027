//! Two changes of one text, line by line. Where both touched the same place, or places next to each other, there is no
//! answer here: guessing would make a text that nobody wrote.

/// Beyond this nobody compares lines; whoever generated it can do so again.
const LARGEST_TEXT: usize = 4 * 1024 * 1024;

pub(crate) enum Lines {
    Merged(Vec<u8>),
    Conflict,
    /// Not text, or too much of it.
    Opaque,
}

pub(crate) fn merge(base: &[u8], ours: &[u8], theirs: &[u8]) -> Lines {
    let is_text = |bytes: &[u8]| bytes.len() <= LARGEST_TEXT && !bytes.contains(&0);
    if ![base, ours, theirs].into_iter().all(is_text) {
        return Lines::Opaque;
    }
    diffy::merge_bytes(base, ours, theirs).map_or(Lines::Conflict, Lines::Merged)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(base: &str, ours: &str, theirs: &str) -> Option<String> {
        match merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes()) {
            Lines::Merged(bytes) => Some(String::from_utf8(bytes).unwrap()),
            Lines::Conflict | Lines::Opaque => None,
        }
    }

    #[test]
    fn changes_apart_are_both_kept() {
        assert_eq!(merged("a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n").as_deref(), Some("A\nb\nc\nD\n"));
        assert_eq!(merged("a\nb\nc", "a\nb\nc", "a\nb\nc\nd").as_deref(), Some("a\nb\nc\nd"));
        assert_eq!(
            merged("a\r\nb\r\nc\r\nd\r\n", "A\r\nb\r\nc\r\nd\r\n", "a\r\nb\r\nc\r\n").as_deref(),
            Some("A\r\nb\r\nc\r\n")
        );
    }

    #[test]
    fn the_same_change_twice_is_one() {
        assert_eq!(merged("a\nb\n", "a\nB\n", "a\nB\n").as_deref(), Some("a\nB\n"));
    }

    #[test]
    fn changes_of_the_same_place_are_a_conflict() {
        assert_eq!(merged("a\n", "b\n", "c\n"), None);
        assert_eq!(merged("a\nb\nc\n", "a\nc\n", "a\nB\nc\n"), None);
    }

    #[test]
    fn what_is_no_text_is_not_compared() {
        assert!(matches!(merge(b"a\0", b"b\0", b"c\0"), Lines::Opaque));
        let long = vec![b'a'; LARGEST_TEXT + 1];
        assert!(matches!(merge(b"a", &long, b"b"), Lines::Opaque));
    }
}
