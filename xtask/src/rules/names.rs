//! No crate, file or module is called core, common, util or the like: such a name says where things go when nobody knows
//! where they belong.

use crate::rust_file::rust_files;
use crate::{Finding, Tree};

const EMPTY_NAMES: &[&str] = &["common", "core", "helper", "helpers", "misc", "util", "utils", "utilities"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    let crates = tree.files().filter_map(|(path, _)| {
        let parts: Vec<&str> = path.split('/').collect();
        let ["crates" | "testing", krate, "Cargo.toml"] = parts[..] else {
            return None;
        };
        let word = krate.split('-').find(|word| EMPTY_NAMES.contains(word))?;
        Some(finding(path, 1, word))
    });
    let files = rust_files(tree).filter_map(|file| {
        let stems = file.inside.split('/').map(|part| part.trim_end_matches(".rs"));
        let word = stems.into_iter().find(|stem| EMPTY_NAMES.contains(stem))?;
        Some(finding(file.path, 1, word))
    });
    let modules = rust_files(tree).flat_map(|file| {
        let written_here = |word| file.lines_with(&["mod", word, "{"]).into_iter().map(move |line| (line, word));
        let lines: Vec<(usize, &str)> = EMPTY_NAMES.iter().flat_map(|word| written_here(*word)).collect();
        lines.into_iter().map(move |(line, word)| finding(file.path, line, word))
    });
    crates.chain(files).chain(modules).collect()
}

fn finding(path: &str, line: usize, word: &str) -> Finding {
    Finding::new(path, line, format!("`{word}` says nothing; name it for what it holds"))
}
