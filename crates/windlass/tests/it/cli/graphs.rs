//! `windlass graph` and `windlass explain`: what a person sees of a planned task before it begins, on its way and when it is over.

use std::fs;

use rustix::process::Signal;

use super::assert_shown;
use super::cards::card;
use super::scripts::HELLO;
use crate::support::Home;

/// Two ways to a page, of which the first does not work.
const WAYS: &str = "---
id: shop
type: project
title: A shop for books
tasks:
  - {id: data, type: task, title: The data, verify: [{file: books.json}]}
  - {id: plain, type: task, title: A plain page, any_of: page, depends_on: [data], budget: {max_attempts: 1}, verify: [{command: grep -q Books index.html}]}
  - {id: fine, type: task, title: A fine page, any_of: page, depends_on: [data], verify: [{command: grep -q Books index.html}]}
  - {id: launch, type: task, title: Bring them together, depends_on: [page], verify: [{file: notes.txt}]}
---
# What to do
## data
Three books, each with a title.

## plain
One page of them all.

## fine
The heading is the word Books.

## launch
Notes on how to serve both.
";

/// Goes by what its item says; whoever launches thinks for an hour.
const WORKERS: &str = r#"
version: 1
tracks:
  executor:
    - when: { last_result: "books.json" }
      reply: Three books in books.json.
      usage: { input: 900, output: 10 }
      repeat: forever
    - when: { last_result: "index.html" }
      reply: A page that lists the books.
      usage: { input: 900, output: 10 }
      repeat: forever
    - when: { request: "each with a title" }
      calls: [ { tool: write, args: { path: books.json, content: "[]\n" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "The heading is the word" }
      calls: [ { tool: write, args: { path: index.html, content: "<h1>Books</h1>\n" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "page of them all" }
      calls: [ { tool: write, args: { path: index.html, content: "<h1>Hello</h1>\n" } } ]
      usage: { input: 900, output: 40 }
    - delay_ms: 3600000
      reply: Too late.
      usage: { input: 900, output: 10 }
"#;

fn asked() -> Home {
    let home = Home::playing(WORKERS);
    fs::write(home.path().join("plan.md"), WAYS).expect("written");
    home.windlass(&["run", "--plan", "../plan.md", "--rehearsal", "../script.yaml"]).run().expect(3);
    home
}

#[test]
fn before_anybody_has_agreed_the_plan_is_drawn_and_the_card_is_named() {
    let home = asked();
    let graph = home.windlass(&["graph"]).run().expect(0);
    assert!(graph.stdout.contains(&format!("the plan waits for you: card {}", card(&home))), "{}", graph.stdout);
    let explained = home.windlass(&["explain"]).run().expect(0);
    assert!(explained.stdout.contains(&format!("windlass approve {}", card(&home))), "{}", explained.stdout);
    let told = home.windlass(&["explain", "--json"]).run().expect(0).result();
    assert_eq!((&told["used"]["attempts"], &told["left"]["unresolved"]), (&0.into(), &5.into()));
}

#[test]
fn on_its_way_it_shows_what_is_done_given_up_and_at_work_and_why() {
    let home = asked();
    home.windlass(&["approve", &card(&home)]).run().expect(0);
    let mut running = home.windlass(&["resume"]).start();
    running.wait_for(|line| line.contains("Bring them together"));
    let task = &newest(&home);
    assert_shown!(home, home.windlass(&["graph", task, "--all"]).run(), @"
    exit code 0
    --- stdout
    ◐ A shop for books  2 of 3 items done
    ├─ ✔ data    The data  1 attempt
    ├─ ✔ page    one of these, in this order: fine is taken
    │  ├╌ ⊘ plain  A plain page  1 of 1 attempt used · the checks still fail after 1 attempt
    │  └╌ ✔ fine   A fine page  1 attempt
    └─ ▶ launch  Bring them together  1 of 5 attempts used
    ✔ done  ▶ at work  ⊘ given up  ├─ all of these  ├╌ one of these
    ");
    assert_shown!(home, home.windlass(&["explain", task]).run(), @"
    exit code 0
    --- stdout
    A shop for books
    now
      ▶ launch  Bring them together  attempt 1 of 5 · task [SHORT]
          because what it comes after is done: page
          if it fails for good: the planner writes another plan
    failed so far
      ✘ plain  the checks still fail after 1 attempt  1 attempt · task [SHORT]
    left to try
      2 plans that may be written after this one
      ways that have not failed: page: fine
      4 attempts, and 3 questions to the planner, for what is not done
      2 of 5 atoms not done
      every step makes something of this less and nothing before it more, so that there is an end
    promised
      at most  26 attempts · 900,000 tokens · $9.0000 · [TIME]
      used     4 attempts · 5,550 tokens · $0.0000 · [TIME]
    the ways that are taken
      [CLOCK]  page: fine · plain was given up: the checks still fail after 1 attempt
    how it came to this
      [CLOCK]  ◆ plan: A shop for books  4 items
      [CLOCK]  ✓ the plan is approved
      [CLOCK]    plain   ✘ failed · the checks still fail after 1 attempt  1 attempt · 1,850 tokens · $0.0000
      [CLOCK]  ↩ page: plain is given up for another way · plain: the checks still fail after 1 attempt
    ");
    assert_shown!(home, home.windlass(&["explain", task, "pla"]).run(), @"
    exit code 0
    --- stdout
    ⊘ plain  A plain page  given up
    why
      what it comes after is done: data
      of page, fine is tried and not plain
      it is given up: the checks still fail after 1 attempt
    needs
      ✔ data  Three books in books.json.
    needed by
      launch
    checks
      grep -q Books index.html
    tried
      ✘ the checks still fail after 1 attempt  1 attempt · task [SHORT] · it does not count any more
          the last attempt that failed: grep -q Books index.html: the command exited with 1, expected 0
    is told
      │ One page of them all.
    ");

    let mut told = home.windlass(&["graph", "--json"]).run().expect(0).objects();
    let result = told.pop().expect("a result");
    assert_eq!((&result["type"], &result["done"], &result["items"]), (&"result".into(), &2.into(), &3.into()));
    let standing: Vec<String> = told
        .iter()
        .filter(|record| record["type"] == "atom")
        .map(|atom| format!("{} {}", atom["id"], atom["standing"]))
        .collect();
    assert_eq!(standing.join(" ").replace('"', ""), "shop open data done plain given_up fine done launch working");

    let path = home.path().join("work.svg");
    home.windlass(&["graph", "--svg", "../work.svg"]).run().expect(0);
    let drawing = fs::read_to_string(&path).expect("written");
    assert!(drawing.starts_with("<svg ") && drawing.contains("Bring them together") && !drawing.contains("script"));
    let chart = home.windlass(&["graph", "--mermaid"]).run().expect(0);
    assert!(chart.stdout.starts_with("flowchart LR\n") && chart.stdout.contains("subgraph"), "{}", chart.stdout);
    running.signal(Signal::INT);
    running.end().expect(5);
    let rests = home.windlass(&["explain"]).run().expect(0).stdout;
    assert!(rests.contains("… paused by the user · to go on: windlass resume "), "{rests}");
    assert_eq!(home.windlass(&["explain", "--json"]).run().expect(0).result()["is_driven"], false);
}

#[test]
fn what_is_not_there_to_be_looked_at_is_told_with_what_to_do() {
    let home = Home::playing(HELLO);
    assert_shown!(home, home.windlass(&["graph"]).run(), @"
    exit code 2
    --- stderr
    error: there are no tasks yet
    hint: `windlass align \"…\"` or `windlass plan \"…\"` makes one
    ");
    home.run(&[]).run().expect(0);
    assert_shown!(home, home.windlass(&["explain"]).run(), @"
    exit code 2
    --- stderr
    error: task [SHORT] has no plan: one agent works on all of it
    hint: `windlass log [SHORT]` tells what it does; tasks of `windlass align`, `windlass plan` and `run --plan` have one
    ");
    let home = asked();
    let wrong = home.windlass(&["explain", "", "data"]).run().expect(2);
    assert!(wrong.stderr.contains("there is no task ``"), "{}", wrong.stderr);
    assert_shown!(home, home.windlass(&["explain", &newest(&home), "dta"]).run(), @"
    exit code 2
    --- stderr
    error: the plan of task [SHORT] has no item `dta`
    hint: `windlass graph [SHORT] --all` shows them
    ");
    assert_shown!(home, home.windlass(&["graph", "--svg", "no/such/folder.svg"]).run(), @"
    exit code 2
    --- stderr
    error: no/such/folder.svg cannot be written: No such file or directory (os error 2)
    hint: name another file with --svg
    ");
}

fn newest(home: &Home) -> String {
    let tasks = home.windlass(&["status", "--json"]).run().expect(0).objects();
    tasks[0]["task_id"].as_str().expect("an id").to_owned()
}
