//! Memos from end to end: saved by one call, found by another, with and without an embedder.

use std::net::TcpListener;

use serde_json::Value;

use crate::support::{Home, read};

const NOTES: &str = r##"
version: 1
tracks:
  default:
    - reply: Let me see.
      calls:
        - { tool: search_memo, args: { query: anything } }
        - { tool: save_memo, args: { filename: findings, content: "# Timeouts\nThe database gives up after nine seconds.\n# Weather\nIt rains.\n" } }
    - reply: And again.
      calls:
        - { tool: search_memo, args: { query: how long does the database wait? } }
        - { tool: search_memo, args: { query: snow } }
    - reply: Done.
"##;

fn found(home: &Home) -> Vec<String> {
    let story = read(home);
    let finished = story.of("tool.finished").map(|record| &record["data"]);
    let searches = finished.filter(|data| data["tool"] == "search_memo");
    searches.map(|data| data["content"].as_str().expect("a text").to_owned()).collect()
}

#[test]
fn what_was_saved_is_found_with_its_place() {
    let home = Home::playing(NOTES);
    home.run(&[]).run().expect(0);
    assert_eq!(
        found(&home),
        [
            "There are no memos yet. Save one with save_memo; it is kept in .memo/.",
            ".memo/findings.md # Timeouts\n  The database gives up after nine seconds.",
            "No memo matches \"snow\". Try other words, or read one: .memo/findings.md.",
        ]
    );
}

#[test]
fn an_embedder_that_cannot_be_reached_costs_its_half_only() {
    let home = Home::playing(NOTES);
    configure(&home, "[embeddings]\nbase_url = \"http://127.0.0.1:9\"\nmodel = \"small\"\n");
    home.run(&[]).run().expect(0);
    let found = found(&home);
    assert!(found[1].starts_with(".memo/findings.md # Timeouts\n"), "{}", found[1]);
    assert!(found[1].contains("Found by words alone"), "{}", found[1]);
}

#[test]
fn a_cancel_is_heard_while_an_embedder_is_silent() {
    let home = Home::playing(NOTES);
    let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = silent.local_addr().expect("an address");
    configure(&home, &format!("[embeddings]\nbase_url = \"http://{address}\"\nmodel = \"small\"\n"));
    let mut run = home.run(&["--json"]).start();
    let task = run.wait_for_record("task.created")["task_id"].as_str().expect("an id").to_owned();
    let _asked = silent.accept().expect("a question");
    home.windlass(&["cancel", &task]).run().expect(0);
    run.end().expect(4);
    assert!(found(&home)[1].contains("the search by meaning failed: it was stopped"), "{:?}", found(&home));
}

#[test]
fn a_key_that_is_not_set_is_said() {
    let home = Home::playing(NOTES);
    configure(&home, "[embeddings]\nbase_url = \"http://127.0.0.1:9\"\nmodel = \"small\"\nkey_env = \"MY_KEY\"\n");
    let ended = home.run(&[]).run().expect(2);
    assert!(ended.stderr.contains("`key_env` names MY_KEY, which is not set"), "{}", ended.stderr);
    let story = |home: &Home| home.windlass(&["status", "--json"]).run().objects();
    assert_eq!(story(&home), Vec::<Value>::new(), "nothing was begun");
}

fn configure(home: &Home, text: &str) {
    std::fs::create_dir_all(home.data()).expect("a data directory");
    std::fs::write(home.data().join("windlass.toml"), text).expect("a configuration");
}
