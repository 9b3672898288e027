//! `windlass memory`: what tasks leave behind for later ones, listed, searched and forgotten.

use super::assert_shown;
use crate::support::Home;

const SPOKEN: &str = r#"
version: 1
tracks:
  default:
    - reply: The comma was missing.
"#;

const EMPTY: &str = "Nothing is remembered yet: no task has ended here.\n";

fn ids(home: &Home) -> Vec<String> {
    let objects = home.windlass(&["memory", "list", "--json"]).run().expect(0).objects();
    objects.iter().filter_map(|object| object["id"].as_str()).map(str::to_owned).collect()
}

#[test]
fn without_any_it_says_so() {
    let home = Home::new();
    assert_eq!(home.windlass(&["memory", "list"]).run().expect(0).stdout, EMPTY);
    assert_eq!(home.windlass(&["memory", "search", "anything"]).run().expect(0).stdout, EMPTY);
    assert_eq!(home.windlass(&["memory", "list", "--json"]).run().expect(0).result()["memories"], 0);
}

#[test]
fn what_tasks_came_to_is_listed_and_found() {
    let home = Home::playing(SPOKEN);
    home.run(&[]).run().expect(0);
    home.run(&["--base-case", "file: never", "--max-attempts", "1"]).run().expect(1);
    assert_shown!(home, home.windlass(&["memory", "list"]).run(), @"
    exit code 0
    --- stdout
    [SHORT]  outcome   task [SHORT]  Do it  failed, not verified
    [SHORT]  failure   task [SHORT]  Do it  the checks still fail after 1 attempt
    [SHORT]  outcome   task [SHORT]  Do it  completed, not verified
    ");
    assert_shown!(home, home.windlass(&["memory", "list", "--limit", "1"]).run(), @"
    exit code 0
    --- stdout
    [SHORT]  outcome   task [SHORT]  Do it  failed, not verified
    and 2 older: --limit 3 shows all
    ");
    assert_shown!(home, home.windlass(&["memory", "search", "still failing", "--limit", "1"]).run(), @r#"
    exit code 0
    --- stdout
    [SHORT]  failure   task [SHORT]  Do it
    │ the checks still fail after 1 attempt
    │ check "never exists": never does not exist
    "#);
    assert_shown!(home, home.windlass(&["memory", "search", "xylophone"]).run(), @"
    exit code 0
    --- stdout
    None of 3 memories matches. Try other words; `windlass memory list` shows what is remembered.
    ");
    let objects = home.windlass(&["memory", "search", "commas", "--json"]).run().expect(0).objects();
    let result = objects.last().expect("a result");
    assert_eq!((&result["found"], &result["memories"], &result["remark"]), (&2.into(), &3.into(), &().into()));
    let memory = &objects[0];
    assert_eq!(
        (&memory["type"], &memory["kind"], &memory["taint"]),
        (&"memory".into(), &"outcome".into(), &"auth".into())
    );
    assert!(memory["source"]["task"].is_string() && memory["created_at"].is_string(), "{memory}");
}

#[test]
fn what_is_forgotten_is_found_no_more() {
    let home = Home::playing(SPOKEN);
    home.run(&[]).run().expect(0);
    let id = ids(&home).remove(0);
    assert_shown!(home, home.windlass(&["memory", "forget", &id[28..]]).run(), @r#"
    exit code 0
    --- stdout
    ✔ forgotten: outcome "Do it"; nobody finds it any more
    "#);
    assert_eq!(home.windlass(&["memory", "list"]).run().expect(0).stdout, EMPTY);
    assert_eq!(home.windlass(&["memory", "search", "comma"]).run().expect(0).stdout, EMPTY);
    let unknown = home.windlass(&["memory", "forget", &id[28..]]).run().expect(2).stderr;
    assert!(unknown.contains("there is no memory") && unknown.contains("`windlass memory list`"), "{unknown}");
    let again = home.windlass(&["memory", "forget", &id]).run().expect(2).stderr;
    assert!(again.contains("or it was forgotten"), "{again}");
    let audited = home.windlass(&["audit", "show", "--json"]).run().expect(0).objects();
    assert!(audited.iter().any(|event| event["decision"] == "forgotten" && event["details"]["memory_id"] == *id));
    home.windlass(&["audit", "verify"]).run().expect(0);
}

#[test]
fn a_question_without_words_is_none() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["memory", "search", "?!"]).run(), @r#"
    exit code 2
    --- stderr
    error: there is no word to look for
    hint: windlass memory search "flaky test"
    "#);
    home.windlass(&["memory", "search", "x", "--limit", "0"]).run().expect(2);
}

/// What an agent said forges no line of a list, and no other memory.
#[test]
fn what_was_said_is_shown_behind_a_bar() {
    let home = Home::playing("version: 1\ntracks:\n  default:\n    - reply: \"one\\n\\e[2Ktwo\"\n");
    home.run(&[]).run().expect(0);
    let shown = home.windlass(&["memory", "search", "two"]).run().expect(0).stdout;
    assert!(shown.contains("│ one\n│ <U+001B>[2Ktwo\n"), "{shown}");
}
