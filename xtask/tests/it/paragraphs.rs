//! Opening paragraphs: what counts as one, and which files need one.

use crate::notation::{check, check_source};

#[test]
fn a_sentence_after_the_marker_is_enough() {
    check_source("paragraphs", "//! Reads plan documents and keeps their positions.\nfn f() {}\n", &[]);
    check_source("paragraphs", "//! # Plans\n//!\n//! Reads plan documents and\n//! keeps their positions.\n", &[]);
}

#[test]
fn a_sentence_may_introduce_an_example() {
    check_source("paragraphs", "//! Histories are written as words:\n//!\n//! ```text\n//! a b\n//! ```\n", &[]);
}

#[test]
fn a_file_must_begin_with_its_paragraph() {
    for text in [
        "",
        "fn f() {}\n",
        "\n//! Reads plan documents and keeps their positions.\n",
        "// Reads plan documents and keeps their positions.\n",
        "use std::fmt;\n//! Reads plan documents and keeps their positions.\n",
    ] {
        check_source("paragraphs", text, &["crates/windlass-plan/src/parse.rs:1: begin the file with"]);
    }
}

#[test]
fn a_title_is_not_a_paragraph() {
    for text in [
        "//!\n",
        "//! (soon)\n",
        "//! Plans.\n",
        "//! # Reads plan documents and keeps positions.\n",
        "//! plan documents and their many positions\n",
    ] {
        check_source("paragraphs", text, &["crates/windlass-plan/src/parse.rs:1: say what this file is"]);
    }
}

#[test]
fn every_package_is_held_to_it_and_fixtures_are_not() {
    for path in ["testing/simulator/src/lib.rs", "xtask/src/main.rs", "crates/windlass-plan/tests/it/main.rs"] {
        check("paragraphs", &[(path, "")], &[&format!("{path}:1: begin the file with")]);
    }
    for path in
        ["crates/windlass-plan/tests/fixtures/broken.rs", "docs/example.rs", "crates/windlass-plan/src/table.txt"]
    {
        check("paragraphs", &[(path, "")], &[]);
    }
}
