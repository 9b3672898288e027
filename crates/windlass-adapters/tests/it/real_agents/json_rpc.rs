//! The real programs that speak JSON-RPC. OpenCode is driven by its own adapter and, as an agent that is known by its command line alone, by the general one.

use std::fs;

use windlass_adapters::{
    Acp, Adapter, Agent, Answer, CommandLine, Copilot, Dialect, Event, OpenCode, Permissions, Proposal, Session, Tell,
};
use windlass_domain::execution::{Failure, Observation, TurnEnd};

use super::driver::{Part, Stage};
use super::mcp;

const SCRIPT: &str = r#"
version: 1
tracks:
  text:
    - { reply: Hello., usage: { input: 900, output: 40 }, repeat: forever }
  instructed:
    - { when: { request: "says Windlass" }, reply: I am instructed., repeat: forever }
  command:
    - reply: One command.
      calls: [ { tool: bash, args: { command: "echo ran >> ran.txt", description: one } } ]
    - { reply: Done., repeat: forever }
  denied:
    - reply: One command.
      calls: [ { tool: bash, args: { command: "echo ran >> ran.txt", description: one } } ]
    - { when: { request: "not on a Sunday" }, reply: I heard why., repeat: forever }
    - { reply: Nobody said why., repeat: forever }
  long:
    - reply: A long one.
      calls: [ { tool: bash, args: { command: "echo began > began.txt; tail -f --pid=$PPID /dev/null", description: long } } ]
    - { when: { request: "and this too" }, reply: This too., repeat: forever }
    - { reply: Done., repeat: forever }
  background:
    - reply: In the background.
      calls: [ { tool: bash, args: { command: "until [ -e go.txt ]; do :; done; echo late | tee late.txt", description: late, mode: async } } ]
    - { when: { last_result: "exit code 0" }, reply: It has ended., repeat: forever }
    - { reply: It runs., repeat: forever }
  noting:
    - calls: [ { tool: NOTE, args: { text: yo } } ]
    - { when: { last_result: "noted yo" }, reply: It is noted., repeat: forever }
  refused:
    - error: { status: 401, times: 100 }
    - reply: Never.
  wrong:
    - error: { status: 400, times: 100 }
    - reply: Never.
"#;

/// A repository's configuration of OpenCode that asks for nothing.
const ALLOWING: &str = r#"{"agent":{"build":{"permission":{"*":"allow","bash":"allow"}}}}"#;

fn chat<'a>(adapter: &'a dyn Adapter, track: &'a str) -> Part<'a> {
    Part { dialect: Dialect::Chat, ..Part::new(adapter, track) }
}

fn allow() -> Answer {
    Answer::Allow
}

fn deny() -> Answer {
    Answer::Deny { reason: "not on a Sunday".to_owned() }
}

fn completed(message: &str) -> TurnEnd {
    TurnEnd::Completed { message: message.to_owned() }
}

/// A model's answer in each of its languages, with what the program says it has used.
fn text(adapter: &dyn Adapter) {
    for dialect in adapter.agent().dialects {
        let stage = Stage::new(SCRIPT);
        let mut run = stage.run(&Part { dialect: *dialect, ..Part::new(adapter, "text") });
        let mut used = 0;
        loop {
            match run.next() {
                Event::Observed { observation: Observation::Used { usage, .. }, .. } => used += usage.input,
                Event::Observed { observation: Observation::TurnEnded { end }, .. } => {
                    assert_eq!(end, completed("Hello."), "{dialect:?}");
                    break;
                }
                _ => {}
            }
        }
        assert_eq!(used, 900, "{dialect:?}");
    }
}

fn instructed(adapter: &dyn Adapter) {
    let stage = Stage::new(SCRIPT);
    let (end, _) = stage.run(&chat(adapter, "instructed")).turn(&allow());
    assert_eq!(end, completed("I am instructed."));
}

