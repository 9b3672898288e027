//! Work that a server has, begun, changed, paused and gone on with from elsewhere: as it is where the data directory is.

use std::fs;

use serde_json::{Value, json};

use super::cards::short;
use super::configuring::configured;
use super::elsewhere::Away;
use super::scripts::{HELLO, THINKER};
use super::serving::{serve, token};
use crate::support::{Ended, Home, Program, shown_but_tokens};

pub const OBJECTIVE: &str = "---
objective:
  goal: Two files
  base_case: [{command: test -e a.txt}]
atoms:
  - {id: b, description: Write the second file., verify: [{file: b.txt}]}
  - {id: a, description: Write the first file., depends_on: [b], verify: [{file: a.txt}]}
---
";

/// Whoever writes the first file takes its time.
const AGENTS: &str = r#"
version: 1
tracks:
  planner:
    - when: { request: "without the first" }
      reply: '{"message": "One is enough.", "graph": {"drop": ["a"]}}'
      usage: { input: 900, output: 20 }
      repeat: forever
  executor:
    - when: { last_result: "bytes" }
      reply: It is there.
      usage: { input: 900, output: 10 }
      repeat: forever
    - when: { request: "the first file" }
      delay_ms: DELAY
      calls: [ { tool: write, args: { path: a.txt, content: "a\n" } } ]
      usage: { input: 900, output: 40 }
      repeat: forever
    - when: { request: "the second file" }
      calls: [ { tool: write, args: { path: b.txt, content: "b\n" } } ]
      usage: { input: 900, output: 40 }
      repeat: forever
"#;

const TALKS: &str = r#"
version: 1
tracks:
  default:
    - reply: I will write it.
      calls: [ { tool: write, args: { path: x, content: "hi\n" } } ]
    - reply: It is there.
    - when: { request: "Now write y" }
      calls: [ { tool: write, args: { path: y, content: "two\n" } } ]
    - reply: Both are there.
"#;

/// A home whose objective is agreed on.
fn agreed(delay_ms: &str) -> (Home, String) {
    let home = Home::playing(&AGENTS.replace("DELAY", delay_ms));
    std::fs::write(home.path().join("objective.md"), OBJECTIVE).expect("written");
    let words = ["align", "--rehearsal", "../script.yaml", "--from", "../objective.md", "--json"];
    let said = home.windlass(&words).run().expect(0).result();
    (home, said["task_id"].as_str().expect("an id").to_owned())
}

/// Begun, and stopped while the first file is thought about.
pub fn stopped() -> (Home, String) {
    let (home, task) = agreed("600000");
    let mut started = home.windlass(&["start"]).start();
    started.wait_for(|line| line.contains("✔ It is there."));
    started.wait_for(|line| line.contains("Write the first file."));
    home.windlass(&["stop", &task]).run().expect(0);
    started.end().expect(4);
    (home, task)
}

/// A home, what is typed there, and the same of another that a server has.
struct Both<'a> {
    local: (&'a Home, &'a str),
    far: (&'a Home, &'a str),
    away: &'a Away,
}

impl Both<'_> {
    /// `TASK` is the task of either.
    #[track_caller]
    fn say(&self, words: &[&str], code: i32) -> Ended {
        let typed = |task: &str| words.iter().map(|word| word.replace("TASK", task)).collect::<Vec<_>>();
        let run = |words: Vec<String>, windlass: &dyn Fn(&[&str]) -> Program| {
            windlass(&words.iter().map(String::as_str).collect::<Vec<_>>()).run()
        };
        let mine = run(typed(self.local.1), &|words| self.local.0.windlass(words));
        let theirs = run(typed(self.far.1), &|words| self.away.windlass(words)).expect(code);
        the_same((self.local.0, &mine), (self.far.0, &theirs));
        theirs
    }
}

/// But for the ids of executions, and how far somebody had come when they were first looked at.
#[track_caller]
pub fn the_same(local: (&Home, &Ended), far: (&Home, &Ended)) {
    let execution = regex::Regex::new("execution [0-9a-f]{8}").expect("a pattern");
    let shown = |(home, ended): (&Home, &Ended)| {
        let shown = shown_but_tokens(home, ended).replace("── so far; going on from here ──\n", "");
        execution.replace_all(&shown, "execution").into_owned()
    };
    assert_eq!(shown(local), shown(far));
}

