//! Index files introduce and re-export, and do nothing else.

use crate::notation::{check, check_source};

const KEPT: &str = "//! Plans, read and written, with positions.\n#![expect(dead_code, reason = \"soon\")]\n\
    /// Parsing.\npub mod parse;\nmod write;\n#[cfg(test)]\nmod tests;\npub(crate) use write::render;\n\
    pub use parse::{self, Plan as Document};\npub mod v1 {\n    pub use super::parse::*;\n}\n";

#[test]
fn modules_and_re_exports_are_what_an_index_is_for() {
    check("index-files", &[("crates/windlass-plan/src/lib.rs", KEPT)], &[]);
    check("index-files", &[("crates/windlass-plan/src/providers/mod.rs", KEPT)], &[]);
}

#[test]
fn anything_else_needs_a_file_of_its_own() {
    for stray in [
        "fn f() {}",
        "pub fn f() {}",
        "pub struct S;",
        "const N: usize = 1;",
        "pub type T = u8;",
        "impl S {}",
        "macro_rules! m { () => {} }",
        "include!(\"x.rs\");",
        "#[cfg(test)] mod tests { #[test] fn t() {} }",
        "unsafe extern \"C\" {}",
    ] {
        let text = format!("//! Plans.\nmod parse;\n{stray}\n");
        let expected: &[&str] = &["crates/windlass-plan/src/lib.rs:3: an index file holds only"];
        check("index-files", &[("crates/windlass-plan/src/lib.rs", &text)], expected);
    }
}

#[test]
fn the_index_of_a_folder_is_held_to_it_at_any_depth() {
    for path in ["crates/windlass-plan/src/providers/mod.rs", "crates/windlass-plan/tests/it/notation/mod.rs"] {
        check("index-files", &[(path, "fn f() {}")], &[&format!("{path}:1: an index file")]);
    }
}

#[test]
fn other_files_hold_code() {
    check_source("index-files", "fn f() {}", &[]);
    check("index-files", &[("crates/windlass/src/main.rs", "fn main() {}")], &[]);
}
