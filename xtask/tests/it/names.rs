//! Names that say nothing, and where they are looked for.

use crate::notation::{check, check_source};

#[test]
fn names_that_say_something_pass() {
    check(
        "names",
        &[("crates/windlass-plan/Cargo.toml", ""), ("crates/windlass-plan/src/score.rs", "mod commons {}")],
        &[],
    );
}

#[test]
fn an_empty_name_is_refused_for_a_crate_a_file_a_folder_and_a_module() {
    for path in [
        "crates/windlass-core/Cargo.toml",
        "crates/windlass-plan/src/util.rs",
        "crates/windlass-plan/src/helpers/parse.rs",
        "crates/windlass-plan/tests/it/common.rs",
        "testing/simulator/src/misc/mod.rs",
    ] {
        check("names", &[(path, "")], &[&format!("{path}:1: `")]);
    }
    check_source(
        "names",
        "fn f() {}\npub mod utils {\n}\n",
        &["crates/windlass-plan/src/parse.rs:2: `utils` says nothing"],
    );
}
