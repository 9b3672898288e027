//! How a package is laid out: it takes the workspace's lints, a crate's folder bears its name, and its integration tests are
//! one binary, `tests/it/main.rs`, because every further file under `tests/` is another program to link.

use toml::{Table, Value};

use crate::{Finding, Tree};

pub fn check(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.files().filter(|(path, _)| is_manifest(path));
    let manifests = manifests.flat_map(|(path, text)| check_manifest(path, text));
    let tests = tree.files().filter(|(path, _)| is_loose_test(path)).map(|(path, _)| {
        Finding::new(path, 1, "make this a module of the package's one test binary, tests/it/main.rs")
    });
    manifests.chain(tests).collect()
}

fn is_manifest(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(parts[..], ["crates" | "testing", _, "Cargo.toml"] | ["xtask", "Cargo.toml"])
}

fn check_manifest(path: &str, text: &str) -> Vec<Finding> {
    let manifest: Table = text.parse().unwrap_or_default();
    let value = |section: &str, key: &str| manifest.get(section).and_then(|section| section.get(key));
    let mut findings = Vec::new();
    if value("lints", "workspace") != Some(&Value::Boolean(true)) {
        findings.push(Finding::new(
            path,
            1,
            "add `[lints] workspace = true`, so that every package keeps the same rules",
        ));
    }
    let name = value("package", "name").and_then(Value::as_str).unwrap_or_default();
    if path.starts_with("crates/") && path != format!("crates/{name}/Cargo.toml") {
        findings.push(Finding::new(path, 1, format!("{name} must stand in a folder of that name")));
    }
    findings
}

fn is_loose_test(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match parts[..] {
        ["crates" | "testing", _, "tests", file] | ["xtask", "tests", file] => file.ends_with(".rs"),
        ["crates" | "testing", _, "tests", folder, "main.rs"] | ["xtask", "tests", folder, "main.rs"] => folder != "it",
        _ => false,
    }
}