#[test]
fn an_objective_is_changed_and_gone_on_with_from_elsewhere() {
    let ((local, here), (home, there)) = (stopped(), stopped());
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let both = Both { local: (&local, &here), far: (&home, &there), away: &away };
    let check = "file: b.txt";
    let told = both.say(&["redirect", "TASK", "--base-case", check, "--note", "one will do", "--yes"], 0);
    assert!(told.stdout.contains("one will do") && told.stdout.contains("REDIRECTED"), "{}", told.stdout);
    both.say(&["redirect", "TASK", "--max-passes", "11"], 2);
    both.say(&["redirect", "TASK", "without the first", "--goal", "Another", "--yes"], 2);
    both.say(&["redirect", "TASK", "--drop", "nosuchatom", "--yes"], 2);
    let told = both.say(&["redirect", "TASK", "without the first", "--yes"], 0);
    assert!(told.stdout.contains("the planner says: One is enough."), "{}", told.stdout);
    // Whoever works there has gone on with each change at once, so that the stories are not the same.
    let told = away.windlass(&["start", &there]).run().expect(0);
    assert!(told.stdout.contains("it was begun before, and goes on"), "{}", told.stdout);
    assert!(told.stdout.contains("COMPLETED"), "{}", told.stdout);
    local.windlass(&["start"]).run().expect(0);
    both.say(&["start", "TASK"], 2);
    both.say(&["redirect", "TASK", "--drop", "a", "--yes"], 2);
    // A planner is sent away by whoever asked it; nobody else who works for a task is, by its name.
    let leave = serde_json::json!({"command": {"redirect": {"leave": there}}});
    let refused = served.post("/v1/commands/ask", &leave).expect(422).json();
    assert!(refused["detail"].as_str().is_some_and(|detail| detail.contains("looks for no change")), "{refused}");
    served.end();
}

#[test]
fn an_objective_is_begun_from_elsewhere_by_whoever_may_approve() {
    let ((local, here), (home, there)) = (agreed("0"), agreed("0"));
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let asks = token(&home, "asks", &["--scope", "read,write"]);
    let refused = away.with_token(&asks).windlass(&["start", &there]).run().expect(2);
    assert!(refused.stderr.contains("the scope `approve`"), "{}", refused.stderr);
    let both = Both { local: (&local, &here), far: (&home, &there), away: &away };
    let told = both.say(&["start", "TASK", "--deadline", "2h"], 0);
    assert!(told.stdout.contains("COMPLETED") && home.read("a.txt") == "a\n", "{}", told.stdout);
    served.end();
}

/// Without a name: what is agreed on, where only one thing is.
#[test]
fn what_is_not_named_is_the_only_one_there_is() {
    let (home, task) = agreed("0");
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let early = away.windlass(&["redirect", "--drop", "a", "--yes"]).run().expect(2);
    assert!(early.stderr.contains("it is not begun"), "{}", early.stderr);
    let result = away.windlass(&["start", "--json"]).run().expect(0).result();
    assert_eq!((&result["task_id"], &result["status"]), (&task.into(), &"COMPLETED".into()));
    let nothing = away.windlass(&["redirect", "--drop", "a", "--yes"]).run().expect(2);
    assert!(nothing.stderr.contains("no objective is worked on or agreed on"), "{}", nothing.stderr);
    served.end();
}

#[test]
fn a_conversation_is_gone_on_with_from_elsewhere() {
    let (local, home) = (Home::playing(TALKS), Home::playing(TALKS));
    let begun = |home: &Home| short(&home.run(&["--json"]).run().expect(0).result()["task_id"]);
    let (here, there) = (begun(&local), begun(&home));
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let mine = local.windlass(&["fork", &here, "Now write y"]).run().expect(0);
    let theirs = away.windlass(&["fork", &there, "Now write y"]).run().expect(0);
    the_same((&local, &mine), (&home, &theirs));
    assert_eq!(home.read("y"), "two\n");
    let left = away.windlass(&["fork", &there, "Now write y", "--detach", "--json"]).run().expect(0).result();
    served.end_of(left["task_id"].as_str().expect("an id"));
    let refused = away.windlass(&["fork", &there, "--workspace", "/etc"]).run().expect(2);
    assert!(refused.stderr.contains("no such folder among those that are listed"), "{}", refused.stderr);
    served.end();
}

#[test]
fn a_deadline_is_said_to_a_server() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let words = ["run", "Do it", "--deadline", "2h", "--deadline-action", "complete_partial", "--json"];
    let told = away.windlass(&words).run().expect(0).objects();
    let said = |record: &Value| record["data"]["command"]["execution_config"]["deadline_action"] == "complete_partial";
    assert!(told.iter().any(said), "{told:#?}");
    let wrong = away.windlass(&["run", "Do it", "--deadline", "yesterday"]).run().expect(2);
    assert!(wrong.stderr.contains("deadline"), "{}", wrong.stderr);
    served.end();
}

