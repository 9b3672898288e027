//! What the programs are started with: never a flag that bypasses permissions, nothing that calls home, and no key where it is seen.

use std::path::Path;

use windlass_adapters::{
    Adapter, CannotLaunch, ClaudeCode, Codex, Copilot, Dialect, LaunchSpec, Launching, Mode, OpenCode, Pi, Session,
};

use crate::launching::{SESSION, Scene, scene};

const KEY: &str = "key-of-this-execution-0123456789";

type Launched = (&'static str, Mode, Session<'static>, LaunchSpec);

/// Those that are told everything by words and files.
fn every() -> Vec<Launched> {
    launched(&[&ClaudeCode, &Codex, &Pi])
}

fn all_five() -> Vec<Launched> {
    launched(&[&ClaudeCode, &Codex, &Copilot, &OpenCode, &Pi])
}

/// In every mode and session, as each is launched with a model that it can speak to.
fn launched(adapters: &[&dyn Adapter]) -> Vec<Launched> {
    let mut every = Vec::new();
    for adapter in adapters {
        let mcp = adapter.agent().takes_mcp.then_some("http://127.0.0.1:4000/mcp");
        for mode in [Mode::Structured, Mode::Terminal] {
            for session in [Session::New(SESSION), Session::Resume(SESSION), Session::Fork(SESSION)] {
                let dialect = adapter.agent().dialects[0];
                let scene = Scene { mode, dialect, mcp, session, instructions: "Be \"brief\".", ..scene() };
                match adapter.launch(&scene.launching()) {
                    Ok(spec) => every.push((adapter.agent().id, mode, session, spec)),
                    // Copilot forks over its channel alone.
                    Err(CannotLaunch::CannotFork { agent: "copilot" }) if mode == Mode::Terminal => {}
                    Err(error) => panic!("it can be launched: {error}"),
                }
            }
        }
    }
    every
}

fn spec(adapter: &dyn Adapter, scene: Scene<'_>) -> LaunchSpec {
    adapter.launch(&scene.launching()).expect("it can be launched")
}

#[test]
fn no_flag_bypasses_permissions() {
    for (program, mode, _, spec) in all_five() {
        let files = spec.files.iter().map(|file| &file.content);
        for word in spec.argv.iter().chain(spec.env.keys()).chain(spec.env.values()).chain(files) {
            let word = word.to_lowercase();
            for bypass in [
                "dangerously",
                "bypass",
                "yolo",
                "allow-all",
                "allow_all",
                "full-access",
                "acceptedits",
                "is_sandbox",
                "skip-trust",
                "\"never\"",
            ] {
                // Whether a banner is shown is no permission, and nor is it that Codex makes no sandbox inside of ours: it is asked about
                // each command because the folder is not trusted.
                let word = word.replace("\"banner\":\"never\"", "").replace("sandbox_mode=\"danger-full-access\"", "");
                assert!(!word.contains(bypass), "{program} in {mode:?}: {bypass} in {word}");
            }
        }
        assert!(!spec.argv.iter().any(|word| word == "--auto" || word == "--allow-all-tools"), "{program}");
        assert!(!spec.argv.contains(&"--approve".to_owned()), "{program}");
    }
}

#[test]
fn the_key_is_on_no_command_line() {
    for (program, mode, _, spec) in all_five() {
        assert!(spec.argv.iter().all(|word| !word.contains(KEY)), "{program} in {mode:?}");
        let known = spec.env.values().chain(spec.files.iter().map(|file| &file.content)).any(|text| text.contains(KEY));
        assert!(known, "{program} is told the key some other way");
    }
}

#[test]
fn files_lie_below_the_home() {
    for (program, _, _, spec) in every() {
        assert!(!spec.files.is_empty());
        for file in &spec.files {
            let stays = file.path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
            assert!(stays && file.path != Path::new(""), "{program}: {}", file.path.display());
        }
    }
}

