//! `windlass plan`: what a document is said to mean, and everything that is wrong with one; and that every example of
//! `docs/plans.md` is a plan.

use std::fs;

use super::assert_shown;
use crate::support::Home;

const DOCUMENT: &str = include_str!("../../../../../docs/plans.md");

fn put(home: &Home, text: &str) -> String {
    let path = home.path().join("plan.md");
    fs::write(&path, text).expect("written");
    path.to_string_lossy().into_owned()
}

/// The page's examples, each between four backquotes.
fn examples() -> Vec<String> {
    let mut parts = DOCUMENT.split("\n````");
    let mut examples = Vec::new();
    parts.next();
    while let (Some(example), _) = (parts.next(), parts.next()) {
        examples.push(example.trim_start_matches("markdown\n").to_owned() + "\n");
    }
    examples
}

#[test]
fn every_example_of_the_page_is_a_plan() {
    let home = Home::new();
    let examples = examples();
    assert!(examples.len() >= 3, "{examples:?}");
    for example in examples {
        home.windlass(&["plan", "check", &put(&home, &example)]).run().expect(0);
    }
}

#[test]
fn what_a_plan_means_and_can_cost() {
    let home = Home::new();
    let file = put(&home, &examples()[1]);
    assert_shown!(home, home.windlass(&["plan", "check", &file]).run(), @"
    exit code 0
    --- stdout
    shop    A shop for books  project
      api     The API  1 check
      web     The pages  1 check
      launch  Bring them together  after api and web, 1 check
    at worst 15 attempts · 700,000 tokens · $7.0000 · [TIME], and one model call more for each item
    ");
    let result = home.windlass(&["plan", "check", &file, "--json"]).run().expect(0).result();
    assert_eq!(result["plan"]["tasks"][0]["id"], "api");
    assert_eq!(result["worst_case"]["attempts"], 15);
}

#[test]
fn everything_that_is_wrong_is_said_with_its_place() {
    let home = Home::new();
    let text = "---\nid: a\ntype: task\ntitle: A\ngates: [{name: g, on: never, type: regex}]\nbuget: {}\n---\n# What to do\nIt.\n";
    let file = put(&home, text);
    assert_shown!(home, home.windlass(&["plan", "check", &file]).run(), @"
    exit code 2
    --- stderr
    error: [HOME]/plan.md:5:9: this is not a gate: unknown variant `never`, expected one of every_user_message, on_tool_call, after_step, every_agent_response
    [HOME]/plan.md:6:1: unknown field `buget`; did you mean `budget`?
    hint: docs/plans.md has every field
    ");
    assert_shown!(home, home.windlass(&["plan", "check", "nowhere.md"]).run(), @"
    exit code 2
    --- stderr
    error: nowhere.md: No such file or directory (os error 2)
    hint: name a plan document; docs/plans.md shows one
    ");
}
