//! `spawn_agent` through the real program: agents side by side, one purse, one card for all, and nothing left behind.

use std::collections::{BTreeMap, BTreeSet};

use rustix::process::Signal;
use serde_json::Value;

use super::assert_shown;
use super::cards::{approve, card, standing};
use crate::support::{Ended, Home, Ledger, Story, none_left, read};

/// One agent writes a file, the other runs a command; both are told apart by what they were asked.
const RESEARCH: &str = r#"
version: 1
tracks:
  subagent:
    - when: { last_result: "Created" }
      reply: It costs 42.
      repeat: forever
      usage: { input: 900, output: 40 }
    - when: { last_result: "Exit code: 0" }
      reply: MIT everywhere.
      repeat: forever
      usage: { input: 900, output: 40 }
    - when: { request: "Find the pricing" }
      calls: [ { tool: write, args: { path: prices.txt, content: "42\n" } } ]
      repeat: forever
      usage: { input: 900, output: 40 }
    - when: { request: "Find the licences" }
      calls: [ { tool: bash, args: { command: "echo MIT > licence.txt" } } ]
      repeat: forever
      usage: { input: 900, output: 40 }
  default:
    - reply: I delegate.
      calls:
        - tool: spawn_agent
          args: { task: Find the pricing, label: research-pricing, write_output_to: output/pricing.md }
        - { tool: spawn_agent, args: { task: Find the licences } }
      usage: { input: 900, output: 40 }
    - when: { request: "completed in \\d+s \\(1,880 tokens\\)(?s:.*)It costs 42(?s:.*)MIT everywhere" }
      reply: I know both.
      usage: { input: 900, output: 40 }
"#;

#[test]
fn two_agents_work_and_their_parent_hears_them() {
    let home = Home::playing(RESEARCH);
    let ended = home.run(&[]).run().expect(0);
    let lines: BTreeSet<&str> = ended.stdout.lines().collect();
    for told in ["✔ research-pricing completed in 1s (1,880 tokens)", "✔ agent-2 completed in 1s (1,880 tokens)"] {
        assert!(lines.contains(told), "{}", ended.stdout);
    }
    assert!(ended.stdout.contains("  research-pricing  ▸ write prices.txt  Created (3 bytes)."), "{}", ended.stdout);
    assert!(ended.stdout.contains("2 model calls · 2 tool calls · 2 sub-agents · 5,640 tokens"), "{}", ended.stdout);
    assert_eq!((home.read("prices.txt"), home.read("output/pricing.md")), ("42\n".into(), "It costs 42.".into()));
    let story = read(&home);
    let result = story.result.as_ref().expect("it has ended");
    assert_eq!(result["usage"]["sub_agents_spawned"], 2);
    assert_eq!(result["usage"]["total_tokens"], 5_640);
    let told = results_of(&story, "spawn_agent");
    assert_eq!(
        told[0],
        "Sub-agent \"research-pricing\" completed in 1s (1,880 tokens).\n\nResult:\nIt costs 42.\n\n\
         Output written to: /workspace/output/pricing.md"
    );
    assert_eq!(told[1], "Sub-agent \"agent-2\" completed in 1s (1,880 tokens).\n\nResult:\nMIT everywhere.");
    let trace = home.data().join("traces");
    let trace = std::fs::read_dir(trace).expect("traces").next().expect("one").expect("a file").path();
    let trace = std::fs::read_to_string(trace).expect("it is text");
    for (event, times) in [("sub_agent_spawn", 2), ("sub_agent_complete", 2), ("agent_start", 3)] {
        assert_eq!(trace.matches(&format!("\"event_type\":\"{event}\"")).count(), times, "{event}: {trace}");
    }
}

#[test]
fn one_agent_can_be_looked_at_by_itself() {
    let home = Home::playing(RESEARCH);
    home.run(&[]).run().expect(0);
    let story = read(&home);
    let spawned = story.of("subagent.spawned").next().expect("it was spawned");
    let id = spawned["data"]["execution_id"].as_str().expect("an id");
    assert_shown!(home, home.windlass(&["log", &id[28..]]).run(), @"
    exit code 0
    --- stdout
    [CLOCK]  ▸ write prices.txt  Created (3 bytes). · [TIME]
    ");
    let records = home.windlass(&["log", id, "--json"]).run().expect(0).objects();
    assert!(records.iter().all(|record| record["execution_id"] == id), "{records:?}");
    assert_eq!(records[0]["data"]["parent"]["execution_id"], spawned["execution_id"]);
}

/// What the calls of a tool said, as they ended.
fn results_of(story: &Story, tool: &str) -> Vec<String> {
    let ended = story.of("tool.finished").filter(|record| record["data"]["tool"] == tool);
    ended.map(|record| record["data"]["content"].as_str().unwrap_or_default().to_owned()).collect()
}

/// How each execution of a story ended, or stands.
fn lifecycles(story: &Story) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    story.of("state.changed").map(|record| (text(&record["execution_id"]), text(&record["data"]["to"]))).collect()
}