/// What is asked about is what runs, and only when it is allowed.
fn allowed(adapter: &dyn Adapter) {
    let stage = Stage::new(SCRIPT);
    let workspace = stage.workspace();
    let mut run = stage.run(&chat(adapter, "command"));
    let asked = run.asked();
    assert_eq!(asked.proposed.tool, "bash");
    let Proposal::Command { line, .. } = asked.proposed.proposal else { panic!("a command is a command") };
    assert_eq!(line, CommandLine::Shell("echo ran >> ran.txt".to_owned()));
    assert!(!workspace.join("ran.txt").exists(), "it ran before it was allowed");
    run.answer(&asked.request, &allow());
    run.answer(&asked.request, &deny());
    let (end, _) = run.turn(&deny());
    assert_eq!(end, completed("Done."));
    drop(run);
    assert_eq!(stage.written("ran.txt").as_deref(), Some("ran\n"));
}

fn denied(adapter: &dyn Adapter) {
    let stage = Stage::new(SCRIPT);
    let (end, told) = stage.run(&chat(adapter, "denied")).turn(&deny());
    assert_eq!(end, completed("I heard why."), "{told:?}");
    assert_eq!(stage.written("ran.txt"), None);
}

fn held(adapter: &dyn Adapter) {
    let stage = Stage::new(SCRIPT);
    let mut run = stage.run(&chat(adapter, "command"));
    let (end, told) = run.turn(&Answer::Hold { reason: "a person is asked".to_owned() });
    assert_eq!(end, TurnEnd::Interrupted, "{told:?}");
    run.say("you may");
    let (end, _) = run.turn(&allow());
    assert_eq!(end, completed("Done."));
    drop(run);
    assert_eq!(stage.written("ran.txt"), None);
}

/// Allows the long command, and comes back once it runs.
macro_rules! at_work {
    ($stage:ident, $run:ident, $adapter:expr) => {
        let began = $stage.workspace().join("began.txt");
        let mut $run = $stage.run(&chat($adapter, "long"));
        let asked = $run.asked();
        $run.answer(&asked.request, &allow());
        while !began.exists() {
            std::thread::yield_now();
        }
    };
}

fn interrupted_and_resumed(adapter: &dyn Adapter) {
    let stage = Stage::new(SCRIPT);
    at_work!(stage, run, adapter);
    run.tell(&Tell::Interrupt);
    let (end, _) = run.turn(&deny());
    assert_eq!(end, TurnEnd::Interrupted);
    let session = run.session.clone();
    drop(run);
    for _ in 0..2 {
        let mut run = stage.run(&Part { session: Session::Resume(&session), ..chat(adapter, "long") });
        let (end, told) = run.turn(&deny());
        assert_eq!(end, completed("Done."), "{told:?}");
        // Copilot adds that the call was cut off.
        let again: Vec<&String> = told.iter().filter(|told| !told.starts_with("failed Tool execution")).collect();
        assert_eq!(again, ["said Done."], "the old conversation was told again");
        assert_eq!(run.session, session);
        drop(run);
    }
}

fn forked(adapter: &dyn Adapter) {
    let stage = Stage::new(SCRIPT);
    let mut run = stage.run(&chat(adapter, "command"));
    run.turn(&allow());
    let session = run.session.clone();
    drop(run);
    let mut run = stage.run(&Part { session: Session::Fork(&session), ..chat(adapter, "command") });
    let (end, told) = run.turn(&deny());
    assert_eq!((end, told), (completed("Done."), vec!["said Done.".to_owned()]));
    assert_ne!(run.session, session);
}

fn steered(adapter: &dyn Adapter) {
    let stage = Stage::new(SCRIPT);
    at_work!(stage, run, adapter);
    run.say("and this too");
    // The command does not end by itself: Copilot leaves it running, and OpenCode takes in the message when it has ended.
    if adapter.agent().id == "copilot" {
        assert_eq!(run.lingers(), completed("This too."));
        return;
    }
    run.tell(&Tell::Interrupt);
    let (end, _) = run.turn(&deny());
    assert_eq!(end, TurnEnd::Interrupted);
    run.say("go on");
    let (end, told) = run.turn(&deny());
    assert_eq!(end, completed("This too."), "{told:?}");
}

