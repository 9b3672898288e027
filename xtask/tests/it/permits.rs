//! Who may issue a permit, and who only thinks so.

use crate::notation::check;

const ISSUES: &str = "//! Runs tools.\nfn f() {\n    let permit = windlass_domain::Permit :: issue(call);\n}\n";

#[test]
fn the_engine_the_domain_and_tests_issue_permits() {
    for path in [
        "crates/windlass-engine/src/host/authorise.rs",
        "crates/windlass-domain/src/permit.rs",
        "crates/windlass-tools/tests/it/bash.rs",
        "testing/simulator/src/scripted.rs",
    ] {
        check("permits", &[(path, ISSUES)], &[]);
    }
}

#[test]
fn nobody_else_does() {
    for path in ["crates/windlass-tools/src/registry.rs", "crates/windlass/src/main.rs", "xtask/src/main.rs"] {
        check("permits", &[(path, ISSUES)], &[&format!("{path}:3: only windlass-engine issues permits")]);
    }
}

#[test]
fn code_inside_a_macro_or_compiled_out_counts_and_a_comment_does_not() {
    let path = "crates/windlass-tools/src/registry.rs";
    check("permits", &[(path, "#[cfg(any())]\nfn f() { m! { [Permit::issue(c)] } }\n")], &[&format!("{path}:2: only")]);
    check("permits", &[(path, "// Permit::issue(call)\nconst S: &str = \"Permit::issue(call)\";\n")], &[]);
}

#[test]
fn only_the_policy_says_that_a_signature_held() {
    let proves = "//! Pays.\nfn f() {\n    Proof::of_checked_signature(token, nonce)\n}\n";
    for path in ["crates/windlass-policy/src/approve/verify.rs", "crates/windlass-domain/tests/it/approval.rs"] {
        check("permits", &[(path, proves)], &[]);
    }
    let path = "crates/windlass-engine/src/host/authorise.rs";
    check("permits", &[(path, proves)], &[&format!("{path}:3: only windlass-policy")]);
}
