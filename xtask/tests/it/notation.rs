//! The notation of the rule tests: `check(rule, files, expected)`, where a file is (path, text) and an expectation is the
//! beginning of a printed finding, as `path:line: message`. An empty list means that the rule has nothing to say.

use xtask::tidy::RULES;
use xtask::{Finding, Tree};

#[track_caller]
pub fn check(rule: &str, files: &[(&str, &str)], expected: &[&str]) {
    let (_, run) = RULES.iter().find(|(name, _)| *name == rule).expect("the test names a rule that exists");
    let tree: Tree = files.iter().copied().collect();
    let found: Vec<String> = run(&tree).iter().map(Finding::to_string).collect();
    let matches = found.len() == expected.len()
        && found.iter().zip(expected).all(|(found, expected)| found.starts_with(expected));
    assert!(matches, "{rule} on {files:#?}\nfound    {found:#?}\nexpected {expected:#?}");
}

/// One Rust file of a product crate.
#[track_caller]
pub fn check_source(rule: &str, text: &str, expected: &[&str]) {
    check(rule, &[("crates/windlass-plan/src/parse.rs", text)], expected);
}
