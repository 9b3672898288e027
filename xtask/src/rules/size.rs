//! A file is one thought. Past some eight hundred lines there are usually two in it; where there really is only one, such as
//! a long homogeneous table, an exception says so.

use crate::{Finding, Tree};

const MOST_LINES: usize = 800;
const SOURCE: &[&str] = &[".rs", ".ts", ".tsx", ".css", ".sh", ".sql"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.files()
        .filter(|(path, _)| SOURCE.iter().any(|ending| path.ends_with(ending)))
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| *lines > MOST_LINES)
        .map(|(path, lines)| {
            let message =
                format!("{lines} lines hold more than one thought (the limit is {MOST_LINES}); split the file");
            Finding::new(path, MOST_LINES + 1, message)
        })
        .collect()
}
