//! What is started, and with what. That the programs do as they are told with it is for `real_agents`.

use serde_json::{Value, json};
use windlass_adapters::{
    Adapter, CannotLaunch, Codex, Copilot, Dialect, Framing, LaunchSpec, Mode, Naming, OpenCode, Session,
};

use super::gemini::gemini;
use crate::launching::{SESSION, Scene, scene};

const MCP: Option<&str> = Some("http://127.0.0.1:4000/mcp");

fn launch(adapter: &dyn Adapter, scene: Scene<'_>) -> LaunchSpec {
    adapter.launch(&scene.launching()).expect("it can be launched")
}

/// A file that is placed, read as JSON.
fn placed(spec: &LaunchSpec, path: &str) -> Value {
    let file = spec.files.iter().find(|file| file.path.ends_with(path)).expect("it is placed");
    serde_json::from_str(&file.content).expect("JSON")
}

fn configuration(spec: &LaunchSpec) -> Value {
    serde_json::from_str(&spec.env["OPENCODE_CONFIG_CONTENT"]).expect("JSON")
}

#[test]
fn no_launch_allows_everything() {
    for adapter in [&Copilot as &dyn Adapter, &OpenCode, &gemini()] {
        for mode in [Mode::Structured, Mode::Terminal] {
            let spec = launch(adapter, Scene { mode, mcp: MCP, instructions: "be brief", ..scene() });
            let files = spec.files.iter().map(|file| &file.content);
            let said = spec.argv.iter().chain(spec.env.keys()).chain(spec.env.values()).chain(files).cloned();
            // Our own tools act on nothing, and are not asked about on a screen.
            let said = said.collect::<Vec<_>>().join("\n").to_lowercase().replace("\"windlass_*\":\"allow\"", "");
            for flag in ["allow-all", "allow_all", "yolo", "dangerously", "--auto", "bypass", "\"allow\"", "skip-trust"]
            {
                assert!(!said.contains(flag), "{}: {flag} in {said}", adapter.agent().id);
            }
        }
    }
}

#[test]
fn files_lie_below_the_home() {
    for adapter in [&Copilot as &dyn Adapter, &OpenCode, &gemini()] {
        let spec = launch(adapter, Scene { mode: Mode::Terminal, mcp: MCP, instructions: "be brief", ..scene() });
        assert!(!spec.files.is_empty());
        for file in spec.files {
            assert!(file.path.is_relative() && !file.path.components().any(|part| part.as_os_str() == ".."));
        }
    }
}

#[test]
fn copilot_over_its_channel() {
    let spec = launch(&Copilot, scene());
    assert_eq!(spec.argv, ["/agents/bin/program", "--headless", "--stdio"]);
    assert_eq!(spec.framing, Framing::ContentLength);
    assert_eq!(spec.env["COPILOT_OFFLINE"], "true");
    assert_eq!(spec.env["COPILOT_CLI_DIST_DIR"], "/agents/copilot-dist");
    assert_eq!(spec.files, []);
}

#[test]
fn copilots_conversation_asks_and_runs_nothing_unasked() {
    let scene = Scene { mcp: MCP, instructions: "be brief", ..scene() };
    let frames = Copilot.converse(&scene.launching()).begin();
    let created: Value = serde_json::from_slice(&frames[1]).expect("JSON");
    let params = &created["params"];
    assert_eq!(created["method"], "session.create");
    assert_eq!(params["sessionId"], SESSION);
    assert_eq!(params["requestPermission"], true);
    assert_eq!(params["enableFileHooks"], false);
    assert_eq!(params["enableConfigDiscovery"], false);
    assert_eq!(params["workingDirectory"], "/workspace");
    assert_eq!(params["systemMessage"], json!({ "mode": "append", "content": "be brief" }));
    assert_eq!(params["provider"]["apiKey"], scene.launching().key);
    let bearer = format!("Bearer {}", scene.launching().key);
    assert_eq!(params["mcpServers"]["windlass"]["headers"], json!({ "Authorization": bearer }));
}

#[test]
fn copilot_on_its_screen() {
    let terminal = Scene { mode: Mode::Terminal, mcp: MCP, instructions: "be brief", prompt: "-go", ..scene() };
    let spec = launch(&Copilot, terminal);
    assert_eq!(spec.argv[1..], [&format!("--session-id={SESSION}"), "--allow-tool=windlass", "--interactive=-go"]);
    assert_eq!(placed(&spec, "config.json"), json!({ "trustedFolders": ["/workspace"] }));
    assert_eq!(placed(&spec, "settings.json")["disableAllHooks"], true);
    assert_eq!(placed(&spec, "mcp-config.json")["mcpServers"]["windlass"]["url"], MCP.expect("given"));
    let spec = launch(&Copilot, Scene { session: Session::Resume("old"), ..terminal });
    assert_eq!(spec.argv[1], "--resume=old");
    let forking = Scene { session: Session::Fork("old"), ..terminal }.launching();
    assert_eq!(Copilot.launch(&forking), Err(CannotLaunch::CannotFork { agent: "copilot" }));
}

#[test]
fn copilot_reaches_its_model_in_each_dialect() {
    for (dialect, kind, wire, address) in [
        (Dialect::Chat, "openai", Some("completions"), "http://127.0.0.1:4000/v1"),
        (Dialect::Responses, "openai", Some("responses"), "http://127.0.0.1:4000/v1"),
        (Dialect::Messages, "anthropic", None, "http://127.0.0.1:4000"),
    ] {
        let spec = launch(&Copilot, Scene { dialect, ..scene() });
        assert_eq!(spec.env["COPILOT_PROVIDER_TYPE"], kind);
        assert_eq!(spec.env.get("COPILOT_PROVIDER_WIRE_API").map(String::as_str), wire);
        assert_eq!(spec.env["COPILOT_PROVIDER_BASE_URL"], address);
    }
}

