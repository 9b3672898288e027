//! Pi, which is asked by a hook of ours.

use super::scenes::{Actor, agents, scenes};
use crate::bad_model::liar::{Act, Liar};
use crate::bad_model::wire::Wire;
use crate::support::{Home, none_left, read};

const COMMAND: &str = r#"{ tool: bash, args: { command: "COMMAND" } }"#;
const ACTOR: Actor = Actor { agent: "pi", command: COMMAND, below: COMMAND };

scenes!(ACTOR);

/// Regression: a key in its home may be a command, which was run.
#[test]
fn a_key_that_was_left_in_its_home_is_not_looked_up() {
    ACTOR.what_was_left_in_its_home_is_not_obeyed(|home| {
        let key = r#"{"windlass": {"type": "api_key", "key": "!touch /workspace/planted.txt; echo x"}}"#;
        std::fs::write(home.join(".pi/agent/auth.json"), key).expect("planted");
    });
}

/// What its model says, with a marker in it. No script knows the nonce beforehand: it is in what the model is told.
fn with_a_marker(asked: &str) -> String {
    let told = asked.replace("\\\"", "\"");
    let from = told.find(r#"{"execution":"#).expect("Pi tells its model how to make a marker");
    let names = told[from..].split(r#","event""#).next().expect("a beginning");
    let marker = format!(r#"@task::{names},"event":"half","kind":"note","payload":{{"text":"half of it"}}}}"#);
    Wire::Chat.says(&format!("I am at work.\n{marker}\nIt is done."))
}

/// It has no tools of ours: markers are all that it can tell its owner by.
#[test]
fn what_it_prints_as_a_marker_is_in_the_journal() {
    let model = Liar::playing(vec![Act::Answer(with_a_marker)]);
    let home = Home::new();
    let run = home
        .windlass(&["run", "Do it", "--agent", "pi"])
        .env("WINDLASS_AGENTS", agents().to_str().expect("a plain path"));
    Wire::Chat.ask(run, &model.url).run().expect(0);
    let story = read(&home);
    let notes: Vec<_> = story
        .of("observation.recorded")
        .filter(|record| record["data"]["observed"] == "claimed")
        .map(|record| (record["data"]["kind"].clone(), record["data"]["source"].clone()))
        .collect();
    assert_eq!(notes, [("note".into(), "marker".into())], "it was told by a marker, once");
    none_left(&home);
}
