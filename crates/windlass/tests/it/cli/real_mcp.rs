//! The official MCP clients for Python and JavaScript: they start `windlass mcp serve` as any agent would, and they are an agent, with the
//! endpoint of its own execution. `make test-mcp` installs them and says where.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::stand_in::{begin, with};
use crate::support::{Home, read};

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

/// An agent that is nothing but a client of the endpoint that it was given: what that says is the agent's last word.
const IS_A_CLIENT: &str = r#"import subprocess
introduce()
hear()
server = json.load(open(given("--mcp-config")))["mcpServers"]["windlass"]
token = server["headers"]["Authorization"].removeprefix("Bearer ")
client = os.path.join(os.path.dirname(sys.argv[0]), "NAME")
ran = subprocess.run(COMMAND, capture_output=True, text=True)
end(ran.stdout.strip() or ran.stderr)"#;

/// A client in the sandbox of an execution, which is shown where it is installed.
fn goes_well_in_an_execution(client: &str, shown: &[&Path], command: &str) {
    let name = Path::new(client).file_name().and_then(|name| name.to_str()).expect("a plain name");
    let home = with(&IS_A_CLIENT.replace("COMMAND", command).replace("NAME", name));
    fs::copy(client, home.path().join("agents/bin").join(name)).expect("the client is there");
    fs::create_dir_all(home.data()).expect("made");
    // What is below /usr is shown in any case.
    let shown: Vec<_> = shown.iter().filter(|folder| !folder.starts_with("/usr")).collect();
    fs::write(home.data().join("windlass.toml"), format!("[sandbox]\nreadonly_mounts = {shown:?}\n")).expect("written");
    let result = begin(&home).end().expect(0).result();
    assert_eq!(result["final_message"], "well", "{result}");
    let story = read(&home);
    let told = story.of("observation.recorded").filter(|record| record["data"]["observed"] == "claimed");
    let told: Vec<_> = told.map(|record| (record["data"]["kind"].clone(), record["data"]["source"].clone())).collect();
    assert_eq!(told, [("progress".into(), "mcp".into())]);
}

const IN_PYTHON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cli/real_mcp_execution.py");
const IN_JAVASCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/cli/real_mcp_execution.mjs");

#[test]
fn an_executions_own_endpoint_serves_the_client_for_python() {
    let python = installed("WINDLASS_MCP_PYTHON");
    let environment = Path::new(&python).ancestors().nth(2).expect("it is in the `bin` of one");
    let real = fs::canonicalize(&python).expect("it is there");
    let made_from = real.ancestors().nth(2).expect("it is in a `bin`, too");
    for mode in ["legacy", "auto"] {
        let command = format!("[\"{python}\", client, server[\"url\"], token, \"{mode}\"]");
        goes_well_in_an_execution(IN_PYTHON, &[environment, made_from], &command);
    }
}

#[test]
fn an_executions_own_endpoint_serves_the_client_for_javascript() {
    let folder = installed("WINDLASS_MCP_EVERYTHING");
    let command = format!("[\"node\", client, \"{folder}\", server[\"url\"], token]");
    goes_well_in_an_execution(IN_JAVASCRIPT, &[Path::new(&folder)], &command);
}
