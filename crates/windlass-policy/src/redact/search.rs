//! Looking for many words at once. Vector instructions do it at memory speed for as many words as most machines have
//! secrets; an automaton takes over where there are more, or where the processor lacks them.

use aho_corasick::{AhoCorasick, MatchKind, Span, packed};

pub(super) struct Words {
    searcher: Searcher,
    /// Sorted, for the question what a text's end may be the beginning of.
    words: Vec<Vec<u8>>,
    first_bytes: [bool; 256],
    longest: usize,
}

enum Searcher {
    Nothing,
    Packed(packed::Searcher),
    Automaton(AhoCorasick),
}

/// A word, by its number among those given, and where it stands.
pub(super) struct Found {
    pub start: usize,
    pub end: usize,
    pub word: usize,
}

impl Words {
    pub fn new(words: Vec<Vec<u8>>) -> Self {
        let mut first_bytes = [false; 256];
        for word in &words {
            first_bytes[usize::from(word[0])] = true;
        }
        let searcher = searcher(&words);
        let longest = words.iter().map(Vec::len).max().unwrap_or(0);
        let mut words = words;
        words.sort();
        Self { searcher, words, first_bytes, longest }
    }

    /// The first word that begins at `from` or later; of several that begin together, the longest.
    pub fn find(&self, text: &[u8], from: usize) -> Option<Found> {
        let found = match &self.searcher {
            Searcher::Nothing => None,
            Searcher::Packed(packed) => packed.find_in(text, Span { start: from, end: text.len() }),
            Searcher::Automaton(automaton) => automaton.find(aho_corasick::Input::new(text).range(from..)),
        }?;
        Some(Found { start: found.start(), end: found.end(), word: found.pattern().as_usize() })
    }

    /// The first place at `from` or later where a word may begin that ends beyond the text.
    pub fn unfinished(&self, text: &[u8], from: usize) -> Option<usize> {
        let tail = text.len().saturating_sub(self.longest.saturating_sub(1)).max(from);
        (tail..text.len()).find(|at| self.first_bytes[usize::from(text[*at])] && self.continues(&text[*at..]))
    }

    fn continues(&self, beginning: &[u8]) -> bool {
        let next = self.words.partition_point(|word| word.as_slice() <= beginning);
        self.words.get(next).is_some_and(|word| word.starts_with(beginning))
    }

    pub fn longest(&self) -> usize {
        self.longest
    }
}

fn searcher(words: &[Vec<u8>]) -> Searcher {
    if words.is_empty() {
        return Searcher::Nothing;
    }
    let longest = packed::MatchKind::LeftmostLongest;
    if let Some(packed) = packed::Config::new().match_kind(longest).builder().extend(words).build() {
        return Searcher::Packed(packed);
    }
    let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(words);
    Searcher::Automaton(automaton.expect("the secrets of one machine fit into an automaton"))
}

#[cfg(test)]
mod tests {
    use super::{Searcher, Words};

    fn words(count: usize) -> Words {
        Words::new((0..count).map(|n| format!("word-{n:03}").into_bytes()).collect())
    }

    #[test]
    fn few_and_many_words_are_found_alike() {
        assert!(matches!(words(200).searcher, Searcher::Automaton(_)), "200 words were expected not to be packed");
        for (count, text) in [(1, "a word-000 b"), (30, "a word-007 b"), (200, "a word-123 b")] {
            let found = words(count).find(text.as_bytes(), 1).unwrap();
            assert_eq!(&text[found.start..found.end], &text[2..10]);
            assert_eq!(format!("word-{:03}", found.word), text[2..10]);
            assert!(words(count).find(text.as_bytes(), 3).is_none());
        }
    }

    #[test]
    fn of_words_that_begin_together_the_longest_is_found() {
        let words = Words::new(vec![b"abc".to_vec(), b"abcdef".to_vec(), b"abcd".to_vec()]);
        assert_eq!(words.find(b"xabcdeabcdef", 0).unwrap().end, 5);
        assert_eq!(words.find(b"xabcdeabcdef", 2).unwrap().end, 12);
    }

    #[test]
    fn the_end_of_a_text_may_be_the_beginning_of_a_word() {
        let words = Words::new(vec![b"abcabd".to_vec(), b"xy".to_vec()]);
        let table = [
            ("", None),
            ("abcabd", None),
            ("abc", Some(0)),
            ("zabcab", Some(1)),
            ("abcabdx", Some(6)),
            ("abcabcab", Some(3)),
        ];
        for (text, expected) in table {
            assert_eq!(words.unfinished(text.as_bytes(), 0), expected, "{text}");
        }
        assert_eq!(words.unfinished(b"abcabcab", 4), Some(6));
        assert_eq!(Words::new(Vec::new()).unfinished(b"abc", 0), None);
    }
}
