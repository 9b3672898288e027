//! The changelog has an `Unreleased` section, so that an entry always has a place to go in the commit that makes it true.
//! What the entries say is for the reviewer.

use crate::{Finding, Tree};

const PATH: &str = "CHANGELOG.md";
const HEADING: &str = "## [Unreleased]";

pub fn check(tree: &Tree) -> Vec<Finding> {
    let text = tree.text(PATH).unwrap_or_default();
    let message = format!("keep a `{HEADING}` section for what the next release brings");
    match text.lines().any(|line| line.trim() == HEADING) {
        true => Vec::new(),
        false => vec![Finding::new(PATH, 1, message)],
    }
}
