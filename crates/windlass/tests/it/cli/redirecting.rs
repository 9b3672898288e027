//! Redirects on the command line: in a person's own words, question by question at a terminal, and with flags; what is shown before it is
//! meant, and that nothing changes until then.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::configuring::configured;
use super::elsewhere::Away;
use super::serving::serve;
use crate::support::{Home, Terminal, wait_for_process};

/// Whoever writes `a` thinks for ten minutes.
const OBJECTIVE: &str = "---
objective:
  goal: Two files
  base_case: [{command: cat a.txt b.txt}]
atoms:
  - {id: a, description: Write the first file., verify: [{file: a.txt}]}
  - {id: b, description: Write the second file., verify: [{file: b.txt}]}
  - {id: c, description: Write the third file., depends_on: [a], verify: [{file: c.txt}]}
---
";

const AGENTS: &str = r#"
version: 1
tracks:
  planner:
    - when: { request: "there is no atom `docs`" }
      reply: '{"message": "Without the third file.", "graph": {"drop": ["c"]}}'
      usage: { input: 900, output: 20 }
      repeat: forever
    - when: { request: "cannot be used as a change" }
      reply: I would simply drop it.
      usage: { input: 900, output: 20 }
      repeat: forever
    - when: { request: "drop the docs" }
      reply: '{"message": "Without the docs.", "graph": {"drop": ["docs"]}}'
      usage: { input: 900, output: 20 }
      repeat: forever
    - when: { request: "only the second" }
      reply: '{"message": "One file is enough.", "objective": {"goal": "One file", "base_case": [{"file": "b.txt"}]}}'
      usage: { input: 900, output: 20 }
      repeat: forever
    - when: { request: "also the fourth" }
      reply: '{"message": "Next to nothing.", "graph": {"drop": ["c"], "add": [{"id": "d", "description": "Write the fourth file.\nThen send it.", "touches": {"services": ["post"]}, "verify": [{"command": "test -f d.txt && curl -s https://elsewhere.example"}]}]}}'
      usage: { input: 900, output: 20 }
      repeat: forever
    - when: { request: "hurry up" }
      reply: '{"limits": {"max_iterations": 40, "max_parallel_agents": 1}}'
      usage: { input: 900, output: 20 }
      repeat: forever
    - when: { request: "the same once more" }
      reply: '{"objective": {"goal": "Two files", "base_case": ["{command: cat a.txt b.txt, timeout: 1s}"]}}'
      usage: { input: 900, output: 20 }
      repeat: forever
    - when: { request: "think about it" }
      delay_ms: 600000
      reply: '{"limits": {"max_atoms": 5}}'
      usage: { input: 900, output: 20 }
      repeat: forever
    - when: { request: "paint it blue" }
      reply: '{"message": "Nothing here has a colour."}'
      usage: { input: 900, output: 20 }
      repeat: forever
    - when: { request: "<words>" }
      reply: Hm.
      usage: { input: 900, output: 20 }
      repeat: forever
  executor:
    - when: { last_result: "bytes" }
      reply: It is there.
      usage: { input: 900, output: 10 }
      repeat: forever
    - when: { request: "the first file" }
      delay_ms: 600000
      calls: [ { tool: write, args: { path: a.txt, content: "a\n" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "the second file" }
      calls: [ { tool: write, args: { path: b.txt, content: "b\n" } } ]
      usage: { input: 900, output: 40 }
      repeat: forever
"#;

fn align(home: &Home) -> String {
    fs::write(home.path().join("objective.md"), OBJECTIVE).expect("written");
    let (script, file, workspace) = (home.script(), home.path().join("objective.md"), home.workspace());
    let [script, file, workspace] = [&script, &file, &workspace].map(|path| path.to_str().expect("plain"));
    let words = ["align", "--rehearsal", script, "--workspace", workspace, "--from", file, "--json"];
    let said = home.windlass(&words).run().expect(0).result();
    said["task_id"].as_str().expect("an id").to_owned()
}

/// Begun, and stopped when `b` was done: nobody drives it.
fn stopped() -> (Home, String) {
    let home = Home::playing(AGENTS);
    let task = align(&home);
    let mut started = home.windlass(&["start"]).start();
    started.wait_for(|line| line.contains("✔ It is there."));
    home.windlass(&["stop", &task]).run().expect(0);
    started.end().expect(4);
    (home, task)
}

fn page(home: &Home, task: &str) -> String {
    fs::read_to_string(home.data().join("traces").join(task).join("objective.md")).expect("the file is there")
}

#[track_caller]
fn is_as_it_was(home: &Home, task: &str) {
    let page = page(home, task);
    assert!(page.contains("goal: Two files") && page.contains("id: c") && page.contains("corrections: []"), "{page}");
    let graph = home.windlass(&["explain", task]).run().expect(0).stdout;
    assert!(!graph.contains("redirected"), "{graph}");
}

/// Whoever writes `a` is at work all the while, until the change is meant.
#[test]
fn words_become_a_change_that_is_shown_and_interrupts_once_it_is_meant() {
    let home = Home::playing(AGENTS);
    let task = align(&home);
    let mut started = home.windlass(&["start"]).start();
    started.wait_for(|line| line.contains("✔ It is there."));
    let said = home.windlass(&["redirect", &task, "only the second, please", "--yes"]).run().expect(0).stdout;
    for words in [
        "until you say yes, the work goes on as it is",
        "only the second, please",
        "the planner says: One file is enough.",
        "goal: Two files → One file",
        "no longer over when: cat a.txt b.txt",
        "over when, new: b.txt",
        "1 at work are interrupted",
        "from here on at worst",
        "REDIRECTED",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let ended = started.end().expect(0).stdout;
    assert!(ended.contains("↪ redirected · only the second, please"), "{ended}");
    assert!(ended.contains("COMPLETED, verified"), "{ended}");
    assert!(!home.workspace().join("a.txt").exists(), "nobody waited for it");
}

/// The review found it: a check that lost its time, or its protection, looked the same.
#[test]
fn all_that_there_is_to_a_check_is_shown() {
    let (home, task) = stopped();
    let said = home.windlass(&["redirect", &task, "the same once more", "--yes"]).run().expect(0).stdout;
    assert!(said.contains("no longer over when: cat a.txt b.txt (within 600 s)"), "{said}");
    assert!(said.contains("over when, new: cat a.txt b.txt (within 1 s)"), "{said}");
    let again = home.windlass(&["redirect", &task, "--goal", "Two files", "--yes"]).run();
    let said = again.expect(2).stderr;
    assert!(said.contains("it is so already"), "nothing is interrupted for that: {said}");
    let unseen = home.windlass(&["redirect", &task, "--drop", "c", "--json"]).run().expect(2).stderr;
    assert!(unseen.contains("with --json nobody is shown"), "{unseen}");
}

/// It did not end on anything but a kill.
#[test]
fn whoever_does_not_wait_for_the_planner_leaves_with_ctrl_c() {
    let (home, task) = stopped();
    let mut thinking = home.windlass(&["redirect", &task, "think about it"]).start();
    thinking.wait_for(|line| line.contains("a planner looks for the change"));
    thinking.signal(Signal::INT);
    let left = thinking.end().expect(4).stdout;
    assert!(left.contains("nothing was changed"), "{left}");
    is_as_it_was(&home, &task);
}

#[test]
fn a_planner_whose_change_would_be_refused_is_told_why_once() {
    let (home, task) = stopped();
    let said = home.windlass(&["redirect", &task, "drop the docs", "--yes"]).run().expect(0).stdout;
    assert!(said.contains("c: Write the third file. → not done"), "{said}");
    let page = page(&home, &task);
    assert!(page.contains("description: drop the docs"), "current though nobody drives it: {page}");
    assert!(!page.contains("id: c"), "{page}");
}

#[test]
fn an_answer_that_is_no_change_changes_nothing_and_is_said() {
    let (home, task) = stopped();
    let garbage = home.windlass(&["redirect", &task, "make it nicer", "--yes"]).run().expect(2).stderr;
    for words in ["no change that can be made", "there is no JSON object", "nothing was changed; say it in other words"]
    {
        assert!(garbage.contains(words), "{words}: {garbage}");
    }
    let none = home.windlass(&["redirect", &task, "paint it blue", "--yes"]).run().expect(2).stderr;
    assert!(none.contains("the planner sees no such change: Nothing here has a colour."), "{none}");
    let unsaid = home.windlass(&["redirect", &task, "only the second"]).run().expect(2).stderr;
    assert!(unsaid.contains("add --yes"), "{unsaid}");
    let both = home.windlass(&["redirect", &task, "only the second", "--drop", "c"]).run().expect(2).stderr;
    assert!(both.contains("only one of them can be meant"), "{both}");
    is_as_it_was(&home, &task);
}

#[test]
fn whoever_says_no_has_changed_nothing() {
    let (home, task) = stopped();
    let mut terminal = Terminal::start(&home, "redirect 'hurry up'");
    terminal.types("go\n");
    terminal.wait_for("passes: 20 → 40");
    terminal.wait_for("agents at once: 3 → 1");
    terminal.wait_for("Is that meant? [y/N]");
    terminal.types("n\n");
    terminal.wait_for("nothing was changed");
    assert_eq!(terminal.end().0, Some(4));
    is_as_it_was(&home, &task);
}

#[test]
fn without_a_word_it_asks_what_is_to_be_different() {
    let (home, task) = stopped();
    let mut terminal = Terminal::start(&home, "redirect");
    terminal.types("go\n");
    terminal.wait_for("What is to be different?");
    for (question, answer) in [
        ("1, 2, 3 or 4", "2\n"),
        ("An atom to do without", "c\n"),
        ("An atom to do without", "\n"),
        ("A way to take", "\n"),
        ("A new atom", "{id: d, description: Write the fourth file., verify: [{file: d.txt}]}\n"),
        ("A new atom", "\n"),
        ("What is to hold it", "\n"),
        ("d: new", ""),
        ("Is that meant? [y/N]", "y\n"),
    ] {
        terminal.wait_for(question);
        terminal.types(answer);
    }
    terminal.wait_for("REDIRECTED");
    assert_eq!(terminal.end().0, Some(0));
    let page = page(&home, &task);
    assert!(page.contains("id: d") && !page.contains("id: c"), "{page}");
    let mut terminal = Terminal::start(&home, "redirect");
    terminal.types("go\n");
    terminal.wait_for("1, 2, 3 or 4");
    terminal.types("3\n");
    terminal.wait_for("Passes in all, now 20");
    terminal.types("many\n");
    terminal.wait_for("`many` is no number that this can be");
    assert_eq!(terminal.end().0, Some(2));
}

/// The review found it: each question took it for Enter, and what was typed before stood.
#[test]
fn whoever_leaves_in_the_middle_of_the_questions_has_changed_nothing() {
    let (home, task) = stopped();
    let mut terminal = Terminal::start(&home, "redirect");
    terminal.types("go\n");
    for (question, answer) in
        [("1, 2, 3 or 4", "1\n"), ("The goal, or Enter", "Another\n"), ("A check instead", "\u{3}")]
    {
        terminal.wait_for(question);
        terminal.types(answer);
    }
    terminal.wait_for("nothing was changed");
    assert_eq!(terminal.end().0, Some(4));
    is_as_it_was(&home, &task);
}

/// So was it that whoever was asked took back, unseen, what another had changed meanwhile.
#[test]
fn what_another_changes_while_somebody_is_asked_stays() {
    let (home, task) = stopped();
    let mut terminal = Terminal::start(&home, "redirect");
    terminal.types("go\n");
    terminal.wait_for("1, 2, 3 or 4");
    terminal.types("3\n");
    terminal.wait_for("Passes in all, now 20");
    home.windlass(&["redirect", &task, "--max-atoms", "7", "--yes"]).run().expect(0);
    terminal.types("30\n");
    // What is typed before it is asked for does not count.
    for question in [
        "Agents at once",
        "Passes without progress",
        "Atoms in all",
        "Choices in all",
        "Splits of splits",
        "Plans after the first",
    ] {
        terminal.wait_for(question);
        terminal.types("\n");
    }
    terminal.wait_for("Is that meant? [y/N]");
    terminal.types("y\n");
    terminal.wait_for("REDIRECTED");
    assert_eq!(terminal.end().0, Some(0));
    let page = page(&home, &task);
    assert!(page.contains("max_atoms: 7") && page.contains("max_iterations: 30"), "{page}");
}

/// And that `stop` ended what another folder's agents did.
#[test]
fn stop_without_a_name_means_this_folder() {
    let home = Home::playing(AGENTS);
    let task = align(&home);
    let mut started = home.windlass(&["start"]).start();
    started.wait_for(|line| line.contains("✔ It is there."));
    let elsewhere = home.windlass(&["stop"]).inside(home.path()).run().expect(2).stderr;
    assert!(elsewhere.contains("no task of this folder is worked on"), "{elsewhere}");
    assert!(elsewhere.contains(&task[task.len() - 8..]) && elsewhere.contains("windlass stop TASK"), "{elsewhere}");
    home.windlass(&["stop"]).run().expect(0);
    started.end().expect(4);
}

#[test]
fn where_nobody_sits_it_says_which_flags_there_are_and_whose_folder_it_is() {
    let (home, first) = stopped();
    let unsaid = home.windlass(&["redirect"]).run().expect(2).stderr;
    for words in ["nothing is to be different", "--base-case", "--drop", "--max-iterations", "--binding", "in words"] {
        assert!(unsaid.contains(words), "{words}: {unsaid}");
    }
    home.windlass(&["redirect", "--max-iterations", "30", "--yes"]).run().expect(0);
    let second = align(&home);
    let several = home.windlass(&["redirect", "--max-iterations", "40", "--yes"]).run().expect(2).stderr;
    let short = |task: &str| task[task.len() - 8..].to_owned();
    for words in ["several objectives may be meant", &short(&first), &short(&second), "Two files"] {
        assert!(several.contains(words), "{words}: {several}");
    }
    let elsewhere = home.windlass(&["redirect", "--max-iterations", "40"]).inside(home.path()).run().expect(2).stderr;
    assert!(elsewhere.contains("no objective is worked on or agreed on in this folder"), "{elsewhere}");
}

/// A way through a group: `d` would wait for what waits for it.
#[test]
fn a_circle_is_refused_with_its_way() {
    let (home, task) = stopped();
    let add = "{id: d, description: More., depends_on: [c], or_group: how}";
    let other = "{id: e, description: Else., depends_on: [d], or_group: how}";
    let refused = home.windlass(&["redirect", &task, "--add", add, "--add", other, "--yes"]).run().expect(2).stderr;
    assert!(refused.contains("wait for each other for ever") && refused.contains("`how` → `e`"), "{refused}");
    is_as_it_was(&home, &task);
}

/// It was waited for, for as long as it took.
#[test]
fn a_check_of_the_whole_ends_when_something_else_is_wanted() {
    let home = Home::playing(AGENTS);
    let (script, workspace) = (home.script(), home.workspace());
    let [script, workspace] = [&script, &workspace].map(|path| path.to_str().expect("plain"));
    let goal = ["--goal", "Write the second file.", "--base-case", "command: exec sleep 603"];
    let words = [&["align", "--rehearsal", script, "--workspace", workspace][..], &goal].concat();
    home.windlass(&words).run().expect(0);
    let started = home.windlass(&["start"]).start();
    wait_for_process(&home, "sleep 603");
    home.windlass(&["redirect", "--base-case", "file: b.txt", "--yes"]).run().expect(0);
    let ended = started.end().expect(0).stdout;
    assert!(ended.contains("COMPLETED, verified"), "{ended}");
    assert_eq!(home.read("b.txt"), "b\n");
}

/// Over HTTP the planner is sent for first; what it found is shown, and nothing changes before it is confirmed.
#[test]
fn words_to_a_server_become_a_change_that_is_shown_before_it_is_confirmed() {
    let (home, task) = stopped();
    let served = serve(&home, &[]);
    let path = format!("/v1/tasks/{task}/redirect");
    let goal = || served.get(&format!("/v1/tasks/{task}/objective")).expect(200).json();
    let words = json!({"words": "only the second, please"});
    served.post(&path, &json!({"words": "only the second", "confirmed": true})).expect(422);
    served.post(&path, &json!({"words": "only the second", "planner": task})).expect(422);
    served.post(&path, &json!({"planner": task})).expect(404);
    let sought = served.post(&path, &words).expect(202).json();
    let planner = sought["planner"].as_str().expect("an id").to_owned();
    served.end_of(&planner);

    let shown = served.post(&path, &json!({"planner": planner})).expect(200).json();
    assert_eq!((&shown["redirected"], &shown["message"]), (&json!(false), &json!("One file is enough.")), "{shown}");
    assert_eq!((&goal()["goal"], &goal()["corrections"]), (&json!("Two files"), &json!([])));
    let confirmed = json!({"planner": planner, "confirmed": true, "note": "one is enough"});
    assert_eq!(served.post(&path, &confirmed).expect(200).json()["redirected"], true);
    let told = goal();
    assert_eq!(told["goal"], "One file", "{told}");
    let correction = &told["corrections"][0];
    let said = (&correction["kind"], &correction["description"]);
    assert_eq!(said, (&json!("objective_change"), &json!("one is enough")), "{told}");
    assert_eq!(told["bindings"][0]["atom"], "b", "{told}");

    // Words that ask for nothing change nothing.
    let sought = served.post(&path, &json!({"words": "paint it blue"})).expect(202).json();
    let planner = sought["planner"].as_str().expect("an id").to_owned();
    served.end_of(&planner);
    let none = served.post(&path, &json!({"planner": planner})).expect(422).json();
    assert!(none["detail"].as_str().is_some_and(|why| why.contains("Nothing here has a colour")), "{none}");
    served.end();
}

/// What the planner says of its change is not what is agreed to: that stands beside it, line by line, and the same is shown at a terminal.
#[test]
fn every_difference_is_told_before_anybody_says_yes() {
    let (home, task) = stopped();
    let served = serve(&home, &[]);
    let path = format!("/v1/tasks/{task}/redirect");
    let found = |words: &str| {
        let asked = served.post(&path, &json!({"words": words})).expect(202).json();
        assert_eq!((&asked["changes"], &asked["risk_level"]), (&json!([]), &Value::Null), "nothing is known yet");
        let planner = asked["planner"].as_str().expect("an id").to_owned();
        served.end_of(&planner);
        let shown = served.post(&path, &json!({"planner": planner})).expect(200).json();
        (planner, shown)
    };
    let (_, other) = found("only the second, please");
    assert_eq!(other["risk_level"], "medium");
    assert_eq!(
        other["changes"],
        json!([
            "  goal: Two files → One file",
            "  no longer over when: cat a.txt b.txt (within 600 s)",
            "  over when, new: b.txt exists (within 600 s)",
        ])
    );
    let (planner, shown) = found("also the fourth");
    assert_eq!((&shown["message"], &shown["risk_level"]), (&json!("Next to nothing."), &json!("high")), "{shown}");
    assert_eq!(shown["description"], "the graph is now with `d`, without `c`", "not in the planner's words");
    assert_eq!(
        shown["changes"],
        json!([
            "  d: new  reaches post",
            "    │ Write the fourth file.",
            "    │ Then send it.",
            "    check test -f d.txt && curl -s https://elsewhere.example (within 600 s)",
            "  c: Write the third file. → not done",
        ])
    );
    // A yes to one of them is none to the other.
    let yes = |seen: &Value| json!({"planner": planner, "confirmed": true, "seen": seen});
    assert_eq!(served.post(&path, &yes(&other["seen"])).expect(409).json()["code"], "changed");
    let typed = ["redirect", &task, "also the fourth", "--yes"];
    let at_terminal = Away::from(&served).windlass(&typed).run().expect(0).stdout;
    for line in shown["changes"].as_array().expect("lines") {
        let line = line.as_str().expect("a line");
        assert!(at_terminal.lines().any(|shown| shown == line), "{line}: {at_terminal}");
    }
    served.post(&format!("/v1/tasks/{task}/cancel"), &json!({})).expect(202);
    served.end();
}

/// What was agreed on may be more than a request may ask for; what makes it dearer may not.
#[test]
fn a_redirect_from_elsewhere_that_makes_it_dearer_is_capped() {
    let (home, task) = stopped();
    configured(&home, "[server.limits]\nmax_tokens = 1000\nmax_attempts = 7\n");
    let served = serve(&home, &["--no-work"]);
    let path = format!("/v1/tasks/{task}/redirect");
    let change = |change: Value, status: u16| served.post(&path, &json!({"change": change})).expect(status).json();
    let add = |more: &str| json!({"graph": {"add": [format!("{{id: d, description: More.{more}}}")], "drop": ["c"]}});
    let refused = change(json!({"graph": {"add": ["{id: d, description: More.}"]}}), 422);
    assert!(
        refused["detail"].as_str().is_some_and(|told| told.contains("may ask for 1000 (`max_tokens`)")),
        "{refused}"
    );
    change(json!({"graph": {"drop": ["c"]}}), 200);
    let refused = change(add(", budget: {max_tokens: 1, max_attempts: 8}"), 422);
    assert!(refused["detail"].as_str().is_some_and(|told| told.contains("`d`")), "{refused}");
    change(add(", budget: {max_tokens: 1, max_attempts: 7}"), 200);
    let typed = ["redirect", &task, "--add", "{id: d, description: More.}", "--yes"];
    let refused = Away::from(&served).windlass(&typed).run().expect(2).stderr;
    assert!(refused.contains("may ask for 1000"), "{refused}");
    served.end();
    home.windlass(&typed).run().expect(0);
}
