//! Plans, from a request or a document to the user's folder: the card, the work side by side, the ladder that failures climb, and
//! what becomes of a user who says no, edits files meanwhile, presses Ctrl-C, or loses the machine.

use std::fs;

use rustix::process::Signal;
use serde_json::Value;

use super::assert_shown;
use super::cards::{approve, card, is_there, open_cards, short, standing};
use super::served::serve;
use super::through_openai;
use crate::support::{Ended, Home, Program, Terminal, none_left};

/// `data` and `web` beside each other, then `launch`.
const SHOP: &str = "---
id: shop
type: project
title: A shop for books
verify: [{command: test -f index.html}]
tasks:
  - {id: data, type: task, title: The data, touches: {paths: [books.json]}, verify: [{file: books.json}]}
  - {id: web, type: task, title: The pages, touches: {paths: [index.html]}, verify: [{file: index.html}]}
  - {id: launch, type: task, title: Bring them together, depends_on: [data, web], verify: [{file: notes.txt}]}
---
# Context
A small shop.

# What to do
## data
Three books, each with a title.

## web
One page of them all.

## launch
Notes on how to serve both.
";

/// One item whose first two attempts are wrong.
const PAGE: &str = "---
id: page
type: task
title: The pages
verify: [{command: grep -q Books index.html}]
---
# What to do
A page with the right heading.
";