/// A tool of ours, by the name that the program gives it, is asked for and called.
fn noting(adapter: &dyn Adapter, tool: &str) {
    let stage = Stage::new(&SCRIPT.replace("NOTE", tool));
    let server = mcp::Server::start();
    let mut run = stage.run(&Part { mcp: Some(&server.url), ..chat(adapter, "noting") });
    let asked = run.asked();
    assert_eq!((asked.proposed.tool.as_str(), asked.proposed.proposal), (tool, Proposal::Other));
    run.answer(&asked.request, &allow());
    let (end, told) = run.turn(&deny());
    assert_eq!(end, completed("It is noted."), "{told:?}");
}

fn failing(adapter: &dyn Adapter, track: &str) -> Failure {
    let stage = Stage::new(SCRIPT);
    match stage.run(&chat(adapter, track)).turn(&allow()).0 {
        TurnEnd::Failed { why, .. } => why,
        end => panic!("the turn did not fail: {end:?}"),
    }
}

/// A repository that allows itself everything is asked all the same.
fn not_believed(adapter: &dyn Adapter, file: &str, content: &str) {
    let stage = Stage::new(SCRIPT);
    let path = stage.workspace().join(file);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, content).expect("a file");
    let mut run = stage.run(&chat(adapter, "command"));
    let (_, told) = run.turn(&deny());
    drop(run);
    assert!(told.contains(&"asked bash".to_owned()), "{told:?}");
    assert_eq!(stage.written("ran.txt"), None);
    assert_eq!(stage.written("hooked.txt"), None);
}

mod copilot {
    use super::*;

    #[test]
    fn says_something_in_each_dialect() {
        text(&Copilot);
    }

    #[test]
    fn is_instructed() {
        instructed(&Copilot);
    }

    #[test]
    fn runs_what_is_allowed() {
        allowed(&Copilot);
    }

    #[test]
    fn hears_why_something_is_denied() {
        denied(&Copilot);
    }

    #[test]
    fn waits_while_a_person_is_asked() {
        held(&Copilot);
    }

    #[test]
    fn is_interrupted_and_goes_on_in_another_process() {
        interrupted_and_resumed(&Copilot);
    }

    #[test]
    fn forks() {
        forked(&Copilot);
    }

    #[test]
    fn takes_a_message_while_it_works() {
        steered(&Copilot);
    }

    #[test]
    fn calls_a_tool_of_ours() {
        noting(&Copilot, "windlass-note");
    }

    #[test]
    fn does_not_work_without_our_tools() {
        let stage = Stage::new(SCRIPT);
        let server = mcp::Server::for_key("another-key");
        let (end, told) = stage.run(&Part { mcp: Some(&server.url), ..chat(&Copilot, "text") }).turn(&allow());
        assert!(matches!(end, TurnEnd::Failed { why: Failure::Agent, .. }), "{end:?} {told:?}");
    }

    #[test]
    fn tells_a_refused_key_from_a_refused_request() {
        assert_eq!(failing(&Copilot, "refused"), Failure::Login);
        assert_eq!(failing(&Copilot, "wrong"), Failure::Model);
    }

    /// It calls such a command done at once; it is when its shell says so, and then the agent goes on.
    #[test]
    fn is_waited_for_while_a_command_runs_in_the_background() {
        let stage = Stage::new(SCRIPT);
        let mut run = stage.run(&chat(&Copilot, "background"));
        let asked = run.asked();
        run.answer(&asked.request, &allow());
        assert_eq!(run.lingers(), completed("It runs."));
        fs::write(stage.workspace().join("go.txt"), "").expect("a file");
        let (end, told) = run.turn(&deny());
        assert_eq!(end, completed("It has ended."), "{told:?}");
        assert_eq!(told[0], "did late", "{told:?}");
        assert_eq!(stage.written("late.txt").as_deref(), Some("late\n"));
    }

