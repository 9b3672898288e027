//! A long task through the program itself, with everything that befalls one: agents side by side, `kill -9` while they work, a
//! question that is answered when nobody is there, and more said than the model takes. The simulator plays the same over eight hours.

use rustix::process::Signal;
use serde_json::Value;

use super::cards::short;
use crate::support::{Home, none_left};

const STEPS: usize = 24;
const SPAWNS: usize = 4;
const ASKS: usize = 12;
const WINDOW: &str = "[compaction]\ncontext_window_tokens = 18000\npreserve_recent_turns = 2\nmax_summary_tokens = 200\n\
    memory_flush_soft_threshold_tokens = 500\n";

/// What comes next follows from the newest result, so that it finds its place again after a crash and a compaction.
fn script() -> String {
    let step = |n: usize| format!("{{tool: bash, args: {{command: 'echo mark-{n} >> log.txt; echo mark-{n}'}}}}");
    let musing = "I weigh what to do next and why, at some length, because this is a long run. ".repeat(24);
    let entry = |n: usize| {
        let calls = match n {
            SPAWNS => "{tool: spawn_agent, args: {label: alpha, task: alpha-work}}, {tool: spawn_agent, args: {label: \
                bravo, task: bravo-work}}"
                .to_owned(),
            ASKS => "{tool: ask_user, args: {question: 'Which colour?'}}".to_owned(),
            n => step(n),
        };
        let before = n - 1;
        format!(
            "    - {{when: {{last_result: 'mark-{before}\\s*\\z'}}, reply: '{n}. {}', calls: [{calls}], repeat: forever}}\n",
            musing.trim()
        )
    };
    // Whether what was cut off had been done can be seen; if it was not, it is done now.
    let helper = |name: &str| {
        let look = format!("grep -qx {name} {name}.txt || echo {name} >> {name}.txt; echo {name}-done");
        let when = |last: &str| format!("    - {{when: {{request: {name}-work, last_result: '{last}'}}");
        let calls = format!("calls: [{{tool: bash, args: {{command: '{look}'}}}}]");
        let (interrupted, done) = (when("^interrupted"), when(&format!("{name}-done")));
        format!("{interrupted}, {calls}, repeat: forever}}\n{done}, reply: {name} is done., repeat: forever}}\n")
    };
    let begins = |name: &str| {
        format!(
            "    - {{when: {{request: {name}-work}}, calls: [{{tool: bash, args: {{command: 'echo {name} >> {name}.txt; sleep 3000', \
             timeout_seconds: 3600}}}}]}}\n"
        )
    };
    let then = |last: &str, n: usize| {
        format!("    - {{when: {{last_result: '{last}'}}, calls: [{}], repeat: forever}}\n", step(n))
    };
    let parts = [
        "version: 1\ntracks:\n  summariser:\n    - {reply: '- the log was kept', repeat: forever}\n  subagent:\n".to_owned(),
        ["alpha", "bravo"].map(helper).concat(),
        ["alpha", "bravo"].map(begins).concat(),
        "  default:\n    - calls: [{tool: bash, args: {command: 'echo mark-0 >> log.txt; echo E42 no such door; echo mark-0; \
         exit 3'}}]\n"
            .to_owned(),
        "    - {when: {request: approaching context limits, last_result: log.md}, reply: All is saved., repeat: forever}\n    \
         - {when: {request: approaching context limits}, calls: [{tool: save_memo, args: {filename: log.md, content: a line a \
         step}}], repeat: forever}\n"
            .to_owned(),
        then("^Sub-agent", SPAWNS),
        then("^The user has answered", ASKS),
        (1..=STEPS).map(entry).collect(),
        format!("    - {{when: {{last_result: 'mark-{STEPS}\\s*\\z'}}, reply: The log is kept., repeat: forever}}\n"),
    ];
    parts.concat()
}

#[test]
fn a_long_task_survives_all_that_befalls_it() {
    let home = Home::playing(&script());
    std::fs::create_dir_all(home.data()).expect("a folder");
    std::fs::write(home.data().join("windlass.toml"), WINDOW).expect("written");
    let check = format!("command: grep -qx mark-{STEPS} log.txt");
    let mut program = home.run(&["--json", "--max-tokens", "10000000", "--base-case", &check]).start();
    // One for each step until then, and one for each agent.
    let is_a_command = |line: &str| line.contains("\"type\":\"tool.started\"") && line.contains("\"tool\":\"bash\"");
    (0..SPAWNS + 2).for_each(|_| drop(program.wait_for(is_a_command)));
    program.signal(Signal::KILL);
    program.end_unread();
    none_left(&home);

    let asked = home.windlass(&["resume", "--json"]).run().expect(3);
    assert_eq!(asked.result()["hitl_request"]["question"], "Which colour?");
    none_left(&home);
    let task = short(&asked.result()["task_id"]);
    home.windlass(&["send", &task, "Blue, below the waterline."]).run().expect(0);
    let ended = home.windlass(&["resume", "--json"]).run().expect(0);
    let result = ended.result();
    assert_eq!((&result["status"], &result["verified"]), (&Value::from("COMPLETED"), &Value::from(true)));
    assert_eq!(result["usage"]["sub_agents_spawned"], 2);
    assert!(result["usage"]["compactions"].as_u64() >= Some(1), "{}", result["usage"]);

    let log = home.read("log.txt");
    let expected: String = (0..=STEPS).map(|n| format!("mark-{n}\n")).collect();
    assert_eq!(log, expected, "every step once, and in order");
    assert_eq!((home.read("alpha.txt"), home.read("bravo.txt")), ("alpha\n".to_owned(), "bravo\n".to_owned()));
    assert_remembered(&ended.objects());
    none_left(&home);
}

/// What the last compaction kept.
fn assert_remembered(records: &[Value]) {
    let kept = records.iter().rev().find_map(|record| record["data"]["rewritten"]["kept"].as_str()).expect("a summary");
    for fact in ["E42 no such door", "Blue, below the waterline.", "You had asked:\n```\nWhich colour?\n```"] {
        assert!(kept.contains(fact), "`{fact}` is forgotten: {kept}");
    }
}
