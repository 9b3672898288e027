//! The coding agents themselves, run by Windlass: `make test-agents` installs them and says where they are.

use crate::support::{Ended, Home, read};

const AGENTS: [&str; 5] = ["claude-code", "codex", "copilot", "opencode", "pi"];

fn windlass(home: &Home, words: &[&str]) -> Ended {
    let place = std::env::var("WINDLASS_AGENTS").expect("`make test-agents` sets it");
    home.windlass(words).env("WINDLASS_AGENTS", &place).run()
}

#[test]
fn each_of_them_passes_its_test() {
    let home = Home::new();
    for agent in AGENTS {
        let result = windlass(&home, &["agent", "test", agent, "--json"]).expect(0).result();
        assert_eq!((&result["structured"], &result["auth"]), (&true.into(), &"rehearsed".into()), "{result}");
        assert!(result["version"].is_string(), "{result}");
    }
}

#[test]
fn a_model_that_refuses_is_told_from_a_program_that_does_not_work() {
    let home = Home::playing(
        "version: 1\ntracks: { default: [ { error: { status: 401, times: 100 } }, { reply: Never. } ] }\n",
    );
    let script = home.script();
    // Over the protocol that OpenCode speaks, one refusal is like another.
    for agent in AGENTS.into_iter().filter(|agent| *agent != "opencode") {
        let words = ["agent", "test", agent, "--rehearsal", script.to_str().expect("a plain path"), "--json"];
        let result = windlass(&home, &words).expect(1).result();
        assert_eq!((&result["structured"], &result["auth"]), (&true.into(), &"refused".into()), "{result}");
    }
}

/// How each of them runs a command that does not end by itself, in the words of its model.
const ENDLESS: [(&str, &str); 5] = [
    ("claude-code", "{ tool: Bash, args: { command: 'tail -f /dev/null', description: wait } }"),
    ("codex", "{ tool: exec_command, args: { cmd: 'tail -f /dev/null' } }"),
    ("copilot", "{ tool: bash, args: { command: 'tail -f /dev/null', description: wait } }"),
    ("opencode", "{ tool: bash, args: { command: 'tail -f /dev/null', description: wait } }"),
    ("pi", "{ tool: bash, args: { command: 'tail -f /dev/null' } }"),
];

#[test]
fn each_of_them_can_be_interrupted_at_work_and_goes_on_with_what_is_said() {
    for (agent, call) in ENDLESS {
        let home = Home::playing(&format!(
            "version: 1\ntracks: {{ default: [ {{ reply: I wait., calls: [ {call} ] }}, {{ when: {{ request: 'go left' }}, reply: I went left. }} ] }}\n"
        ));
        let place = std::env::var("WINDLASS_AGENTS").expect("`make test-agents` sets it");
        let mut run = home.run(&["--agent", agent, "--json"]).env("WINDLASS_AGENTS", &place).start();
        let created = run.wait_for_record("task.created");
        let task = created["task_id"].as_str().expect("an id");
        // Its launch is the first.
        run.wait_for_record("tool.started");
        run.wait_for_record("tool.started");
        windlass(&home, &["send", task, "--kind", "interrupt"]).expect(0);
        run.wait_for(|line| line.contains("\"end\":\"interrupted\""));
        windlass(&home, &["send", task, "go left"]).expect(0);
        let result = run.end().expect(0).result();
        assert_eq!(result["final_message"], "I went left.", "{agent}: {result}");
    }
}

/// By which tool of ours those ask a person that call our tools without asking for leave first.
const ASKING: [(&str, &str); 2] =
    [("claude-code", "mcp__windlass__needs_input"), ("codex", "mcp__windlass__needs_input")];

/// Regression: it was broken off before it had the tool's answer, and told its model that the call was refused.
#[test]
fn one_hears_that_a_person_is_asked_before_it_is_stopped() {
    for (agent, tool) in ASKING {
        let home = Home::playing(&format!(
            "version: 1\ntracks: {{ default: [ {{ reply: I ask., calls: [ {{ tool: {tool}, args: {{ question: 'Left or right?', choices: [left, right] }} }} ] }}, \
             {{ when: {{ request: '(?s)A person is asked.*go left' }}, reply: I went left., repeat: forever }} ] }}\n"
        ));
        let place = std::env::var("WINDLASS_AGENTS").expect("`make test-agents` sets it");
        home.run(&["--agent", agent]).env("WINDLASS_AGENTS", &place).run().expect(3);
        let inbox = windlass(&home, &["inbox"]).expect(0).stdout;
        assert!(inbox.contains("Left or right?") && inbox.contains("right"), "{agent}: {inbox}");
        let story = read(&home);
        let told = |record: &&serde_json::Value| record["data"]["observed"] == "call_ended";
        let ended: Vec<_> = story.of("observation.recorded").filter(told).collect();
        assert!(ended.iter().all(|record| record["data"]["is_error"] == false), "{agent}: {ended:?}");
        let task = story.records[0]["task_id"].as_str().expect("an id");
        windlass(&home, &["send", task, "go left"]).expect(0);
        let result = windlass(&home, &["resume", "--json"]).expect(0).result();
        assert_eq!(result["final_message"], "I went left.", "{agent}: {result}");
    }
}
