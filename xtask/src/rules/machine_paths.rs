//! Nothing in the repository names a folder of somebody's machine: it would be wrong on every other one, and it tells more
//! about the machine than it should. Recorded transcripts and snapshots are the usual way in. The example users `agent`,
//! `user` and `you` may have homes.

use std::sync::LazyLock;

use regex::Regex;

use crate::{Finding, Tree};

/// The first folder of an absolute path: something that could end another path's component must not stand before it.
static MACHINE_PATH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[^\w./~}*-])(/(?:work|root|home/[\w.-]+)/)").expect("the pattern is written here and is valid")
});

const EXAMPLE_HOMES: &[&str] = &["/home/agent/", "/home/user/", "/home/you/"];

pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.files()
        .flat_map(|(path, text)| {
            text.lines().enumerate().filter_map(move |(index, line)| {
                let folder = machine_path(line)?;
                let message = format!("`{folder}` is a folder of one machine; use a relative path or an example home");
                Some(Finding::new(path, index + 1, message))
            })
        })
        .collect()
}

fn machine_path(line: &str) -> Option<&str> {
    MACHINE_PATH
        .captures_iter(line)
        .filter_map(|captures| Some(captures.get(1)?.as_str()))
        .find(|folder| !EXAMPLE_HOMES.contains(folder))
}