#[test]
fn what_is_paused_from_elsewhere_rests_until_it_is_resumed() {
    let home = Home::playing(THINKER);
    let served = serve(&home, &["--workspace", "."]);
    let away = Away::from(&served);
    let mut run = away.windlass(&["run", "Do it", "--json"]).start();
    run.wait_for_record("model.requested");
    let paused = away.windlass(&["pause", "--reason", "lunch", "--json"]).run().expect(0).result();
    assert_eq!((&paused["paused"], &paused["reason"]), (&true.into(), &"lunch".into()));
    assert_eq!(run.end().expect(5).result()["status"], "PAUSED");
    let resumed = away.windlass(&["resume", "--json"]).run().expect(0).result();
    assert_eq!(resumed["final_message"], "Done after all.");
    served.end();
}

const GOAL: &str = "---
id: report
type: goal
title: Keep the report there
schedule: \"0 6 * * 1-5\"
verify: [{command: test -f report.txt}]
failure_context: \"Write it again: $failed_checks\"
---
# What to do
`report.txt` is there.
";

/// Regression: its checks would be run from then on, by the word of somebody whose word begins nothing.
#[test]
fn who_may_not_approve_adds_no_goal() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &["--workspace", ".", "--no-work"]);
    let writer = token(&home, "writer", &["--scope", "read,write"]);
    let add = json!({"max_fixes": 3, "workspace": "", "model": null, "limits": {}, "output": {"json": true}});
    let wanted = json!({"command": {"goals_add": [add, GOAL]}}).to_string();
    let ask = |who: &str, path: &str| served.ask_as(who, "POST", path, &[], &wanted).status;
    assert_eq!((ask(&writer, "/v1/commands/ask"), ask(&writer, "/v1/commands/decide")), (422, 403));
    assert_eq!(ask(&served.token, "/v1/commands/decide"), 200, "the control");
    served.end();
}

/// Regression: a conversation that was had elsewhere was gone on with there, whatever folders are listed.
#[test]
fn a_fork_works_in_no_folder_that_is_not_listed() {
    let home = Home::playing(HELLO);
    let task = home.run(&["--json"]).run().expect(0).result()["task_id"].as_str().expect("an id").to_owned();
    fs::create_dir(home.path().join("listed")).expect("made");
    let served = serve(&home, &["--workspace", "../listed", "--no-work"]);
    let away = Away::from(&served);
    let refused = away.windlass(&["fork", &task, "Again", "--detach"]).run().expect(2).stderr;
    assert!(refused.contains("no such folder among those that are listed"), "{refused}");
    served.end();
}

/// Regression: what nobody said was sent as if they had, and refused where it is more than may be had.
#[test]
fn what_is_not_said_is_no_more_than_may_be_had() {
    let home = Home::playing(HELLO);
    configured(&home, "[server.limits]\nmax_tokens = 50000\n");
    let served = serve(&home, &["--workspace", ".", "--no-work"]);
    let away = Away::from(&served);
    for words in [&["run", "x", "--detach"][..], &["plan", "x", "--detach"]] {
        away.windlass(words).run().expect(0);
        let refused = away.windlass(&[words, &["--max-tokens", "50001"]].concat()).run().expect(2).stderr;
        assert!(refused.contains("50001 tokens are asked for"), "{refused}");
    }
    served.end();
}

#[test]
fn a_goal_is_taken_in_and_looked_at_from_elsewhere() {
    let (local, home) = (Home::playing(HELLO), Home::playing(HELLO));
    let served = serve(&home, &["--workspace", ".", "--no-work"]);
    let away = Away::from(&served);
    local.write("goal.md", GOAL);
    away.home.write("goal.md", GOAL);
    let script = ["--rehearsal", "../script.yaml"];
    let told = away.windlass(&["goals", "add", "goal.md"]).run().expect(0);
    the_same((&local, &local.windlass(&[&["goals", "add", "goal.md"][..], &script].concat()).run()), (&home, &told));
    assert!(told.stdout.starts_with("✔ report is looked at by its schedule, first in "), "{}", told.stdout);
    let card = away.windlass(&["inbox", "--json"]).run().expect(0).objects().remove(0);
    assert_eq!(card["type"], "card", "{card}");
    for (words, code) in
        [(&["goals", "list"][..], 0), (&["goals", "add", "goal.md"], 2), (&["goals", "add", "nowhere.md"], 2)]
    {
        let mine = local.windlass(&if words[1] == "add" { [words, &script].concat() } else { words.to_vec() }).run();
        the_same((&local, &mine), (&home, &away.windlass(words).run().expect(code)));
    }
    home.write("report.txt", "all is well");
    local.write("report.txt", "all is well");
    let held = away.windlass(&["goals", "run", "report"]).run().expect(0);
    the_same((&local, &local.windlass(&["goals", "run", "report"]).run()), (&home, &held));
    served.end();
}
