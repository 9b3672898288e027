//! The official MCP client for Python, which starts `windlass mcp serve` as any agent would. `make test-mcp` installs it and says where.

use std::process::Command;

use crate::support::Home;

fn goes_well(mode: &str) {
    let python = std::env::var("WINDLASS_MCP_PYTHON").expect("`make test-mcp` sets it");
    let home = Home::playing("version: 1\ntracks: { default: [ { reply: Done. } ] }\n");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cli/real_mcp.py");
    let ran = Command::new(python)
        .args([script, env!("CARGO_BIN_EXE_windlass")])
        .arg(home.script())
        .arg(mode)
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

#[test]
fn with_a_greeting() {
    goes_well("legacy");
}

#[test]
fn in_the_newest_revision() {
    goes_well("auto");
}
