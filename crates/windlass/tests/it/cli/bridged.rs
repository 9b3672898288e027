//! An agent of others that takes MCP servers only as programs, as the Agent Client Protocol has everybody take them: it is given Windlass
//! itself, which passes on to the endpoint of its own execution, from inside of the sandbox.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Home, none_left, read};

/// Starts what it is given, lists its tools, and says by one of them that it is halfway.
const PROGRAM: &str = r#"#!/usr/bin/env python3
import json, os, subprocess, sys
if "--version" in sys.argv:
    print("1.0.0")
    sys.exit()
def reply(asked, result):
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
def tools(given):
    env = dict(os.environ, **{one["name"]: one["value"] for one in given["env"]})
    words = [given["command"], *given["args"]]
    server = subprocess.Popen(words, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    def say(**message):
        server.stdin.write(json.dumps(dict(message, jsonrpc="2.0")) + "\n")
        server.stdin.flush()
    def ask(**message):
        say(**message)
        return json.loads(server.stdout.readline())["result"]
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "mine", "version": "1"}}
    ask(id=1, method="initialize", params=about)
    say(method="notifications/initialized")
    names = [tool["name"] for tool in ask(id=2, method="tools/list")["tools"]]
    told = ask(id=3, method="tools/call", params={"name": "progress", "arguments": {"summary": "halfway"}})
    server.stdin.close()
    server.wait()
    return "progress" in names and told["content"][0]["text"]
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        reply(asked, {"protocolVersion": 1, "agentCapabilities": {}})
    elif asked["method"] == "session/new":
        said = tools(asked["params"]["mcpServers"][0])
        reply(asked, {"sessionId": "s1"})
    elif asked["method"] == "session/prompt":
        chunk = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": said}}
        update = {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update": chunk}}
        print(json.dumps(update), flush=True)
        reply(asked, {"stopReason": "end_turn"})
"#;

fn home() -> Home {
    let home = Home::playing("version: 1\ntracks: { default: [ { reply: Never asked. } ] }\n");
    let bin = home.path().join("agents/bin");
    fs::create_dir_all(&bin).expect("made");
    let program = bin.join("mine");
    fs::write(&program, PROGRAM).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("made executable");
    fs::create_dir_all(home.data()).expect("made");
    fs::write(home.data().join("windlass.toml"), "[agents.acp.mine]\nprogram = \"mine\"\nmcp = true\n")
        .expect("written");
    home
}

#[test]
fn who_takes_no_address_reaches_its_executions_endpoint_through_a_program() {
    let home = home();
    let agents = home.path().join("agents");
    let run = home.run(&["--agent", "mine", "--json"]).env("WINDLASS_AGENTS", agents.to_str().expect("a plain path"));
    let result = run.run().expect(0).result();
    assert_eq!(result["final_message"], "Recorded. Go on.", "{result}");
    let story = read(&home);
    let observed = |what: &str| {
        let observed = story.of("observation.recorded").filter(|record| record["data"]["observed"] == what);
        observed.map(|record| record["data"]["source"].clone()).collect::<Vec<_>>()
    };
    assert_eq!((observed("equipped"), observed("claimed")), (vec!["mcp".into()], vec!["mcp".into()]));
    none_left(&home);
}
