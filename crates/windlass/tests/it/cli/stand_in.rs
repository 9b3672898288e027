//! A program that stands in for Claude Code: it speaks its language, and does what a test wants it to.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{Home, Program};

/// Says its version, and otherwise does what is put in place of `ACTS`.
const PROGRAM: &str = r#"#!/usr/bin/env python3
import json, os, sys, urllib.request
if "--version" in sys.argv:
    print("9.8.7 (Stand-in)")
    sys.exit()
def given(flag):
    return sys.argv[sys.argv.index(flag) + 1] if flag in sys.argv else None
session = given("--session-id") or ("forked-from-" if "--fork-session" in sys.argv else "") + given("--resume")
def say(**frame):
    print(json.dumps(dict(frame, session_id=session)), flush=True)
def hear():
    return json.loads(sys.stdin.readline())
def connect():
    server = json.load(open(given("--mcp-config")))["mcpServers"]["windlass"]
    head = dict(server["headers"], **{"content-type": "application/json", "accept": "application/json, text/event-stream"})
    def post(**message):
        body = json.dumps(dict(message, jsonrpc="2.0")).encode()
        return urllib.request.urlopen(urllib.request.Request(server["url"], body, head))
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "stand-in", "version": "1"}}
    head["mcp-session-id"] = post(id=1, method="initialize", params=about).headers["mcp-session-id"]
    post(method="notifications/initialized")
    post(id=2, method="tools/list")
def ask():
    if given("--mcp-config"):
        connect()
    return ask_model(hear()["message"]["content"])
def ask_model(words):
    body = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": words}]}
    body["tools"] = [{"name": "Bash", "input_schema": {"type": "object"}}]
    head = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"}
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    answer = urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), head)).read()
    return json.loads(answer)["content"][0]["text"]
def introduce():
    say(type="system", subtype="init", permissionMode="default", mcp_servers=[dict(name="windlass", status="connected")])
def word(text):
    say(type="assistant", uuid="w-" + text, message={"content": [{"type": "text", "text": text}]})
def end(text):
    say(type="result", subtype="success", is_error=False, result=text, uuid="u-1")
ACTS
sys.stdin.read()
"#;

pub fn with(acts: &str) -> Home {
    let home = Home::playing("version: 1\ntracks: { default: [ { reply: Never asked. } ] }\n");
    install(&home, "claude", &PROGRAM.replace("ACTS", acts));
    home
}

/// Under the name that is looked for on the machine.
pub fn install(home: &Home, file: &str, program: &str) {
    let folder = home.path().join("agents/bin");
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(file);
    fs::write(&path, program).expect("a program");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it can be run");
}

pub fn windlass(home: &Home, words: &[&str]) -> Program {
    let folder = home.path().join("agents");
    home.windlass(words).env("WINDLASS_AGENTS", folder.to_str().expect("a plain path"))
}

/// Given work, in the background.
pub fn begin(home: &Home) -> crate::support::Running {
    let script = home.script();
    let words =
        ["run", "Do it", "--agent", "claude-code", "--json", "--rehearsal", script.to_str().expect("a plain path")];
    windlass(home, &words).start()
}
