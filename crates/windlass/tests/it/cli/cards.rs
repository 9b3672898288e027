//! What the tests about approvals share: an agent that wants to remove a file, and a person who answers.

use serde_json::Value;

use crate::support::{Ended, Home};

/// Removes a file, which is a high risk; and says what it heard.
pub const REMOVER: &str = r#"
version: 1
tracks:
  default:
    - reply: I will remove the old file.
      calls: [ { tool: bash, args: { command: "rm old.txt; echo gone" } } ]
      usage: { input: 900, output: 40 }
    - when: { last_result: "declined it: not this one" }
      reply: Then I leave it.
      usage: { input: 900, output: 10 }
    - when: { last_result: "asks for a change: keep a copy" }
      calls: [ { tool: bash, args: { command: "cp old.txt copy.txt" } } ]
      usage: { input: 900, output: 40 }
    - when: { last_result: "nobody answered in time" }
      reply: Nobody was there.
      usage: { input: 900, output: 10 }
    - when: { last_result: "the approval does not hold" }
      reply: It is not what was approved.
      usage: { input: 900, output: 10 }
    - reply: Done.
      usage: { input: 900, output: 10 }
"#;

/// A home in which that agent has asked, and nobody has answered.
pub fn asked() -> Home {
    let home = waits_to_ask();
    home.run(&[]).run().expect(3);
    home
}

/// The same before it is run.
pub fn waits_to_ask() -> Home {
    let home = Home::playing(REMOVER);
    home.write("old.txt", "old\n");
    home
}

/// The open cards, oldest first.
pub fn open_cards(home: &Home) -> Vec<Value> {
    let mut objects = home.windlass(&["inbox", "--json"]).run().expect(0).objects();
    let result = objects.pop().expect("a result");
    assert_eq!((result["type"].as_str(), result["cards"].as_u64()), (Some("result"), Some(objects.len() as u64)));
    objects
}

/// The end of the only card's id, as people type it.
pub fn card(home: &Home) -> String {
    let cards = open_cards(home);
    assert_eq!(cards.len(), 1, "{cards:?}");
    short(&cards[0]["card_id"])
}

pub fn short(id: &Value) -> String {
    id.as_str().expect("an id")[28..].to_owned()
}

pub fn approve(home: &Home) -> Ended {
    home.windlass(&["approve", &card(home), "--yes"]).run().expect(0)
}

pub fn is_there(home: &Home, name: &str) -> bool {
    home.workspace().join(name).exists()
}

/// How the newest task stands.
pub fn standing(home: &Home) -> String {
    let tasks = home.windlass(&["status", "--json"]).run().expect(0).objects();
    tasks[0]["standing"].as_str().expect("a word").to_owned()
}
