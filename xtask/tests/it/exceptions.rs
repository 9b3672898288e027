//! Exceptions excuse one rule in one file, and must be needed.

use xtask::exceptions::Exception;
use xtask::{Finding, Tree, tidy};

const CHANGELOG: (&str, &str) = ("CHANGELOG.md", "## [Unreleased]\n");
const SOURCE: &str = "crates/windlass-plan/src/parse.rs";

fn exception(rule: &'static str, path: &'static str) -> Exception {
    Exception { rule, path, reason: "for the test" }
}

fn printed(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(Finding::to_string).collect()
}

#[test]
fn an_exception_excuses_its_rule_in_its_file_only() {
    let broken_twice = "fn f() { todo!() }\n";
    let broken_elsewhere = "//! This file writes plan documents.\nfn f() { todo!() }\n";
    let elsewhere = "crates/windlass-plan/src/write.rs";
    let tree = Tree::from([CHANGELOG, (SOURCE, broken_twice), (elsewhere, broken_elsewhere)]);
    let findings = tidy(&tree, &[exception("unfinished", SOURCE)]);
    let left: Vec<(&str, &str)> = findings.iter().map(|finding| (finding.path.as_str(), finding.rule)).collect();
    assert_eq!(left, [(SOURCE, "paragraphs"), (elsewhere, "unfinished")]);
}

#[test]
fn an_exception_that_excuses_nothing_is_a_finding() {
    let tree = Tree::from([CHANGELOG, (SOURCE, "//! This file reads plan documents.\n")]);
    let findings = printed(&tidy(&tree, &[exception("unfinished", SOURCE)]));
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert!(findings[0].starts_with("crates/windlass-plan/src/parse.rs:1: nothing here breaks `unfinished`"));
}
