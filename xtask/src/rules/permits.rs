//! Only the engine issues permits, after the gates have spoken. Clippy holds the same fence by type; this one also sees code
//! that is compiled out. The domain, where a permit is defined, and tests may name the constructor.

use crate::rust_file::{Part, RustFile, rust_files};
use crate::{Finding, Tree};

const HOMES: &[&str] = &["windlass-domain", "windlass-engine"];
const CONSTRUCTOR: &[&str] = &["Permit", ":", ":", "issue"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let outsiders = rust_files(tree).filter(|file| !may_issue(file));
    outsiders
        .flat_map(|file| {
            let lines = file.lines_with(CONSTRUCTOR).into_iter();
            lines.map(move |line| {
                Finding::new(file.path, line, "only windlass-engine issues permits; ask `Host::authorise`")
            })
        })
        .collect()
}

fn may_issue(file: &RustFile<'_>) -> bool {
    file.part == Part::Trial || HOMES.contains(&file.package)
}