/// Each waits for the other's file.
fn rendezvous() -> Home {
    let wait = |mine: &str, other: &str| {
        format!("touch {mine}; for i in $(seq 200); do [ -e {other} ] && exit 0; sleep 0.02; done; exit 9")
    };
    let script = format!(
        r#"
version: 1
tracks:
  subagent:
    - when: {{ last_result: "Exit code" }}
      reply: Over.
      repeat: forever
      usage: {{ input: 90, output: 4 }}
    - when: {{ request: "be the first" }}
      calls: [ {{ tool: bash, args: {{ command: "{}" }} }} ]
      repeat: forever
      usage: {{ input: 90, output: 4 }}
    - when: {{ request: "be the second" }}
      calls: [ {{ tool: bash, args: {{ command: "{}" }} }} ]
      repeat: forever
      usage: {{ input: 90, output: 4 }}
  default:
    - calls:
        - {{ tool: spawn_agent, args: {{ task: be the first }} }}
        - {{ tool: spawn_agent, args: {{ task: be the second }} }}
      usage: {{ input: 90, output: 4 }}
    - reply: Done.
      usage: {{ input: 90, output: 4 }}
"#,
        wait("one", "two"),
        wait("two", "one")
    );
    Home::playing(&script)
}

fn exit_codes(home: &Home) -> Vec<String> {
    results_of(&read(home), "bash").iter().map(|said| said.lines().next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn they_work_side_by_side_and_no_more_than_the_operator_allows() {
    let home = rendezvous();
    home.run(&[]).run().expect(0);
    assert_eq!(exit_codes(&home), ["Exit code: 0", "Exit code: 0"]);

    let home = rendezvous();
    std::fs::create_dir_all(home.data()).expect("a data directory");
    std::fs::write(home.data().join("windlass.toml"), "[subagents]\nmax_parallel = 1\n").expect("written");
    home.run(&[]).run().expect(0);
    assert_eq!(exit_codes(&home), ["Exit code: 9", "Exit code: 0"], "the first waits in vain");
}

/// Two agents that each leave their mark and then take their time.
const SLOW: &str = r#"
version: 1
tracks:
  subagent:
    - when: { last_result: "Exit code|interrupted|Stopped before" }
      reply: Over.
      repeat: forever
      usage: { input: 90, output: 4 }
    - when: { request: "be the first" }
      calls: [ { tool: bash, args: { command: "echo effect-1 > ledger; sleep 4321", timeout_seconds: 3600 } } ]
      repeat: forever
      usage: { input: 90, output: 4 }
    - when: { request: "be the second" }
      calls: [ { tool: bash, args: { command: "echo effect-2 > ledger; sleep 4321", timeout_seconds: 3600 } } ]
      repeat: forever
      usage: { input: 90, output: 4 }
  default:
    - calls:
        - { tool: spawn_agent, args: { task: be the first, label: one } }
        - { tool: spawn_agent, args: { task: be the second, label: two } }
      usage: { input: 90, output: 4 }
    - reply: Done.
      usage: { input: 90, output: 4 }
"#;

#[test]
fn killed_with_two_in_flight_both_go_on_and_nothing_is_repeated() {
    let home = Home::playing(SLOW);
    let mut ledger = Ledger::open(&home);
    let run = home.run(&[]).start();
    ledger.wait_for("effect-1");
    ledger.wait_for("effect-2");
    run.signal(Signal::KILL);
    assert!(run.end().was_killed());
    home.windlass(&["resume"]).run().expect(0);
    none_left(&home);
    assert_eq!(ledger.count().into_values().collect::<Vec<_>>(), [1, 1], "each effect once");
    let story = read(&home);
    assert_eq!((story.of("subagent.spawned").count(), story.of("subagent.finished").count()), (2, 2));
    assert_eq!(story.of("model.responded").count(), 6, "two answers of each");
    assert_eq!(story.interrupted().len(), 2, "and said to be uncertain");
    assert!(lifecycles(&story).values().all(|state| state == "completed"), "{:?}", lifecycles(&story));
    assert!(results_of(&story, "spawn_agent").iter().all(|said| said.contains("Result:\nOver.")));
}

#[test]
fn a_cancelled_parent_leaves_nothing_running() {
    let home = Home::playing(SLOW);
    let mut ledger = Ledger::open(&home);
    let mut run = home.run(&[]).start();
    let task = run.wait_for(|line| line.starts_with("task "))[5..13].to_owned();
    ledger.wait_for("effect-1");
    ledger.wait_for("effect-2");
    home.windlass(&["cancel", &task]).run().expect(0);
    run.end().expect(4);
    none_left(&home);
    let story = read(&home);
    assert!(lifecycles(&story).values().all(|state| state == "cancelled"), "{:?}", lifecycles(&story));
    assert_eq!(lifecycles(&story).len(), 3);
    let ends: Vec<&Value> = story.of("subagent.finished").map(|record| &record["data"]["status"]).collect();
    assert_eq!(ends, ["cancelled", "cancelled"]);
    assert_eq!(story.result.expect("it ended")["usage"]["total_tokens"], 3 * 94, "what they used is counted");
}

#[test]
fn paused_and_resumed_they_go_on_where_they_were() {
    let home = Home::playing(SLOW);
    let mut ledger = Ledger::open(&home);
    let run = home.run(&[]).start();
    ledger.wait_for("effect-1");
    ledger.wait_for("effect-2");
    run.signal(Signal::INT);
    run.end().expect(5);
    none_left(&home);
    assert!(lifecycles(&read(&home)).values().all(|state| state == "paused"), "{:?}", lifecycles(&read(&home)));
    home.windlass(&["resume"]).run().expect(0);
    assert_eq!(ledger.count().into_values().collect::<Vec<_>>(), [1, 1]);
    assert!(lifecycles(&read(&home)).values().all(|state| state == "completed"));
}

#[test]
fn an_agent_whose_time_is_up_ends_alone() {
    let slow = SLOW.replace("label: one }", "label: one, timeout_seconds: 1 }");
    let slow = slow.replace("effect-2 > ledger; sleep 4321", "effect-2 > ledger");
    let home = Home::playing(&slow);
    let _ledger = Ledger::open(&home);
    let ended = home.run(&[]).run().expect(0);
    none_left(&home);
    assert!(ended.stdout.contains("✘ one timed out after "), "{}", ended.stdout);
    let told = results_of(&read(&home), "spawn_agent");
    assert!(told[0].starts_with("Sub-agent \"one\" timed out after ") && told[1].contains("completed"), "{told:?}");
}

/// Spawns as deep as it can.
const DEEP: &str = r#"
version: 1
tracks:
  subagent:
    - when: { last_result: "there is no tool|Sub-agent" }
      reply: Deep enough.
      repeat: forever
      usage: { input: 90, output: 4 }
    - calls:
        - { tool: spawn_agent, args: { task: go deeper } }
        - { tool: ask_user, args: { question: may I? } }
      repeat: forever
      usage: { input: 90, output: 4 }
  default:
    - calls: [ { tool: spawn_agent, args: { task: go deep } } ]
      usage: { input: 90, output: 4 }
    - reply: Done.
      usage: { input: 90, output: 4 }
"#;

#[test]
fn there_is_an_end_to_the_line_and_nobody_below_the_first_asks_anybody() {
    let check = |home: &Home, run: Ended, agents: u64| {
        assert_eq!(run.expect(0).result()["usage"]["sub_agents_spawned"], agents);
        let story = read(home);
        let refused = |tool: &str| {
            let results = results_of(&story, tool).into_iter();
            results.filter(|said| said.contains(&format!("there is no tool `{tool}`"))).count()
        };
        assert_eq!((refused("spawn_agent") > 0, refused("ask_user") > 0), (true, true));
    };
    let home = Home::playing(DEEP);
    check(&home, home.run(&["--json"]).run(), 2);
    let home = Home::playing(DEEP);
    check(&home, home.run(&["--json"]).env("SUBAGENT_MAX_DEPTH", "1").run(), 1);
    let home = Home::playing(DEEP);
    let ended = home.run(&["--json"]).env("SUBAGENT_MAX_DEPTH", "0").run().expect(0);
    assert_eq!(ended.result()["usage"]["sub_agents_spawned"], 0);
    let home = Home::playing(DEEP);
    assert_shown!(home, home.run(&[]).env("SUBAGENT_MAX_DEPTH", "deep").run(), @"
    exit code 2
    --- stderr
    error: SUBAGENT_MAX_DEPTH must be a whole number, not `deep`
    ");
}

/// Ten agents that would each go on for ever.
fn spenders() -> Home {
    let spawn = "        - { tool: spawn_agent, args: { task: spend } }\n".repeat(10);
    Home::playing(&format!(
        r#"
version: 1
tracks:
  subagent:
    - calls: [ {{ tool: glob, args: {{ pattern: "*" }} }} ]
      repeat: forever
      usage: {{ input: 900, output: 100 }}
  default:
    - calls:
{spawn}      usage: {{ input: 900, output: 100 }}
    - reply: Done.
      usage: {{ input: 900, output: 100 }}
"#
    ))
}

#[test]
fn ten_agents_share_one_purse() {
    let home = spenders();
    let result = home.run(&["--json", "--max-tokens", "30000"]).run().expect(1).result();
    assert_eq!(result["error_details"]["error_code"], "budget_exceeded", "{result}");
    let used = result["usage"]["total_tokens"].as_u64().expect("a number");
    assert!((30_000..=39_000).contains(&used), "{used}: more than the calls in flight");
    let story = read(&home);
    let told = results_of(&story, "spawn_agent");
    assert!(told.iter().all(|said| said.contains("the token budget is spent")), "{told:?}");
    assert_eq!(told.len(), 10);
}

/// An agent that wants to remove a file.
const CAREFUL: &str = r#"
version: 1
tracks:
  subagent:
    - when: { last_result: "Exit code|not done" }
      reply: Over.
      repeat: forever
      usage: { input: 90, output: 4 }
    - when: { request: "look around" }
      calls: [ { tool: bash, args: { command: "echo seen > seen.txt" } } ]
      repeat: forever
      usage: { input: 90, output: 4 }
    - calls: [ { tool: bash, args: { command: "rm old.txt" } } ]
      repeat: forever
      usage: { input: 90, output: 4 }
  default:
    - calls:
        - { tool: spawn_agent, args: { task: remove it, label: remover } }
        - { tool: spawn_agent, args: { task: look around, label: looker } }
      usage: { input: 90, output: 4 }
    - reply: Done.
      usage: { input: 90, output: 4 }
"#;

fn careful() -> Home {
    let home = Home::playing(CAREFUL);
    home.write("old.txt", "old\n");
    let result = home.run(&["--json"]).run().expect(3).result();
    assert_eq!((&result["status"], &result["usage"]["total_tokens"]), (&"BLOCKED_USER".into(), &(4 * 94).into()));
    none_left(&home);
    assert_eq!(home.read("seen.txt"), "seen\n", "whoever could work has worked");
    assert_eq!(standing(&home), "waiting");
    home
}

#[test]
fn a_card_of_an_agents_agent_parks_the_whole_task_and_is_answered_from_elsewhere() {
    let home = careful();
    approve(&home);
    home.windlass(&["worker", "--until-idle"]).run().expect(0);
    assert_eq!(standing(&home), "completed");
    assert!(!home.workspace().join("old.txt").exists());
    let story = read(&home);
    assert_eq!((story.of("subagent.spawned").count(), story.of("subagent.finished").count()), (2, 2));
    assert_eq!(story.of("model.responded").count(), 6, "nothing is asked twice");
}

/// Regression: what an agent that sleeps had used was on nobody's bill until somebody went on with it.
#[test]
fn looked_at_again_while_it_waits_it_has_used_as_much() {
    let home = careful();
    let result = home.windlass(&["resume", "--json"]).run().expect(3).result();
    assert_eq!(result["usage"]["total_tokens"], 4 * 94);
}

#[test]
fn denied_it_goes_on_without() {
    let home = careful();
    home.windlass(&["deny", &card(&home)]).run().expect(0);
    home.windlass(&["resume"]).run().expect(0);
    assert_eq!(home.read("old.txt"), "old\n");
}

#[test]
fn cancelled_while_it_waits_the_card_is_taken_back_and_everybody_ends() {
    let home = careful();
    let card = card(&home);
    let task = super::cards::short(&home.windlass(&["status", "--json"]).run().expect(0).objects()[0]["task_id"]);
    home.windlass(&["cancel", &task]).run().expect(0);
    home.windlass(&["approve", &card, "--yes"]).run().expect(2);
    let story = read(&home);
    let mut ends: Vec<String> = lifecycles(&story).into_values().collect();
    ends.sort();
    assert_eq!(ends, ["cancelled", "cancelled", "completed"]);
    assert_eq!(story.result.expect("it ended")["usage"]["total_tokens"], 4 * 94);
    assert_eq!(home.read("old.txt"), "old\n");
}

const ASTRAY: &str = r#"
version: 1
tracks:
  default:
    - calls:
        - { tool: spawn_agent, args: { task: write, write_output_to: ../outside.md } }
        - { tool: spawn_agent, args: { task: write, write_output_to: .git/config } }
        - { tool: spawn_agent, args: { task: " " } }
        - { tool: spawn_agent, args: { task: write, timeout_seconds: 0 } }
      usage: { input: 90, output: 4 }
    - reply: Done.
      usage: { input: 90, output: 4 }
"#;

#[test]
fn what_is_wrong_with_the_call_is_told_and_nobody_is_spawned() {
    let home = Home::playing(ASTRAY);
    home.write(".git/config", "[core]\n");
    let ended = home.run(&["--json"]).run().expect(0);
    assert_eq!(ended.result()["usage"]["sub_agents_spawned"], 0);
    let told = results_of(&read(&home), "spawn_agent");
    assert!(told.iter().all(|said| said.starts_with("Error:") || said.starts_with("invalid arguments")), "{told:?}");
    assert_eq!(told.len(), 4);
    wait_for_nothing(&home);
}

fn wait_for_nothing(home: &Home) {
    none_left(home);
    assert!(!home.path().join("outside.md").exists());
    assert_eq!(home.read(".git/config"), "[core]\n");
}

/// One has read something from outside and writes a file, while the other reads it and says so in a file of its own.
const LEAKY: &str = r#"
version: 1
tracks:
  subagent:
    - when: { request: "be the writer", last_result: "it was read" }
      reply: Over.
      repeat: forever
      usage: { input: 90, output: 4 }
    - when: { request: "be the writer", last_result: "Created|read.txt" }
      delay_ms: 200
      calls: [ { tool: read, args: { path: read.txt } } ]
      repeat: forever
      usage: { input: 90, output: 4 }
    - when: { request: "be the writer", last_result: "Exit code" }
      calls: [ { tool: write, args: { path: page.txt, content: "words of a page\n" } } ]
      repeat: forever
      usage: { input: 90, output: 4 }
    - when: { request: "be the writer" }
      calls: [ { tool: bash, args: { command: "echo from outside" } } ]
      repeat: forever
      usage: { input: 90, output: 4 }
    - when: { last_result: "Created" }
      reply: Over.
      repeat: forever
      usage: { input: 90, output: 4 }
    - when: { last_result: "words of a page" }
      calls: [ { tool: write, args: { path: read.txt, content: "it was read\n" } } ]
      repeat: forever
      usage: { input: 90, output: 4 }
    - delay_ms: 200
      calls: [ { tool: read, args: { path: page.txt } } ]
      repeat: forever
      usage: { input: 90, output: 4 }
  default:
    - calls:
        - { tool: spawn_agent, args: { task: be the writer } }
        - { tool: spawn_agent, args: { task: be the reader } }
      usage: { input: 90, output: 4 }
    - reply: Done.
      usage: { input: 90, output: 4 }
"#;

/// How the reader's read of the writer's file is labelled, where commands reach the network or do not.
fn read_beside(network: &str) -> String {
    let home = Home::playing(LEAKY);
    std::fs::create_dir_all(home.data()).expect("a data directory");
    let config = format!(
        "[doom_loop]\nmax_identical_calls = 100\nmax_consecutive_failures = 100\npattern_window = 100\n[sandbox]\n{network}"
    );
    std::fs::write(home.data().join("windlass.toml"), config).expect("written");
    home.run(&["--max-tokens", "100000000"]).run().expect(0);
    let story = read(&home);
    let is_it = |record: &&Value| {
        record["data"]["tool"] == "read" && record["data"]["content"].to_string().contains("words of a page")
    };
    let labels: Vec<&Value> = story.of("tool.finished").filter(is_it).map(|record| &record["data"]["taint"]).collect();
    assert_eq!(labels.len(), 1, "it was read once");
    labels[0].as_str().expect("a label").to_owned()
}

#[test]
fn what_a_tainted_agent_writes_is_external_to_the_one_beside_it() {
    assert_eq!(read_beside("network = \"restricted\"\nallowed_hosts = [\"example.org\"]\n"), "external");
    assert_eq!(read_beside(""), "auth", "the twin: nothing came from outside");
}
