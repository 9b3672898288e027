//! The real Codex goes through what every program must, has our tools, and has no terminal of its own.

use windlass_adapters::{Answer, Codex, Dialect, LaunchSpec};
use windlass_domain::execution::{Failure, TurnEnd};

use super::driver::{Part, Stage};
use super::mcp;
use super::scenes::{Actor, Trap, scenes};

static ACTOR: Actor = Actor {
    adapter: &Codex,
    dialect: Dialect::Responses,
    command: "{ tool: exec_command, args: { cmd: \"COMMAND\" } }",
    change: concat!(
        "{ tool: exec_command, args: { cmd: \"apply_patch <<'E'\\n*** Begin Patch\\n",
        "*** Add File: written.txt\\n+written\\n*** End Patch\\nE\\n\" } }"
    ),
    trap: Trap {
        path: ".codex/config.toml",
        content: "[mcp_servers.trap]\ncommand = \"touch\"\nargs = [\"WORKSPACE/TRAPPED\"]\n",
        trusting: |spec| spec.files[0].content.clear(),
    },
};

scenes!(ACTOR);

/// Hence one that runs a command unasked is not what it says it is.
#[test]
fn asks_about_commands_that_only_look_as_well() {
    const LOOKS: [&str; 6] = ["ls", "cat one.txt", "pwd", "git status", "grep -r one .", "sed -n 1,5p one.txt"];
    let call = |command: &&str| {
        format!("    - {{ reply: A look., calls: [ {} ] }}\n", ACTOR.command.replace("COMMAND", command))
    };
    let calls: String = LOOKS.iter().map(call).collect();
    let stage =
        Stage::new(&format!("version: 1\ntracks:\n  looks:\n{calls}    - {{ reply: Done., repeat: forever }}\n"));
    std::fs::write(stage.workspace().join("one.txt"), "one\n").expect("a file");
    let (end, told) = stage.run(&Part::new(&Codex, "looks")).turn(&Answer::Allow);
    assert_eq!(end, TurnEnd::Completed { message: "Done.".to_owned() });
    let asked = told.iter().filter(|line| line.starts_with("asked")).count();
    assert_eq!(asked, LOOKS.len(), "{told:?}");
}

/// It asks before it opens a terminal of its own, but not before it types into it.
#[test]
fn opens_no_terminal_that_it_could_type_into() {
    const TERMINAL: &str = "version: 1
tracks:
  terminal:
    - { reply: A shell., calls: [ { tool: exec_command, args: { cmd: cat, tty: true, yield_time_ms: 250 } } ] }
    - { reply: Done., repeat: forever }
";
    let asked = |change: fn(&mut LaunchSpec)| {
        let stage = Stage::new(TERMINAL);
        let mut run = stage.run_changed(&Part::new(&Codex, "terminal"), change);
        let (end, told) = run.turn(&Answer::Allow);
        assert_eq!(end, TurnEnd::Completed { message: "Done.".to_owned() });
        told.iter().any(|line| line.starts_with("asked"))
    };
    assert!(!asked(|_| {}));
    let with_terminals: fn(&mut LaunchSpec) = |spec| {
        for word in &mut spec.argv {
            if word == "unified_exec_tty" {
                "plugins".clone_into(word);
            }
        }
    };
    assert!(asked(with_terminals), "it would open one");
}

#[test]
fn has_our_tools() {
    let server = mcp::Server::start();
    let stage = Stage::new("{ version: 1, tracks: { talk: [ { reply: Hello., repeat: forever } ] } }");
    let mut run = stage.run(&Part { mcp: Some(&server.url), ..Part::new(&Codex, "talk") });
    assert_eq!(run.turn(&Answer::Allow).0, TurnEnd::Completed { message: "Hello.".to_owned() });
    assert!(server.was_asked_for("tools/list"));
}

#[test]
fn does_not_work_without_the_tools_that_it_was_given() {
    let stage = Stage::new("{ version: 1, tracks: { talk: [ { reply: Hello., repeat: forever } ] } }");
    let mut run = stage.run(&Part { mcp: Some("http://127.0.0.1:9/mcp"), ..Part::new(&Codex, "talk") });
    let (end, _) = run.turn(&Answer::Allow);
    assert!(matches!(end, TurnEnd::Failed { why: Failure::Agent, .. }), "{end:?}");
}