#[test]
fn a_conversation_is_gone_on_with_by_its_own_id() {
    for (program, mode, session, spec) in every() {
        // The app-server is asked over its channel, and names new conversations itself.
        let names_it = !(program == "codex" && (mode == Mode::Structured || matches!(session, Session::New(_))));
        assert_eq!(spec.argv.contains(&SESSION.to_owned()), names_it, "{program} in {mode:?}: {session:?}");
    }
}

#[test]
fn the_prompt_is_given_on_the_command_line_of_a_terminal_only_and_is_no_option_there() {
    for (program, mode, session, spec) in every() {
        let at = spec.argv.iter().position(|word| word == "go");
        assert_eq!(at.is_some(), mode == Mode::Terminal, "{program}: {session:?}");
        if let Some(at) = at {
            let end_of_options = spec.argv.iter().position(|word| word == "--");
            assert!(
                end_of_options.is_some_and(|end| end < at) && at + 1 == spec.argv.len(),
                "{program}: {:?}",
                spec.argv
            );
        }
    }
}

#[test]
fn claude_code_asks_about_all_that_is_not_a_read_and_reads_no_settings_of_the_workspace() {
    let spec = spec(&ClaudeCode, Scene { dialect: Dialect::Messages, ..scene() });
    let after = |option: &str| {
        let at = spec.argv.iter().position(|word| word == option).expect("it is there");
        spec.argv[at + 1].clone()
    };
    assert_eq!(after("--setting-sources"), "user");
    assert_eq!(after("--permission-mode"), "default");
    assert_eq!(after("--permission-prompt-tool"), "stdio");
    let settings = after("--settings");
    for tool in ["Bash", "Edit", "Write", "NotebookEdit"] {
        assert!(settings.contains(&format!("\"{tool}\"")), "{settings}");
        assert!(after("--tools").split(',').any(|offered| offered == tool), "what is asked about is also offered");
    }
    assert_eq!(spec.env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"], "1");
    assert_eq!(spec.env["CLAUDE_CODE_MAX_RETRIES"], "1");
}

#[test]
fn codex_distrusts_the_workspace_and_does_not_wait_for_ever() {
    let spec = spec(&Codex, Scene { dialect: Dialect::Responses, ..scene() });
    assert_eq!(spec.files[0].path, Path::new(".codex/config.toml"));
    assert_eq!(spec.files[0].content, "[projects.\"/workspace\"]\ntrust_level = \"untrusted\"\n");
    assert!(spec.argv.windows(2).any(|pair| pair == ["--disable", "unbounded_connection_retries"]));
    assert_eq!(spec.env["CODEX_HOME"], "/home/agent/.codex");
}

/// Regression: it was trusted, and each command failed in a sandbox of Codex's own, which cannot be made inside of ours.
#[test]
fn codex_on_its_screen_asks_about_each_command_and_is_not_started_where_a_trusted_folder_would_be_obeyed() {
    for session in [Session::New(SESSION), Session::Resume(SESSION), Session::Fork(SESSION)] {
        let spec = spec(&Codex, Scene { mode: Mode::Terminal, dialect: Dialect::Responses, session, ..scene() });
        let says = |setting: &str| spec.argv.windows(2).any(|pair| pair == ["--config", setting]);
        assert!(says("projects={\"/workspace\"={trust_level=\"untrusted\"}}"), "{:?}", spec.argv);
        assert!(says("sandbox_mode=\"danger-full-access\""), "{:?}", spec.argv);
        assert!(!spec.argv.iter().any(|word| word.starts_with("approval_policy")), "{:?}", spec.argv);
        assert_eq!(spec.files[0].path, Path::new(".codex/config.toml"));
        assert_eq!(spec.files[0].content, "[projects.\"/workspace\"]\ntrust_level = \"untrusted\"\n");
    }
    assert_eq!(Codex.refused(Mode::Terminal), [".codex"]);
    assert!(Codex.refused(Mode::Structured).is_empty(), "there nobody can have it trusted");
}

/// Regression: each was told of 200,000 and 8,000 tokens, whatever its model was.
#[test]
fn who_compacts_is_told_how_much_its_model_reads_and_says() {
    let launching = Launching { window: 64_123, longest_answer: 4_321, ..scene().launching() };
    let pi = Pi.launch(&launching).expect("it can be launched");
    let models = pi.files.iter().find(|file| file.path.ends_with("models.json")).expect("it lies there");
    assert!(models.content.contains("64123") && models.content.contains("4321"), "{}", models.content);
    let opencode = OpenCode.launch(&launching).expect("it can be launched");
    let said = opencode.env.values().cloned().chain(opencode.files.into_iter().map(|file| file.content));
    assert!(said.into_iter().any(|text| text.contains("64123") && text.contains("4321")));
}

/// At its screen a person presses these: some want to see it twice, a moment apart.
#[test]
fn a_turn_is_broken_off_with_the_keys_that_each_program_heeds() {
    for (adapter, presses) in [(&ClaudeCode as &dyn Adapter, 1), (&Codex, 1), (&Copilot, 2), (&OpenCode, 2), (&Pi, 1)] {
        assert_eq!(adapter.interrupt_keys(), vec!["\u{1b}"; presses], "{}", adapter.agent().id);
    }
}

#[test]
fn pi_loads_our_hook_and_nothing_else() {
    let spec = spec(&Pi, scene());
    let hook = "/home/agent/.pi/agent/windlass-gate.ts".to_owned();
    assert!(spec.argv.windows(2).any(|pair| pair == ["--extension".to_owned(), hook.clone()]));
    assert!(spec.argv.contains(&"--no-extensions".to_owned()) && spec.argv.contains(&"--no-approve".to_owned()));
    let placed = spec.files.iter().find(|file| Path::new("/home/agent").join(&file.path) == Path::new(&hook));
    assert!(placed.expect("it lies there").content.contains("tool_call"));
    assert_eq!(spec.env["PI_OFFLINE"], "1");
}

#[test]
fn what_a_program_says_it_can_do_it_can() {
    for adapter in [&ClaudeCode as &dyn Adapter, &Codex, &Pi] {
        let agent = adapter.agent();
        for dialect in [Dialect::Chat, Dialect::Responses, Dialect::Messages] {
            let launched = adapter.launch(&Scene { dialect, ..scene() }.launching());
            assert_eq!(launched.is_ok(), agent.dialects.contains(&dialect), "{} in {dialect:?}", agent.id);
        }
        let scene = Scene { dialect: agent.dialects[0], ..scene() };
        let mcp = Scene { mcp: Some("http://127.0.0.1:4000/mcp"), ..scene };
        assert_eq!(adapter.launch(&mcp.launching()).is_ok(), agent.takes_mcp, "{}", agent.id);
        let fork = Scene { session: Session::Fork(SESSION), ..scene };
        assert_eq!(adapter.launch(&fork.launching()).is_ok(), agent.can_fork, "{}", agent.id);
    }
}

#[test]
fn what_a_program_cannot_do_is_said_at_the_launch() {
    let chat = scene().launching();
    assert_eq!(ClaudeCode.launch(&chat), Err(CannotLaunch::NoSuchDialect { agent: "Claude Code" }));
    assert_eq!(Codex.launch(&chat), Err(CannotLaunch::NoSuchDialect { agent: "Codex" }));
    let mcp = Scene { mcp: Some("http://127.0.0.1:4000/mcp"), ..scene() };
    assert_eq!(Pi.launch(&mcp.launching()), Err(CannotLaunch::NoMcp { agent: "Pi" }));
}

#[test]
fn the_version_is_the_first_number_that_is_printed() {
    assert_eq!(ClaudeCode.version("2.1.325 (Claude Code)"), Some("2.1.325"));
    assert_eq!(Codex.version("codex-cli 0.166.0"), Some("0.166.0"));
    assert_eq!(Pi.version("0.87.1"), Some("0.87.1"));
    assert_eq!(Pi.version("not found"), None);
}
