//! Dependencies come from the public registries, and nothing here says otherwise: a lock file or a setting that points at a
//! mirror works on one network only.

use std::sync::LazyLock;

use regex::Regex;

use crate::{Finding, Tree};

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";
const NPM: &str = "https://registry.npmjs.org/";

static REDIRECTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?m)^\s*(?:replace-with\s*=|registry\s*=\s*"?https?:|(?:extra-)?index-url\s*=|index\s*=\s*"(?:sparse\+)?https?:)"#)
        .expect("the pattern is written here and is valid")
});

pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.files()
        .flat_map(|(path, text)| {
            text.lines().enumerate().filter_map(move |(index, line)| {
                let message = objection(path, line)?;
                Some(Finding::new(path, index + 1, message))
            })
        })
        .collect()
}

fn objection(path: &str, line: &str) -> Option<String> {
    let value = |key: &str| Some(line.trim().strip_prefix(key)?.trim_end_matches(',').trim_matches('"'));
    let file = path.rsplit('/').next().unwrap_or(path);
    match file {
        "Cargo.lock" => value("source = ")
            .filter(|source| *source != CRATES_IO)
            .map(|source| format!("`{source}` is not the public registry")),
        "package-lock.json" => value("\"resolved\": ")
            .filter(|source| !source.starts_with(NPM))
            .map(|source| format!("`{source}` is not the public registry")),
        _ if is_setting(file) && REDIRECTION.is_match(line) => {
            Some("this sends package managers to another registry; keep it in your own settings".to_owned())
        }
        _ => None,
    }
}

fn is_setting(file: &str) -> bool {
    matches!(file, ".npmrc" | "pip.conf" | "config") || file.ends_with(".toml")
}
