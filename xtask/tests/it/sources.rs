//! Where dependencies may come from, and what would send them elsewhere.

use crate::notation::check;

#[test]
fn public_registries_pass() {
    let cargo = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
    let npm = "      \"resolved\": \"https://registry.npmjs.org/vite/-/vite-8.0.0.tgz\",\n";
    check("sources", &[("Cargo.lock", cargo), ("web/package-lock.json", npm)], &[]);
    check("sources", &[("Cargo.toml", "[dependencies]\nregistry = \"1\"\n"), ("README.md", "index-url = x\n")], &[]);
}

#[test]
fn a_mirror_or_a_git_dependency_in_a_lock_file_is_found() {
    for source in
        ["registry+https://mirror.example/index", "sparse+https://mirror.example/", "git+https://github.com/a/b#1"]
    {
        let lock = format!("version = 4\nsource = \"{source}\"\n");
        check("sources", &[("Cargo.lock", &lock)], &[&format!("Cargo.lock:2: `{source}` is not")]);
    }
    let npm = "\"resolved\": \"https://mirror.example/vite.tgz\",\n";
    check(
        "sources",
        &[("web/package-lock.json", npm)],
        &["web/package-lock.json:1: `https://mirror.example/vite.tgz`"],
    );
}

#[test]
fn a_setting_that_redirects_a_package_manager_is_found() {
    for (path, line) in [
        (".cargo/config.toml", "replace-with = \"mirror\""),
        (".cargo/config.toml", "registry = \"https://mirror.example/index\""),
        (".cargo/config", "index = \"sparse+https://mirror.example/\""),
        ("web/.npmrc", "registry=https://mirror.example/"),
        ("pip.conf", "extra-index-url = https://mirror.example/"),
    ] {
        check("sources", &[(path, line)], &[&format!("{path}:1: this sends package managers")]);
    }
}