    #[test]
    fn does_not_run_a_repositorys_hooks() {
        let hook = r#"{"version":1,"hooks":{"sessionStart":[{"type":"command","bash":"echo hooked > hooked.txt"}]}}"#;
        not_believed(&Copilot, ".github/hooks/hooks.json", hook);
    }
}

mod opencode {
    use super::*;

    #[test]
    fn says_something_in_each_dialect() {
        text(&OpenCode);
    }

    #[test]
    fn is_instructed() {
        instructed(&OpenCode);
    }

    #[test]
    fn runs_what_is_allowed() {
        allowed(&OpenCode);
    }

    #[test]
    fn hears_why_something_is_denied() {
        denied(&OpenCode);
    }

    #[test]
    fn waits_while_a_person_is_asked() {
        held(&OpenCode);
    }

    #[test]
    fn is_interrupted_and_goes_on_in_another_process() {
        interrupted_and_resumed(&OpenCode);
    }

    #[test]
    fn forks() {
        forked(&OpenCode);
    }

    #[test]
    fn takes_a_message_while_it_works() {
        steered(&OpenCode);
    }

    #[test]
    fn calls_a_tool_of_ours() {
        noting(&OpenCode, "windlass_note");
    }

    /// Which of the two it was, its protocol does not tell.
    #[test]
    fn fails_when_its_model_does() {
        assert_eq!(failing(&OpenCode, "refused"), Failure::Model);
        assert_eq!(failing(&OpenCode, "wrong"), Failure::Model);
    }

    #[test]
    fn does_not_believe_a_repositorys_configuration() {
        not_believed(&OpenCode, "opencode.json", ALLOWING);
    }

    #[test]
    fn does_not_load_a_repositorys_plugins() {
        let plugin =
            "import fs from 'fs'; export const P = async () => { fs.writeFileSync('hooked.txt', 'x'); return {} }";
        not_believed(&OpenCode, ".opencode/plugin/p.js", plugin);
    }
}

/// The general adapter, with what an operator would write for OpenCode.
mod general {
    use super::*;

    static PLAIN: Agent = Agent {
        id: "plain",
        display_name: "An agent over ACP",
        program: "opencode",
        tried: &[],
        dialects: &[Dialect::Chat],
        permissions: Permissions::Asked,
        takes_mcp: true,
        can_be_steered: false,
        can_resume: false,
        can_fork: false,
    };

    fn plain() -> Acp {
        let configuration = r#"{"model":"own/{model}","small_model":"own/{model}","permission":{"*":"ask"},"autoupdate":false,
            "enabled_providers":["own"],"provider":{"own":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"{endpoint}/v1",
            "apiKey":"{key}"},"models":{"{model}":{"tool_call":true,"limit":{"context":200000,"output":8000}}}}}}"#;
        Acp::new(&PLAIN, ["acp"])
            .with_environment("OPENCODE_CONFIG_CONTENT", configuration)
            .with_environment("OPENCODE_DISABLE_MODELS_FETCH", "1")
            .with_environment("OPENCODE_DISABLE_AUTOUPDATE", "1")
            .with_environment("npm_config_offline", "true")
    }

    /// The control: without the switches that OpenCode's own adapter sets, a repository allows itself everything.
    #[test]
    fn would_believe_a_repositorys_configuration() {
        let stage = Stage::new(SCRIPT);
        fs::write(stage.workspace().join("opencode.json"), ALLOWING).expect("a file");
        let (_, told) = stage.run(&chat(&plain(), "command")).turn(&deny());
        assert!(!told.contains(&"asked bash".to_owned()), "{told:?}");
        assert_eq!(stage.written("ran.txt").as_deref(), Some("ran\n"));
    }

    #[test]
    fn says_something_in_each_dialect() {
        text(&plain());
    }

    #[test]
    fn is_instructed() {
        instructed(&plain());
    }

    #[test]
    fn runs_what_is_allowed() {
        allowed(&plain());
    }

    #[test]
    fn hears_why_something_is_denied() {
        denied(&plain());
    }

    #[test]
    fn is_interrupted_and_goes_on_in_another_process() {
        interrupted_and_resumed(&plain());
    }
}
