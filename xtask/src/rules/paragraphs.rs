//! Every source file opens by saying what it is. The first line is a `//!`, and the documentation that starts there has at
//! least one whole sentence before any code. Whether the sentence is a good one is for the reviewer.

use crate::rust_file::{RustFile, rust_files};
use crate::{Finding, Tree};

/// Fewer words than this are a title, not a sentence.
const WORDS_IN_A_SENTENCE: usize = 5;

pub fn check(tree: &Tree) -> Vec<Finding> {
    rust_files(tree).filter_map(|file| Some(Finding::new(file.path, 1, objection(&file)?))).collect()
}

fn objection(file: &RustFile<'_>) -> Option<&'static str> {
    let opening: Vec<&str> = file.text.lines().map_while(|line| line.strip_prefix("//!")).map(str::trim).collect();
    if opening.is_empty() {
        return Some("begin the file with a `//!` paragraph: what this is, its words, what it does not do");
    }
    let prose: Vec<&str> =
        opening.into_iter().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect();
    let has_sentence = prose.iter().skip(WORDS_IN_A_SENTENCE - 1).any(|word| word.ends_with(['.', '!', '?', ':']));
    (!has_sentence).then_some("say what this file is in at least one whole sentence after `//!`")
}
