//! Rules about one file or one folder: size, changelog, prompts.

use crate::notation::check;

#[test]
fn a_file_of_eight_hundred_lines_passes_and_one_more_does_not() {
    let path = "crates/windlass-plan/src/parse.rs";
    check("size", &[(path, &"\n".repeat(800))], &[]);
    check("size", &[(path, &"\n".repeat(801))], &[&format!("{path}:801: 801 lines")]);
}

#[test]
fn only_source_is_measured() {
    check("size", &[("Cargo.lock", &"\n".repeat(9000)), ("docs/glossary.md", &"\n".repeat(9000))], &[]);
    check("size", &[("web/src/App.tsx", &"\n".repeat(801))], &["web/src/App.tsx:801: "]);
}

#[test]
fn the_changelog_has_an_unreleased_section() {
    check("changelog", &[("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n")], &[]);
    check("changelog", &[], &["CHANGELOG.md:1: keep a `## [Unreleased]` section"]);
    check("changelog", &[("CHANGELOG.md", "# Changelog\n\nUnreleased\n## [0.1.0]\n")], &["CHANGELOG.md:1: keep"]);
}

#[test]
fn a_prompt_is_included_by_product_source() {
    let prompt = ("prompts/system/role.md", "You are");
    let includes = "const ROLE: &str = include_str!(\"../../../prompts/system/role.md\");";
    check("prompts", &[prompt, ("crates/windlass-agent/src/prompt.rs", includes)], &[]);
    check("prompts", &[("prompts/README.md", "how these are used")], &[]);
}

#[test]
fn a_prompt_that_only_a_test_reads_is_unused() {
    let prompt = ("prompts/system/role.md", "You are");
    let includes = "const ROLE: &str = include_str!(\"../../../../prompts/system/role.md\");";
    let expected: &[&str] = &["prompts/system/role.md:1: no source reads this prompt"];
    check("prompts", &[prompt], expected);
    check("prompts", &[prompt, ("crates/windlass-agent/tests/it/prompt.rs", includes)], expected);
}