#[test]
fn copilot_says_its_version_with_a_full_stop() {
    let printed = "GitHub Copilot CLI 1.0.102.\nRun 'copilot update' to check for updates.\n";
    assert_eq!(Copilot.version(printed), Some("1.0.102"));
    assert_eq!(OpenCode.version("1.18.33\n"), Some("1.18.33"));
}

#[test]
fn opencode_asks_for_everything_and_believes_no_project() {
    let spec = launch(&OpenCode, scene());
    assert_eq!(spec.argv, ["/agents/bin/program", "acp"]);
    assert_eq!(spec.framing, Framing::Lines);
    assert_eq!(configuration(&spec)["permission"], json!({ "*": "ask", "task": "deny" }));
    assert_eq!(spec.env["OPENCODE_DISABLE_PROJECT_CONFIG"], "1");
    assert_eq!(spec.env["OPENCODE_PURE"], "1");
}

#[test]
fn opencode_reaches_its_model_in_each_dialect() {
    for (dialect, package) in [
        (Dialect::Chat, "@ai-sdk/openai-compatible"),
        (Dialect::Responses, "@ai-sdk/openai"),
        (Dialect::Messages, "@ai-sdk/anthropic"),
    ] {
        let provider = configuration(&launch(&OpenCode, Scene { dialect, ..scene() }))["provider"]["windlass"].clone();
        assert_eq!(provider["npm"], package);
        assert_eq!(provider["options"]["baseURL"], "http://127.0.0.1:4000/v1");
        assert!(provider["models"]["rehearsal/worker"].is_object());
    }
}

#[test]
fn opencode_on_its_screen() {
    let terminal = Scene { mode: Mode::Terminal, mcp: MCP, instructions: "be brief", prompt: "-go", ..scene() };
    let spec = launch(&OpenCode, terminal);
    assert_eq!(spec.argv[1..], ["--prompt=-go"]);
    assert_eq!(configuration(&spec)["mcp"]["windlass"]["url"], MCP.expect("given"));
    assert_eq!(configuration(&spec)["instructions"], json!(["/home/agent/.config/opencode/windlass.md"]));
    assert_eq!(spec.files[0].content, "be brief");
    let spec = launch(&OpenCode, Scene { session: Session::Fork("old"), ..terminal });
    assert_eq!(spec.argv[1..], ["--session", "old", "--fork"]);
    let awaits = |session| OpenCode.awaits_prompt(&Scene { session, ..terminal }.launching()).is_some();
    assert!(awaits(Session::Resume("old")) && !awaits(Session::New(SESSION)), "then the prompt is typed in");
    assert_eq!(configuration(&spec)["permission"], json!({ "*": "ask", "task": "deny", "windlass_*": "allow" }));
    // Over the structured channel the protocol brings the server.
    let spec = launch(&OpenCode, Scene { mcp: MCP, ..scene() });
    assert_eq!(configuration(&spec).get("mcp"), None);
}

/// Where nobody says the name of a conversation it is looked for in the home, which the agent can write to.
#[test]
fn a_conversation_is_found_again_in_the_home_and_a_name_is_all_that_is_read() {
    let found = |adapter: &dyn Adapter, printed: &str| match adapter.naming(&scene().launching()) {
        Naming::Kept(look) => (look.read)(printed),
        other => panic!("{other:?}"),
    };
    let listed = |id: &str| found(&OpenCode, &json!([{ "id": id, "title": "x" }, { "id": "ses_older" }]).to_string());
    assert_eq!(listed("ses_e13901aa9ffeTy"), Some("ses_e13901aa9ffeTy".to_owned()));
    for none in ["--auto", "ses_a b", "", "x"] {
        assert_eq!(listed(none), None, "{none}");
    }
    assert_eq!((found(&OpenCode, "[]"), found(&OpenCode, "Error")), (None, None));
    let (old, new) = (SESSION, "01999999-2222-7333-8444-555555555555");
    let file = |time: &str, name: &str| format!("/home/agent/.codex/sessions/2026/11/18/rollout-{time}-{name}.jsonl\n");
    let both = file("2026-11-18T02-15-18", new) + &file("2026-11-17T23-59-59", old);
    assert_eq!(found(&Codex, &both), Some(new.to_owned()));
    assert_eq!(found(&Codex, &file("2026-11-18T02-15-18", &"z".repeat(36))), None);
    assert_eq!((found(&Codex, ""), found(&Codex, "rollout-ä.jsonl\nother\n")), (None, None));
}

#[test]
fn an_operators_words_are_filled_in() {
    let spec = launch(&gemini(), scene());
    assert_eq!(spec.argv, ["/agents/bin/program", "--acp", "--model", "rehearsal/worker"]);
    assert_eq!(spec.env["GOOGLE_GEMINI_BASE_URL"], "http://127.0.0.1:4000");
    assert_eq!(spec.env["GEMINI_API_KEY"], scene().launching().key);
    assert_eq!(spec.files[0].path.to_string_lossy(), ".gemini/settings.json");
}

#[test]
fn what_a_program_cannot_do_is_said_before_it_is_started() {
    let chat = Dialect::Responses;
    let refused = |scene: Scene<'_>| gemini().launch(&scene.launching()).expect_err("it cannot");
    assert_eq!(refused(Scene { dialect: chat, ..scene() }), CannotLaunch::NoSuchDialect { agent: "gemini" });
    assert_eq!(
        refused(Scene { session: Session::Fork("old"), ..scene() }),
        CannotLaunch::CannotFork { agent: "gemini" }
    );
}
