//! How a package is laid out, and how it is not.

use crate::notation::check;

const MANIFEST: &str = "[package]\nname = \"windlass-plan\"\n[lints]\nworkspace = true\n";

#[test]
fn a_package_named_for_its_folder_with_shared_lints_passes() {
    check("layout", &[("crates/windlass-plan/Cargo.toml", MANIFEST)], &[]);
    check("layout", &[("testing/simulator/Cargo.toml", MANIFEST)], &[]);
}

#[test]
fn a_package_without_the_shared_lints_is_refused() {
    for manifest in ["[package]\nname = \"xtask\"\n", "[package]\nname = \"xtask\"\n[lints]\nworkspace = false\n"] {
        check("layout", &[("xtask/Cargo.toml", manifest)], &["xtask/Cargo.toml:1: add `[lints] workspace = true`"]);
    }
}

#[test]
fn a_crate_stands_in_a_folder_of_its_name() {
    let expected: &[&str] = &["crates/plan/Cargo.toml:1: windlass-plan must stand in a folder"];
    check("layout", &[("crates/plan/Cargo.toml", MANIFEST)], expected);
}

#[test]
fn integration_tests_are_one_binary() {
    check(
        "layout",
        &[("crates/windlass-plan/tests/it/main.rs", ""), ("crates/windlass-plan/tests/it/parse.rs", "")],
        &[],
    );
    for path in ["crates/windlass-plan/tests/parse.rs", "xtask/tests/other/main.rs", "testing/simulator/tests/a.rs"] {
        check("layout", &[(path, "")], &[&format!("{path}:1: make this a module")]);
    }
}
