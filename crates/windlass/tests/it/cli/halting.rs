//! A stop that comes while a program's home is made ready for it: it is not waited for until that is done.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rustix::process::Signal;

use crate::support::{Home, Program, none_left};

/// Of OpenCode, from whose database a leave is taken out before each start, by itself; here that never ends.
const PROGRAM: &str = r#"#!/bin/bash
case "$1" in
  --version) echo '1.18.33'; exit;;
  db) touch begun; exec sleep 1000;;
esac
read -r _; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"mcpCapabilities":{"http":true}}}}'
read -r _; echo '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"ses_1"}}'
read -r _; exec sleep 1000
"#;

fn with_agents(home: &Home, program: Program) -> Program {
    let agents = home.path().join("agents");
    program.env("WINDLASS_AGENTS", agents.to_str().expect("a plain path"))
}

/// Regression: it was heard when all of it was done, up to two minutes later for each part.
#[test]
fn a_stop_is_heard_while_a_home_is_made_ready() {
    let home = Home::playing("version: 1\ntracks: { default: [ { reply: Never asked. } ] }\n");
    let bin = home.path().join("agents/bin");
    fs::create_dir_all(&bin).expect("made");
    fs::write(bin.join("opencode"), PROGRAM).expect("written");
    fs::set_permissions(bin.join("opencode"), fs::Permissions::from_mode(0o755)).expect("made executable");
    let mut first = with_agents(&home, home.run(&["--agent", "opencode", "--json"])).start();
    first.wait_for(|line| line.contains("ses_1"));
    first.signal(Signal::INT);
    first.end().expect(5);
    let second = with_agents(&home, home.windlass(&["resume"])).start();
    while !home.workspace().join("begun").exists() {
        std::thread::yield_now();
    }
    second.signal(Signal::INT);
    second.end().expect(5);
    none_left(&home);
}
