//! `windlass send --kind model`: another model is asked from the next question on.

use rustix::process::Signal;
use serde_json::Value;

use super::served::{serve, through_openai};
use super::stand_in;
use crate::support::{Home, Story, read};

const KEY: &str = "sk-loopback-0123456789";

/// Which model is asked decides the track.
const TRACKS: &str = r#"
version: 1
tracks:
  executor:
    - calls: [ { tool: ask_user, args: { question: "Which?" } } ]
    - reply: The first answers.
  second:
    - reply: never
    - reply: The second answers.
      usage: { input: 1000, output: 10 }
"#;

const PRICES: &str = "[models]\n\"rehearsal/second\" = { context_window = 50_000, input = 1000.0, output = 0.0 }\n";

fn asking() -> Home {
    let home = Home::playing(TRACKS);
    std::fs::create_dir_all(home.data()).expect("a folder");
    std::fs::write(home.data().join("models.toml"), PRICES).expect("prices");
    home
}

fn task(home: &Home) -> String {
    home.windlass(&["status", "--json"]).run().expect(0).objects()[0]["task_id"].as_str().expect("an id").to_owned()
}

fn only<'a>(story: &'a Story, kind: &str) -> &'a Value {
    let mut found = story.of(kind);
    let first = found.next().unwrap_or_else(|| panic!("there is no {kind}"));
    assert!(found.next().is_none(), "one {kind}");
    &first["data"]
}

#[test]
fn another_model_is_asked_from_the_next_question_on_and_paid_as_such() {
    let home = asking();
    let (_server, url) = serve(&home);
    through_openai(home.windlass(&["run", "Do it"]), &url, KEY).run().expect(3);
    let task = task(&home);
    let listed =
        through_openai(home.windlass(&["send", &task, "--list", "--json"]), &url, KEY).run().expect(0).objects();
    let model = listed.iter().find(|object| object["kind"] == "model").expect("it can be delivered");
    assert_eq!((&model["schema"]["required"][0], &model["delivery"][0]), (&"model".into(), &"when_resumed".into()));
    let send = home.windlass(&["send", &task, "--kind", "model", "rehearsal/second", "--json"]);
    let sent = through_openai(send, &url, KEY).run().expect(0).result();
    assert_eq!((&sent["kind"], &sent["injection_type"]), (&"model".into(), &"system_control".into()), "{sent}");
    home.windlass(&["send", &task, "This one."]).run().expect(0);
    let result = through_openai(home.windlass(&["resume", "--json"]), &url, KEY).run().expect(0).result();
    assert_eq!(result["final_message"], "The second answers.", "{result}");
    let story = read(&home);
    let switched = only(&story, "model.switched");
    assert_eq!((&switched["from"], &switched["to"]), (&"rehearsal/executor".into(), &"rehearsal/second".into()));
    let accepted = story.of("message.accepted").find(|record| record["data"]["kind"] == "model").expect("on record");
    assert_eq!(accepted["data"]["message_id"], switched["message_id"]);
    let delivered = only(&story, "message.delivery");
    assert_eq!((&delivered["delivery"], &delivered["message_id"]), (&"delivered".into(), &switched["message_id"]));
    assert!(result["cost_usd"].as_f64().is_some_and(|cost| cost > 0.5), "a thousand tokens at a dollar each: {result}");
    let shown = home.windlass(&["log", "--timeline"]).run().expect(0).stdout;
    assert!(shown.contains("asks the model rehearsal/second from here on"), "{shown}");
}

#[test]
fn a_model_that_is_not_configured_is_refused_and_nothing_is_sent() {
    let home = asking();
    let (_server, url) = serve(&home);
    through_openai(home.windlass(&["run", "Do it"]), &url, KEY).run().expect(3);
    let task = task(&home);
    for (words, why) in [
        (&["send", task.as_str(), "--kind", "model", "unheard-of"][..], "the model `unheard-of` is not configured"),
        (&["send", task.as_str(), "--kind", "model"], "no model is named"),
    ] {
        let refused = through_openai(home.windlass(words), &url, KEY).run().expect(2).stderr;
        assert!(refused.contains(why), "{refused}");
    }
    home.windlass(&["send", &task, "This one."]).run().expect(0);
    let result = through_openai(home.windlass(&["resume", "--json"]), &url, KEY).run().expect(0).result();
    assert_eq!(result["final_message"], "The first answers.", "{result}");
    assert_eq!(read(&home).of("model.switched").count(), 0);
}

/// The way to a program's model is ours: it is not started again.
#[test]
fn a_program_at_work_has_its_next_question_answered_by_the_other_model() {
    let home = stand_in::with("introduce()\nfirst = ask()\nword(\"Heard \" + first)\nend(\"Heard \" + ask())");
    std::fs::write(
        home.script(),
        "version: 1\ntracks:\n  executor: [ { reply: The first answers., repeat: forever } ]\n  second: [ { reply: The second answers., repeat: forever } ]\n",
    )
    .expect("a script");
    let (_server, url) = serve(&home);
    let run = stand_in::windlass(&home, &["run", "Do it", "--agent", "claude-code", "--json"]);
    let mut run = through_openai(run, &url, KEY).start();
    let task = run.wait_for_record("task.created")["task_id"].as_str().expect("an id").to_owned();
    run.wait_for(|line| line.contains("Heard The first answers."));
    let send = stand_in::windlass(&home, &["send", &task, "--kind", "model", "rehearsal/second"]);
    through_openai(send, &url, KEY).run().expect(0);
    run.wait_for_record("model.switched");
    stand_in::windlass(&home, &["send", &task, "And now?"]).run().expect(0);
    let result = run.end().expect(0).result();
    assert_eq!(result["final_message"], "Heard The second answers.", "{result}");
    let story = read(&home);
    assert_eq!(story.of("runner.noted").count(), 1, "it was started once");
    let asked: Vec<Value> = story.of("exchange.opened").map(|record| record["data"]["model"].clone()).collect();
    assert_eq!(asked, ["rehearsal/executor", "rehearsal/second"]);
}

/// A program may ask as soon as it is started, and is asked for by then.
#[test]
fn a_program_that_rests_goes_on_with_the_other_model_from_its_first_question_on() {
    let home = stand_in::with(
        "introduce()\nif given(\"--resume\"):\n    end(\"Heard \" + ask())\nelse:\n    hear()\n    word(\"Working.\")\n    hear()",
    );
    std::fs::write(
        home.script(),
        "version: 1\ntracks:\n  executor: [ { reply: The first answers., repeat: forever } ]\n  second: [ { reply: The second answers., repeat: forever } ]\n",
    )
    .expect("a script");
    let (_server, url) = serve(&home);
    let through = |words: &[&str]| through_openai(stand_in::windlass(&home, words), &url, KEY);
    let mut run = through(&["run", "Do it", "--agent", "claude-code", "--json"]).start();
    run.wait_for(|line| line.contains("Working."));
    run.signal(Signal::INT);
    run.end().expect(5);
    through(&["send", &task(&home), "--kind", "model", "rehearsal/second"]).run().expect(0);
    let result = through(&["resume", "--json"]).run().expect(0).result();
    assert_eq!(result["final_message"], "Heard The second answers.", "{result}");
    let asked: Vec<Value> = read(&home).of("exchange.opened").map(|record| record["data"]["model"].clone()).collect();
    assert_eq!(asked, ["rehearsal/second"]);
}
