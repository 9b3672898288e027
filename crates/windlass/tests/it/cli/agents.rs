//! `windlass agents` and `windlass agent test`: who may be given work, and whether a program can be worked with. The programs are
//! stand-ins that speak Claude Code's language; the real ones are `real_agents`'.

use std::fs;

use super::stand_in::{install, windlass, with};
use crate::support::{Ended, Home};

const ANSWERS: &str = "introduce()\nend(ask())";
/// Wants to do something first, and says what it was told.
const WANTS: &str = r#"introduce()
hear()
say(type="control_request", request_id="r-1", request={"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "t-1", "input": {"command": "id"}})
end(hear()["response"]["response"]["behavior"])"#;

fn test(home: &Home, more: &[&str]) -> Ended {
    windlass(home, &[&["agent", "test", "claude-code"], more].concat()).run()
}

fn says(ended: &Ended, line: &str) {
    assert!(ended.stdout.lines().any(|said| said.starts_with(line)), "{line}\n{}{}", ended.stdout, ended.stderr);
}

#[test]
fn a_program_that_answers_works_and_leaves_nothing_behind() {
    let home = with(ANSWERS);
    let ended = test(&home, &[]).expect(0);
    says(&ended, "✔ found       ");
    says(&ended, "✔ version     9.8.7; Windlass was tried with ");
    says(&ended, "✔ auth        its model answers");
    says(&ended, "✔ structured  it said: READY");
    assert!(ended.stdout.contains("It works."), "{}", ended.stdout);
    let left: Vec<_> = fs::read_dir(home.data()).expect("a folder").collect();
    assert!(left.is_empty(), "neither a store nor a home: {left:?}");
    assert!(home.files().is_empty());
    let result = test(&home, &["--json"]).expect(0).result();
    for (field, value) in [("agent", "claude-code"), ("version", "9.8.7"), ("auth", "rehearsed")] {
        assert_eq!(result[field], value, "{result}");
    }
    for field in ["passed", "found", "structured"] {
        assert_eq!(result[field], true, "{result}");
    }
    assert!(result["ms"].is_u64(), "{result}");
}

#[test]
fn whatever_it_asks_for_the_answer_is_no() {
    let ended = test(&with(WANTS), &[]).expect(1);
    says(&ended, "✔ structured  it said: deny");
    says(&ended, "✘ auth        Claude Code did not ask its model");
}

#[test]
fn what_does_not_work_is_said_a_line_each() {
    for (acts, line) in [
        ("print('Welcome!', flush=True)", "✘ structured  what it says cannot be read"),
        ("sys.exit('no licence')", "✘ structured  it ended before it had answered: no licence"),
        ("introduce()\nend('')", "✘ structured  it ended its turn without a word"),
        (
            "say(type='system', subtype='init', permissionMode='bypassPermissions')",
            "✘ structured  it is not worked with: it does",
        ),
    ] {
        let ended = test(&with(acts), &[]).expect(1);
        says(&ended, line);
        says(&ended, "It does not work: see above.");
    }
}

/// Regression: whatever was wrong with the model server, the key was said to be refused.
#[test]
fn a_model_that_lets_it_in_and_does_not_answer_has_not_refused_it() {
    let fails = |status: u16| {
        format!(
            "introduce()\ntry:\n    ask()\nexcept Exception:\n    pass\nsay(type='result', subtype='success', is_error=True, \
             terminal_reason='api_error', api_error_status={status}, result='no', uuid='u-1')"
        )
    };
    for (status, auth) in [(500, "failed"), (401, "refused")] {
        let home = with(&fails(status));
        let script = home.path().join("cut.yaml");
        fs::write(&script, "version: 1\ntracks: { default: [ { error: { status: 500, times: 100 } } ] }\n")
            .expect("written");
        let ended = test(&home, &["--json", "--rehearsal", script.to_str().expect("a plain path")]).expect(1);
        assert_eq!(ended.result()["auth"], auth, "{}", ended.stdout);
    }
}

#[test]
fn it_is_over_in_time() {
    let ended = test(&with("introduce()"), &["--timeout", "2"]).expect(1);
    says(&ended, "✘ structured  it did not answer in time");
    says(&ended, "    give it more with --timeout");
}

#[test]
fn who_is_not_there_cannot_be_tested() {
    let home = Home::new();
    let ended = home.windlass(&["agent", "test", "claude-code"]).env("PATH", "/nowhere").run().expect(1);
    says(&ended, "✘ found  Claude Code is not installed: there is no program `claude`");
    says(&ended, "    install it so that PATH has it");
    let ended = home.windlass(&["agent", "test", "nobody"]).run().expect(2);
    assert!(ended.stderr.contains("there is no agent `nobody`"), "{}", ended.stderr);
    let ended = home.windlass(&["agent", "test", "executor"]).run().expect(2);
    assert!(ended.stderr.contains("`executor` is Windlass itself"), "{}", ended.stderr);
}

/// Regression: a script that starts the program hid that there was another one, for ever.
#[test]
fn a_test_asks_for_the_version_anew_and_what_was_known_is_corrected() {
    let home = with(ANSWERS);
    let program = home.path().join("agents/bin/claude");
    let real = fs::read_to_string(&program).expect("text");
    install(&home, "real", &real);
    install(&home, "claude", "#!/bin/sh\nexec \"$(dirname \"$0\")/real\" \"$@\"\n");
    says(&windlass(&home, &["agents"]).run().expect(0), "✔ claude-code  Claude Code  9.8.7  ");
    install(&home, "real", &real.replace("9.8.7", "9.8.8"));
    says(&windlass(&home, &["agents"]).run().expect(0), "✔ claude-code  Claude Code  9.8.7  ");
    says(&test(&home, &[]).expect(0), "✔ version     9.8.8; ");
    says(&windlass(&home, &["agents"]).run().expect(0), "✔ claude-code  Claude Code  9.8.8  ");
}

#[test]
fn everybody_is_listed_with_where_they_are_and_what_they_can_do() {
    let home = with(ANSWERS);
    let ended = windlass(&home, &["agents"]).run().expect(0);
    says(&ended, "✔ executor     Windlass  ");
    assert!(
        ended
            .stdout
            .lines()
            .any(|line| line.trim() == "asks before it acts · takes MCP · resumes · can be steered · forks"),
        "{}",
        ended.stdout
    );
    says(&ended, "✔ claude-code  Claude Code  9.8.7  ");
    says(&ended, "               asks before it acts · takes MCP · resumes · can be steered · forks · tried with");
    // What a program said of its version is kept, and nothing else.
    let left = fs::read_dir(home.data()).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["agent-versions.json"]);
    let ended = windlass(&home, &["agents", "--no-versions", "--json"]).env("PATH", "/nowhere").run().expect(0);
    let agents = ended.objects();
    let of = |id: &str| agents.iter().find(|agent| agent["id"] == id).expect("listed");
    assert_eq!(agents[0]["id"], "executor");
    // Regression: it was said that it cannot, and it forks from any of its turns.
    assert_eq!(agents[0]["fork"], true);
    assert_eq!((&of("claude-code")["found"], &of("claude-code")["version"]), (&true.into(), &serde_json::Value::Null));
    assert_eq!((&of("codex")["found"], &of("codex")["program"]), (&false.into(), &serde_json::Value::Null));
    assert_eq!(of("pi")["permissions"], "hooked");
    assert_eq!(ended.result()["found"], 2);
}
