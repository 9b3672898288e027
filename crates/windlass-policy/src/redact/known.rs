//! Secrets whose value the runtime was told, found exactly, in every form they take.

use std::collections::BTreeSet;

use windlass_domain::Secret;

use super::forms::forms;
use super::search::{Found, Words};

pub(super) struct Known(Words);

impl Known {
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a Secret>) -> Self {
        let forms: BTreeSet<Vec<u8>> = secrets.into_iter().flat_map(|secret| forms(secret.expose())).collect();
        Self(Words::new(forms.into_iter().collect()))
    }

    /// The first secret that begins at `from` or later, and where it ends.
    pub fn find(&self, text: &[u8], from: usize) -> Option<(usize, usize)> {
        self.0.find(text, from).map(|Found { start, end, .. }| (start, end))
    }

    /// The first place at `from` or later where a secret may begin that ends beyond the text.
    pub fn unfinished(&self, text: &[u8], from: usize) -> Option<usize> {
        self.0.unfinished(text, from)
    }

    pub fn longest(&self) -> usize {
        self.0.longest()
    }
}
