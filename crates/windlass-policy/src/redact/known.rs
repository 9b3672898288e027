//! Secrets whose value the runtime was told, found exactly, in every form they take.

use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, MatchKind};
use windlass_domain::Secret;

use super::forms::forms;

pub(super) struct Known {
    searcher: Option<AhoCorasick>,
    /// Sorted, for the question what a text's end may be the beginning of.
    forms: Vec<Vec<u8>>,
    first_bytes: [bool; 256],
    longest: usize,
}

impl Known {
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let forms: BTreeSet<Vec<u8>> = secrets
            .into_iter()
            .flat_map(|secret| forms(secret.expose()))
            .collect();
        let forms: Vec<Vec<u8>> = forms.into_iter().collect();
        let mut first_bytes = [false; 256];
        for form in &forms {
            first_bytes[usize::from(form[0])] = true;
        }
        let searcher = (!forms.is_empty()).then(|| {
            let built = AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(&forms);
            built.expect("the forms of a machine's secrets fit into one automaton")
        });
        Self {
            searcher,
            longest: forms.iter().map(Vec::len).max().unwrap_or(0),
            forms,
            first_bytes,
        }
    }

    /// The first secret that begins at `from` or later; of several that begin together, the longest.
    pub fn find(&self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        let found = self.searcher.as_ref()?.find(&text[from..])?;
        Some((from + found.start(), from + found.end()))
    }

    /// The first place at `from` or later where a secret may begin that ends beyond the text.
    pub fn unfinished(&self, text: &[u8], from: usize) -> Option<usize> {
        let tail = text
            .len()
            .saturating_sub(self.longest.saturating_sub(1))
            .max(from);
        (tail..text.len())
            .find(|at| self.first_bytes[usize::from(text[*at])] && self.continues(&text[*at..]))
    }

    fn continues(&self, beginning: &[u8]) -> bool {
        let next = self
            .forms
            .partition_point(|form| form.as_slice() <= beginning);
        self.forms
            .get(next)
            .is_some_and(|form| form.starts_with(beginning))
    }

    pub fn longest(&self) -> usize {
        self.longest
    }
}
