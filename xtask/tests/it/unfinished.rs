//! Marks of unfinished work, wherever they hide.

use crate::notation::check_source;

#[test]
fn marks_are_found_in_code_in_macros_and_behind_cfg() {
    for mark in ["todo!()", "unimplemented!(\"later\")", "dbg!(x)", "std::todo!()", "m! { a => todo!() }"] {
        let text = format!("#[cfg(any())]\nfn f() {{ {mark}; }}\n");
        check_source("unfinished", &text, &["crates/windlass-plan/src/parse.rs:2: "]);
    }
    for attribute in ["#[ignore]", "#[ignore = \"slow\"]"] {
        let text = format!("#[test]\n{attribute}\nfn t() {{}}\n");
        check_source("unfinished", &text, &["crates/windlass-plan/src/parse.rs:2: a test that does not run"]);
    }
}

#[test]
fn words_in_comments_strings_and_names_are_left_alone() {
    let text =
        "// todo!() and #[ignore]\nconst A: &str = \"dbg!(x)\";\nfn todo() { ignore(); let todo = todo != 1; }\n";
    check_source("unfinished", text, &[]);
}