/// Plays everybody: planners, and an executor that goes by what its item says.
const EVERYBODY: &str = r#"
version: 1
tracks:
  planner:
    - when: { request: "is stuck" }
      reply: "The heading is the word Books: that is what the check looks for."
      usage: { input: 900, output: 20 }
    - when: { request: "only the data" }
      reply: |
        {"message": "Smaller.", "plan_action": {"plan_markdown": "---\nid: shop\ntype: task\ntitle: Only the data\nverify: [{file: books.json}]\n---\n# What to do\nThree books, each with a title.\n"}}
      usage: { input: 900, output: 200 }
    - reply: |
        {"message": "One after the other.", "plan_action": {"plan_markdown": "---\nid: shop\ntype: project\ntitle: A shop for books\ntasks:\n  - {id: data, type: task, title: The data, verify: [{file: books.json}]}\n  - {id: page, type: task, title: The page, depends_on: [data], verify: [{command: grep -q Books index.html}]}\n---\n# What to do\n## data\nThree books, each with a title.\n\n## page\nA page with the right heading.\n"}}
      usage: { input: 900, output: 300 }
  executor:
    - when: { last_result: "books.json" }
      reply: Three books in books.json.
      usage: { input: 900, output: 10 }
      repeat: forever
    - when: { last_result: "index.html" }
      reply: A page that lists the books.
      usage: { input: 900, output: 10 }
      repeat: forever
    - when: { last_result: "notes.txt" }
      reply: Notes on how to serve both.
      usage: { input: 900, output: 10 }
      repeat: forever
    - when: { request: "each with a title" }
      calls: [ { tool: write, args: { path: books.json, content: "[]\n" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "The heading is the word" }
      calls: [ { tool: write, args: { path: index.html, content: "<h1>Books</h1>\n" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "right heading|page of them all" }
      calls: [ { tool: write, args: { path: index.html, content: "<h1>Hello</h1>\n" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "how to serve both" }
      calls: [ { tool: write, args: { path: notes.txt, content: "both\n" } } ]
      usage: { input: 900, output: 40 }
"#;

/// Thinks for an hour, unless it has been told to go on.
const THINKERS: &str = r#"
version: 1
tracks:
  executor:
    - when: { last_result: "bytes" }
      reply: Done after all.
      usage: { input: 900, output: 10 }
      repeat: forever
    - when: { request: "Task resumed by user(.|\n)*each with a title|each with a title(.|\n)*Task resumed by user" }
      calls: [ { tool: write, args: { path: books.json, content: "[]\n" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "Task resumed by user(.|\n)*page of them all|page of them all(.|\n)*Task resumed by user" }
      calls: [ { tool: write, args: { path: index.html, content: "<h1>Books</h1>\n" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "how to serve both" }
      calls: [ { tool: write, args: { path: notes.txt, content: "both\n" } } ]
      usage: { input: 900, output: 40 }
    - delay_ms: 3600000
      reply: Too late.
      usage: { input: 900, output: 10 }
"#;

/// A home with this plan, and uncommitted work of its user.
fn home_with(script: &str, plan: &str) -> Home {
    let home = Home::playing(script);
    fs::write(home.path().join("plan.md"), plan).expect("written");
    home.write("mine.txt", "not committed\n");
    home
}

fn run_plan(home: &Home, more: &[&str]) -> Program {
    home.windlass(&[&["run", "--plan", "../plan.md", "--rehearsal", "../script.yaml"], more].concat())
}

fn plan(home: &Home) -> Program {
    home.windlass(&["plan", "Make a shop for books", "--rehearsal", "../script.yaml"])
}

/// Asked about, and approved by another process.
fn approved(home: &Home) -> Ended {
    run_plan(home, &[]).run().expect(3);
    approve(home)
}

fn kinds(records: &[Value]) -> Vec<&str> {
    records.iter().filter_map(|record| record["type"].as_str()).collect()
}

/// The tasks that work for another one, newest first; of those that were begun in one millisecond any may be.
fn parts(home: &Home) -> Vec<Value> {
    let all = home.windlass(&["status", "--all", "--json"]).run().expect(0).objects();
    let wholes = home.windlass(&["status", "--json"]).run().expect(0).objects();
    let is_part = |task: &Value| wholes.iter().all(|whole| whole["task_id"] != task["task_id"]);
    all.into_iter().filter(is_part).collect()
}

fn root(home: &Home) -> String {
    short(&home.windlass(&["status", "--json"]).run().expect(0).objects()[0]["task_id"])
}

#[test]
fn a_request_becomes_a_plan_then_a_card_then_the_work() {
    let home = home_with(EVERYBODY, "");
    assert_shown!(home, plan(&home).run(), @"
    exit code 3
    --- stdout
    Make a shop for books
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap
    ▸ a planner writes the plan
    ◆ plan: A shop for books  2 items
    ? the plan  needs approval: card [SHORT]

    WAITING FOR YOU  1 model call · 0 tool calls · 1,200 tokens · $0.0000 · [TIME]
    to see it whole: windlass inbox; to answer: windlass approve [SHORT], or deny, or edit; then: windlass resume [SHORT]
    ");
    assert_shown!(home, home.windlass(&["inbox"]).run(), @r#"
    exit code 0
    --- stdout
    card [SHORT]  medium risk  task [SHORT] · asked [TIME] ago · expires in [TIME] ([WHEN])
      plan      A shop for books
      items     2 items, each in a copy of your folder
        data  The data
              check books.json exists
              │ Three books, each with a title.
        page  The page
              after data
              check grep -q Books index.html
              │ A page with the right heading.
      in        [HOME]/workspace · sandbox bubblewrap
      model     rehearsal
      then      agents work on these items in copies of your folder; when all checks pass it changes, once
      at worst  10 attempts · 500,000 tokens · $5.0000 · [TIME], and one model call more for each item

    to answer: windlass approve [SHORT] · windlass deny [SHORT] · windlass edit [SHORT] --note "…"
    "#);
    assert_eq!(standing(&home), "waiting");
    assert!(!is_there(&home, "books.json"), "nothing is done before the answer");
    assert_shown!(home, approve(&home), @"
    exit code 0
    --- stdout
    APPROVED  card [SHORT] · task [SHORT]
    to go on: windlass resume [SHORT]; a worker does so by itself
    ");
    assert_eq!(standing(&home), "answered");
    assert_shown!(home, home.windlass(&["resume"]).run(), @"
    exit code 0
    --- stdout
    Make a shop for books
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap
    ▸ a planner writes the plan
    ◆ plan: A shop for books  2 items
    ? the plan  needs approval: card [SHORT]
    ── so far; going on from here ──
    ✓ the plan is approved
      data  ▸ The data
      data  ▸ write books.json  Created (3 bytes). · [TIME]
      data  ✔ check `books.json exists` passed
      data  ✔ Three books in books.json.  1 attempt · 1,850 tokens · $0.0000
      page  ▸ The page
      page  ▸ write index.html  Created (15 bytes). · [TIME]
      page  ✘ check `grep -q Books index.html` failed · the command exited with 1, expected 0
      page  attempt 2
      page  ▸ write index.html  Created (15 bytes). · [TIME]
      page  ✘ check `grep -q Books index.html` failed · the command exited with 1, expected 0
      page  asking the planner about attempt 2
      page  ← the planner says: The heading is the word Books: that is what the check looks for.
      page  attempt 3
      page  ▸ write index.html  Created (15 bytes). · [TIME]
      page  ✔ check `grep -q Books index.html` passed
      page  ✔ A page that lists the books.  3 attempts · 5,550 tokens · $0.0000
      data  ✔ check `books.json exists` passed
    ✔ your folder has the work: 2 files changed

    │ data: Three books in books.json.
    │ page: A page that lists the books.

    COMPLETED, verified  10 model calls · 4 tool calls · 9,520 tokens · $0.0000 · [TIME]
    ");
    assert_eq!((home.read("books.json"), home.read("index.html")), ("[]\n".to_owned(), "<h1>Books</h1>\n".to_owned()));
    assert_eq!(home.read("mine.txt"), "not committed\n");
    assert_shown!(home, home.windlass(&["status", &root(&home)]).run(), @"
    exit code 0
    --- stdout
    [SHORT]  verified [TIME] ago  Make a shop for books
      data  done  The data  1 attempt · 1,850 tokens · $0.0000
      page  done  The page  3 attempts · 5,550 tokens · $0.0000

    │ data: Three books in books.json.
    │ page: A page that lists the books.

    COMPLETED, verified  10 model calls · 4 tool calls · 9,520 tokens · $0.0000 · [TIME]
    ");
    none_left(&home);
}

#[test]
fn items_that_need_nothing_of_each_other_are_worked_on_at_once() {
    let home = home_with(EVERYBODY, SHOP);
    approved(&home);
    let ended = home.windlass(&["resume", "--json"]).run().expect(0);
    let result = ended.result();
    assert_eq!((&result["status"], &result["verified"]), (&Value::from("COMPLETED"), &Value::from(true)));
    let records = ended.objects();
    let kinds = kinds(&records);
    let place = |kind: &str, number: usize| kinds.iter().enumerate().filter(|(_, of)| **of == kind).nth(number);
    let (second_begins, _) = place("atom.started", 1).expect("two begin");
    let (first_ends, _) = place("atom.ended", 0).expect("one ends");
    assert!(second_begins < first_ends, "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| **kind == "atom.ended").count(), 3);
    let page = home.path().join("page.html");
    home.windlass(&["trace", "open", "--no-open", "--output", page.to_str().expect("a path")]).run().expect(0);
    let page = fs::read_to_string(page).expect("a page");
    for item in ["<h2>data</h2>", "<h2>web</h2>", "<h2>launch</h2>"] {
        assert!(page.contains(item), "{item}");
    }
}

#[test]
fn a_plan_that_is_declined_ends_the_task_and_changes_nothing() {
    let home = home_with(EVERYBODY, PAGE);
    run_plan(&home, &[]).run().expect(3);
    home.windlass(&["deny", &card(&home), "--note", "not today"]).run().expect(0);
    assert_shown!(home, home.windlass(&["resume"]).run(), @"
    exit code 1
    --- stdout
    The pages
    task [SHORT] · [HOME]/workspace · sandbox bubblewrap
    ◆ plan: The pages  1 item
    ? the plan  needs approval: card [SHORT]
    ── so far; going on from here ──
    ✘ the plan is declined · not today

    FAILED  0 model calls · 0 tool calls · 0 tokens · $0.0000 · [TIME]
    error: the plan was declined: not today
    ");
    assert!(!is_there(&home, "index.html"));
}

#[test]
fn a_plan_that_is_sent_back_is_written_anew_and_asked_about_again() {
    let home = home_with(EVERYBODY, "");
    plan(&home).run().expect(3);
    let first = card(&home);
    assert_shown!(home, home.windlass(&["edit", &first, "--note", "only the data"]).run(), @"
    exit code 0
    --- stdout
    SENT BACK  card [SHORT] · task [SHORT]
    to go on: windlass resume [SHORT]; a worker does so by itself
    ");
    home.windlass(&["resume"]).run().expect(3);
    let cards = open_cards(&home);
    assert_eq!(
        (cards.len(), &cards[0]["intent"], &cards[0]["details"]["revision"]),
        (1, &"Only the data".into(), &2.into())
    );
    approve(&home);
    home.windlass(&["resume"]).run().expect(0);
    assert!(is_there(&home, "books.json") && !is_there(&home, "index.html"));
}

#[test]
fn at_a_terminal_the_plan_is_asked_about_right_there() {
    let home = home_with(EVERYBODY, PAGE);
    let mut terminal = Terminal::start(&home, "run --plan ../plan.md --rehearsal ../script.yaml");
    terminal.types("\n");
    terminal.wait_for("plan      The pages");
    terminal.wait_for("[l]ater:");
    terminal.types("a\n");
    terminal.wait_for("the plan is approved");
    terminal.wait_for("asking the planner");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert_eq!(home.read("index.html"), "<h1>Books</h1>\n");
}

/// One asks for leave, and the other thinks for an hour.
const ONE_ASKS: &str = "---
id: two
type: project
title: Two
tasks:
  - {id: risky, type: task, title: Remove the old file}
  - {id: slow, type: task, title: Think for long}
---
# What to do
Both.
";

const REMOVER_AND_THINKER: &str = r#"
version: 1
tracks:
  executor:
    - when: { last_result: "." }
      reply: It is gone.
      repeat: forever
    - when: { request: "Remove the old file" }
      calls: [ { tool: bash, args: { command: "rm -f old.txt" } } ]
    - delay_ms: 3600000
      reply: Too late.
"#;

/// Whoever waits at the terminal is not kept waiting for those who need nobody.
#[test]
fn an_items_card_is_asked_about_while_the_others_go_on() {
    let home = home_with(REMOVER_AND_THINKER, ONE_ASKS);
    let mut terminal = Terminal::start(&home, "run --plan ../plan.md --rehearsal ../script.yaml");
    terminal.types("\n");
    terminal.wait_for("[l]ater:");
    terminal.types("a\n");
    terminal.wait_for("item      risky · Remove the old file");
    terminal.wait_for("[l]ater:");
    terminal.types("a\n");
    terminal.wait_for("or yes:");
    terminal.types("yes\n");
    terminal.wait_for("It is gone.");
    terminal.types("\u{3}");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(5), "{shown}");
}

/// A planner whose first plan names nobody that there is.
const FORGETFUL: &str = r#"
version: 1
tracks:
  planner:
    - reply: |
        {"message": "So.", "plan_action": {"plan_markdown": "---\nid: page\ntype: task\ntitle: The pages\nagent: wizard\nskills: [tarot]\nverify: [{file: index.html}]\n---\n# What to do\nA page.\n"}}
    - reply: |
        {"message": "Then so.", "plan_action": {"plan_markdown": "---\nid: page\ntype: task\ntitle: The pages\nverify: [{file: index.html}]\n---\n# What to do\nA page.\n"}}
"#;

#[test]
fn a_plan_that_is_handed_back_to_its_planner_is_shown_with_all_that_is_wrong() {
    let home = home_with(FORGETFUL, "");
    let shown = plan(&home).run().expect(3).stdout;
    for problem in
        ["Your answer cannot be used as a plan", "the agent `wizard`, which is not there", "the skill `tarot`"]
    {
        assert!(shown.contains(problem), "{shown}");
    }
    assert_eq!(open_cards(&home)[0]["details"]["items"][0]["skills"], serde_json::json!([]));
}

#[test]
fn a_plan_of_ones_own_that_names_a_skill_that_is_not_there_is_refused() {
    let home = home_with(EVERYBODY, &PAGE.replace("title: The pages", "title: The pages\nskills: [tarot]"));
    let refused = run_plan(&home, &[]).run().expect(2);
    assert!(refused.stderr.contains("`page` names the skill `tarot`, which is not there"), "{}", refused.stderr);
}

#[test]
fn a_person_is_asked_about_an_item_that_is_stuck_where_its_plan_wants_that() {
    let home = home_with(EVERYBODY, &PAGE.replace("title: The pages", "title: The pages\non_stuck: escalate_human"));
    approved(&home);
    let shown = home.windlass(&["resume"]).run().expect(3).stdout;
    assert!(shown.contains("asking you about attempt 2"), "{shown}");
    let inbox = home.windlass(&["inbox"]).run().expect(0).stdout;
    for words in ["item      page · The pages", "what attempt 3 of `page` should do differently", "so far"] {
        assert!(inbox.contains(words), "{inbox}");
    }
    home.windlass(&["edit", &card(&home), "--note", "The heading is the word Books."]).run().expect(0);
    let shown = home.windlass(&["resume"]).run().expect(0).stdout;
    assert!(shown.contains("you say: The heading is the word Books."), "{shown}");
    assert_eq!(home.read("index.html"), "<h1>Books</h1>\n");
}

#[test]
fn a_plan_that_cannot_be_carried_out_is_refused_before_anything_is_taken_in() {
    let home =
        home_with(EVERYBODY, "---\nid: a\ntype: task\ntitle: A\nbuget: {}\ndepends_on: [b]\n---\n# What to do\nIt.\n");
    assert_shown!(home, run_plan(&home, &[]).run(), @"
    exit code 2
    --- stderr
    error: ../plan.md:5:1: unknown field `buget`; did you mean `budget`?
    ../plan.md:6:14: there is no item or group `b` in this plan
    hint: docs/plans.md has every field
    ");
    let wide: String = (0..100_000).map(|item| format!("  - {{id: i{item}, type: task, title: It}}\n")).collect();
    for plan in [
        format!("---\nid: a\ntype: project\ntitle: A\ntasks:\n{wide}---\n# What to do\nIt.\n"),
        format!("---\nid: a\ntype: task\ntitle: A\n---\n# What to do\n{}\n", "long ".repeat(2 << 20)),
    ] {
        fs::write(home.path().join("plan.md"), plan).expect("written");
        let refused = run_plan(&home, &[]).run().expect(2);
        assert!(refused.stderr.contains("larger than 1024 KiB"), "{}", refused.stderr);
    }
    let goal = "---\nid: a\ntype: goal\ntitle: A\nschedule: always_on\nverify: [{file: a}]\n---\n# What to do\nIt.\n";
    fs::write(home.path().join("plan.md"), goal).expect("written");
    assert_shown!(home, run_plan(&home, &[]).run(), @"
    exit code 2
    --- stderr
    error: ../plan.md: `a` is a goal, which is looked at again and again and never done
    hint: to have it looked at: windlass goals add ../plan.md
    ");
    fs::write(home.path().join("plan.md"), PAGE).expect("written");
    assert_shown!(home, run_plan(&home, &["--max-tokens", "5"]).run(), @"
    exit code 2
    --- stderr
    error: --max-tokens says what the plan says already
    hint: write it into the plan: each item has `budget`; docs/plans.md has every field
    ");
    assert_shown!(home, run_plan(&home, &["Do it"]).run(), @"
    exit code 2
    --- stderr
    error: the argument '--plan <FILE>' cannot be used with '[GOAL]'

    Usage: windlass run --plan <FILE> --rehearsal <FILE> [GOAL]

    For more information, try '--help'.
    ");
    assert_shown!(home, home.windlass(&["plan", " "]).run(), @r#"
    exit code 2
    --- stderr
    error: the request is empty
    hint: say what should be done: windlass plan "…"
    "#);
    assert_shown!(home, home.windlass(&["status"]).run(), @"
    exit code 0
    --- stdout
    No tasks yet.  `windlass demo` shows one.
    ");
}

#[test]
fn what_the_user_changed_meanwhile_stays_and_resume_brings_the_work_later() {
    let home = home_with(EVERYBODY, SHOP);
    home.write("index.html", "draft\n");
    approved(&home);
    home.write("index.html", "changed by its user\n");
    assert_shown!(home, home.windlass(&["resume"]).run().last_lines(5), @"
    exit code 5
    --- stdout
    paused · the work is done and kept, but was not brought into your folder, because you changed the same there: index.html: both changed the same lines

    PAUSED  6 model calls · 3 tool calls · 5,550 tokens · $0.0000 · [TIME]
    hint: put your changes of these files aside, then `windlass resume`; nothing was overwritten
    to go on: windlass resume [SHORT]
    ");
    assert_eq!(home.read("index.html"), "changed by its user\n");
    assert!(!is_there(&home, "books.json"), "all of it or nothing");
    home.write("index.html", "draft\n");
    home.windlass(&["resume"]).run().expect(0);
    assert_eq!((home.read("index.html"), home.read("mine.txt")), ("<h1>Hello</h1>\n".into(), "not committed\n".into()));
}

#[test]
fn ctrl_c_pauses_all_who_work_and_resume_goes_on_with_all() {
    let home = home_with(THINKERS, SHOP);
    approved(&home);
    let mut run = home.windlass(&["resume", "--json"]).start();
    run.wait_for_record("model.requested");
    run.wait_for_record("model.requested");
    let parts = parts(&home);
    assert_eq!(parts.len(), 2, "{parts:?}");
    let data = parts.iter().find(|part| part["goal"].to_string().contains("Three books")).expect("the item `data`");
    let data = short(&data["task_id"]);
    run.signal(Signal::INT);
    assert_eq!(run.end().expect(5).result()["status"], "PAUSED");
    none_left(&home);
    assert_eq!(standing(&home), "paused");
    assert_shown!(home, home.windlass(&["status", &root(&home)]).run(), @"
    exit code 0
    --- stdout
    [SHORT]  paused [TIME] ago  A shop for books
      paused by the user · to go on: windlass resume [SHORT]
      data    paused                The data  1 attempt · 0 tokens · $0.0000
      web     paused                The pages  1 attempt · 0 tokens · $0.0000
      launch  blocked on data, web  Bring them together
    ");
    let refused = home.windlass(&["cancel", &data]).run();
    assert_shown!(home, refused, @"
    exit code 2
    --- stderr
    error: task [SHORT] is the item `data` of task [SHORT], and does not end alone
    hint: to end the whole: windlass cancel [SHORT]
    ");
    let resumed = home.windlass(&["resume", &data]).run().expect(0);
    assert!(resumed.stdout.contains("which is gone on with as a whole"), "{}", resumed.stdout);
    assert!(["books.json", "index.html", "notes.txt"].iter().all(|name| is_there(&home, name)));
    none_left(&home);
}

/// Regression: "ended before it could be cancelled", for ever.
#[test]
fn a_plan_that_is_paused_can_be_cancelled() {
    let home = home_with(THINKERS, SHOP);
    approved(&home);
    let mut run = home.windlass(&["resume", "--json"]).start();
    run.wait_for_record("model.requested");
    run.wait_for_record("model.requested");
    run.signal(Signal::INT);
    run.end().expect(5);
    assert_shown!(home, home.windlass(&["cancel", &root(&home)]).run(), @"
    exit code 0
    --- stdout
    CANCELLED  task [SHORT]
    ");
    assert_eq!(standing(&home), "cancelled");
    none_left(&home);
}

#[test]
fn words_for_a_plan_reach_those_who_work_on_it() {
    let home = home_with(THINKERS, SHOP);
    run_plan(&home, &[]).run().expect(3);
    let root = root(&home);
    assert_shown!(home, home.windlass(&["send", &root, "hurry"]).run(), @r#"
    exit code 2
    --- stderr
    error: nobody works on task [SHORT] who could hear it
    hint: to have the plan changed: windlass edit [SHORT] --note "…"
    "#);
    approve(&home);
    let mut run = home.windlass(&["resume", "--json"]).start();
    run.wait_for_record("model.requested");
    run.wait_for_record("model.requested");
    assert_shown!(home, home.windlass(&["send", &root, "hurry"]).run(), @"
    exit code 0
    --- stdout
    SENT  task [SHORT]
    the agent hears it before its next step
    ");
    run.signal(Signal::INT);
    run.end().expect(5);
    let resumed = home.windlass(&["resume", "--json"]).run().expect(0);
    let heard = resumed.objects().into_iter().filter(|record| record["type"] == "injection.received");
    let heard = heard.filter(|record| record["data"]["content"].as_str().unwrap_or_default().contains("hurry"));
    assert_eq!(heard.count(), 2, "each of the two who worked");
}

#[test]
fn a_plan_killed_at_any_commit_ends_as_if_nobody_had_killed_it() {
    let mut deaths = 0;
    for number in (1..).step_by(2) {
        let home = home_with(EVERYBODY, SHOP);
        approved(&home);
        let point = if number % 4 == 1 { "before-commit" } else { "after-commit" };
        let cut_off = home.windlass(&["resume"]).env("WINDLASS_CRASH_AT", &format!("{point}:{number}")).run();
        home.write("mine.txt", "changed meanwhile\n");
        if cut_off.was_killed() {
            deaths += 1;
            // One that died after the end has nothing to go on with.
            let resumed = home.windlass(&["resume"]).run();
            assert!(resumed.code() == 0 || standing(&home) == "verified", "{point}:{number}: {resumed:?}");
        }
        none_left(&home);
        assert_eq!(standing(&home), "verified", "{point}:{number}");
        assert_eq!(home.read("mine.txt"), "changed meanwhile\n");
        assert!(["books.json", "index.html", "notes.txt"].iter().all(|name| is_there(&home, name)), "{point}:{number}");
        assert!(
            !home.data().join("worktrees").read_dir().is_ok_and(|mut left| left.next().is_some()),
            "{point}:{number}"
        );
        if !cut_off.was_killed() {
            break;
        }
    }
    assert!(deaths > 15, "{deaths} deaths prove little");
}

#[test]
fn planners_and_executors_ask_the_models_that_the_operator_chose_for_them() {
    let home = home_with(EVERYBODY, "");
    fs::create_dir_all(home.data()).expect("a folder");
    let chosen = "[models]\nplanner = \"rehearsal/planner\"\nexecutor = \"rehearsal/executor\"\n";
    fs::write(home.data().join("windlass.toml"), chosen).expect("written");
    let (server, url) = serve(&home);
    let through =
        |words: &[&str]| through_openai(home.windlass(words), &url, "sk-loopback-0123456789").without("LITELLM_MODEL");
    through(&["plan", "Make a shop for books"]).run().expect(3);
    assert_eq!(open_cards(&home)[0]["details"]["planner_model"], "rehearsal/planner");
    approve(&home);
    through(&["resume"]).run().expect(0);
    assert_eq!(home.read("index.html"), "<h1>Books</h1>\n", "the planner was asked about the page as well");
    server.signal(Signal::INT);
    server.end().expect(0);
}

/// What whoever opens the folder next would run is named, not only counted.
#[test]
fn work_that_other_programs_obey_is_pointed_out() {
    let script = EVERYBODY.replace("path: books.json", "path: .githooks/pre-commit");
    let plan = "---\nid: data\ntype: task\ntitle: The data\nverify: [{file: .githooks/pre-commit}]\n---\n# What to do\nThree books, each with a title.\n";
    let home = home_with(&script.replace("last_result: \"books.json\"", "last_result: \"pre-commit\""), plan);
    approved(&home).expect(0);
    let ended = home.windlass(&["resume"]).run().expect(0);
    let told = ended.stdout.lines().find(|line| line.contains("other programs obey")).unwrap_or_default();
    assert!(told.contains(".githooks/pre-commit"), "{}", ended.stdout);
}

const SHOWN: &str = r#"---
id: shop
type: project
title: A shop for books
tasks:
  - id: data
    type: task
    title: The data
    probe: true
    budget: {max_attempts: 2}
    verify: [{name: unit tests, run: "test -f books.json\ntest -d .", exit_code: 3, protect: [tests]}]
    gates: [{name: no-rm, on: on_tool_call, type: string_match, config: {field: tool_args, any_of: [rm]}}]
  - {id: web, type: task, title: The pages, depends_on: [data], input_artifacts_from: [data], verify: [{name: all is well, file: index.html}]}
---
# What to do
## data
Three books, each with a title.

# Context
## data
Words for its agent alone.

# Constraints
## web
No colours.

# If you get stuck
## web
Look at the old page.
"#;

/// A yes is to what is told and run, and not to what it is called.
#[test]
fn a_card_shows_every_word_and_what_each_check_is() {
    let home = home_with(EVERYBODY, SHOWN);
    run_plan(&home, &[]).run().expect(3);
    let shown = home.windlass(&["inbox"]).run().expect(0).stdout;
    for expected in [
        "unit tests: test -f books.json",
        "test -d . exits with 3 (protects tests)",
        "all is well: index.html exists",
        "looked at first",
        "at most 2 attempts",
        "is given what is delivered by data",
        "\"name\":\"no-rm\"",
        "Words for its agent alone.",
        "No colours.",
        "Look at the old page.",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
}

/// The test of its user, which an agent would rather not pass.
const TESTED: &str = "---
id: page
type: task
title: The page
verify: [{command: sh tests/check.sh, protect: [tests]}]
---
# What to do
A page with the right heading.
";

/// Makes the test easier first; told that this was not taken, and why, it does the work.
const LAZY: &str = r#"
version: 1
tracks:
  executor:
    - when: { last_result: "bytes" }
      reply: The test passes.
      usage: { input: 900, output: 10 }
      repeat: forever
    - when: { request: "its work was not taken: tests/check.sh is protected by a check of `page`" }
      calls: [ { tool: write, args: { path: index.html, content: "<h1>Books</h1>\n" } } ]
      usage: { input: 900, output: 40 }
    - calls: [ { tool: write, args: { path: tests/check.sh, content: "exit 0\n" } } ]
      usage: { input: 900, output: 40 }
"#;

#[test]
fn an_agent_that_changes_a_test_its_plan_protects_is_refused_and_told_why() {
    const TEST: &str = "grep -q Books index.html\n";
    let run = |plan: &str| {
        let home = home_with(LAZY, plan);
        home.write("tests/check.sh", TEST);
        approved(&home);
        let ended = home.windlass(&["resume"]).run().expect(0);
        (home, ended.stdout)
    };
    let (home, shown) = run(TESTED);
    let refused = "page  ✗ not taken: tests/check.sh is protected by a check of `page`, and no item of the plan has it in `touches`";
    assert!(shown.contains(refused) && shown.contains("COMPLETED, verified"), "{shown}");
    assert_eq!((home.read("tests/check.sh").as_str(), home.read("index.html").as_str()), (TEST, "<h1>Books</h1>\n"));
    // The control: where nothing is protected the easy way is good enough.
    let (home, shown) = run(&TESTED.replace(", protect: [tests]", ""));
    assert!(shown.contains("COMPLETED, verified"), "{shown}");
    assert_eq!(home.read("tests/check.sh"), "exit 0\n");
    assert!(!is_there(&home, "index.html"));
}
