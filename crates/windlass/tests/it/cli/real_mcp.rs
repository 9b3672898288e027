//! The official MCP clients for Python and JavaScript, which start `windlass mcp serve` as any agent would. `make test-mcp` installs them
//! and says where.

use std::path::Path;
use std::process::Command;

use crate::support::Home;

fn installed(name: &str) -> String {
    std::env::var(name).expect("`make test-mcp` sets it")
}

/// A program with these words before those that say where the server is.
fn goes_well(program: &str, before: &[&str], after: &[&str]) {
    let home = Home::playing("version: 1\ntracks: { default: [ { reply: Done. } ] }\n");
    let ran = Command::new(program)
        .args(before)
        .args([Path::new(env!("CARGO_BIN_EXE_windlass")), &home.script()])
        .args(after)
        .current_dir(home.workspace())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home.path())
        .env("WINDLASS_DATA_DIR", home.data())
        .output()
        .expect("the client starts");
    let (said, complained) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && said.trim_end() == "well", "{said}\n{complained}");
}

const PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cli/real_mcp.py");
const JAVASCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cli/real_mcp.mjs");

#[test]
fn with_a_greeting() {
    goes_well(&installed("WINDLASS_MCP_PYTHON"), &[PYTHON], &["legacy"]);
}

#[test]
fn in_the_newest_revision() {
    goes_well(&installed("WINDLASS_MCP_PYTHON"), &[PYTHON], &["auto"]);
}

/// Which gives its servers sockets instead of pipes.
#[test]
fn with_the_client_for_javascript() {
    goes_well("node", &[JAVASCRIPT, &installed("WINDLASS_MCP_EVERYTHING")], &[]);
}
