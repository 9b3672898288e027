//! What is left when a run is over.

use std::collections::BTreeMap;

use crate::support::{Home, Ledger, Story, read};

#[derive(Debug, Clone)]
pub struct Outcome {
    /// `None` when it was killed after the task had ended: nobody was there to say it.
    pub code: Option<i32>,
    pub story: Story,
    pub files: BTreeMap<String, Vec<u8>>,
    pub ledger: BTreeMap<String, usize>,
    /// The trace that the result refers to, if the file is there.
    pub trace: Option<String>,
}

impl Outcome {
    pub fn of(home: &Home, ledger: &mut Ledger, code: Option<i32>) -> Self {
        let story = read(home);
        let trace = trace(&story);
        Self { code, story, files: home.files(), ledger: ledger.count(), trace }
    }
}

fn trace(story: &Story) -> Option<String> {
    let uri = story.result.as_ref()?["evidence_refs"][0]["uri"].as_str()?.to_owned();
    std::fs::read_to_string(uri.strip_prefix("file://")?).ok()
}
