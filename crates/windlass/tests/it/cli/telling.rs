//! `windlass send --kind`: what can be said to whom, and what becomes of it.

use std::fs;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::bad_wires::in_any_language;
use super::screens::wait_for_deliveries;
use super::serving::serve;
use super::stand_in::{begin, windlass, with};
use crate::support::{Ended, Home, read};

/// Works until it is interrupted, and then does what it is told.
const STOPS: &str = r#"introduce()
hear()
word("Working.")
heard = hear()
word("Heard " + heard["request"]["subtype"])
say(type="result", subtype="error_during_execution", is_error=True, terminal_reason="aborted_tools", uuid="u-0")
end("Did " + hear()["message"]["content"])"#;

/// Asks something, then hears the answer and does nothing about it, and then does what it is told.
const HEARS_AND_RESTS: &str = r#"import re
introduce()
words = hear()["message"]["content"]
if not os.path.exists("second"):
    open("second", "w").close()
    execution, nonce = re.search('"execution":"([^"]*)","nonce":"([^"]*)"', " ".join(sys.argv)).groups()
    asks = {"execution": execution, "nonce": nonce, "event": "1", "kind": "needs_input", "payload": {"question": "Where?"}}
    word("@task::" + json.dumps(asks))
elif not os.path.exists("third"):
    open("third", "w").close()
    with open("heard", "w") as heard:
        heard.write(words)
else:
    end("Did " + words)"#;

/// The same, and says what it is told next.
const HEARS_AND_HEARS: &str = r#"import re
introduce()
words = hear()["message"]["content"]
if not os.path.exists("second"):
    open("second", "w").close()
    execution, nonce = re.search('"execution":"([^"]*)","nonce":"([^"]*)"', " ".join(sys.argv)).groups()
    asks = {"execution": execution, "nonce": nonce, "event": "1", "kind": "needs_input", "payload": {"question": "Where?"}}
    word("@task::" + json.dumps(asks))
else:
    with open("heard", "w") as heard:
        heard.write(words)
    end("Did " + hear()["message"]["content"])"#;

/// Repeats what it is told while it works.
const REPEATS: &str = r#"introduce()
hear()
word("Working.")
end("Did " + hear()["message"]["content"])"#;

fn task(record: &Value) -> String {
    record["task_id"].as_str().expect("an id").to_owned()
}

fn lines(ended: &Ended) -> Vec<&str> {
    ended.stdout.lines().collect()
}

/// What became of it, without the attempts.
fn delivered(home: &Home) -> Vec<Value> {
    deliveries(home).into_iter().filter(|delivery| delivery != "attempted").collect()
}

fn deliveries(home: &Home) -> Vec<Value> {
    read(home).of("message.delivery").map(|record| record["data"]["delivery"].clone()).collect()
}

#[test]
fn an_interrupted_program_stays_and_goes_on_with_what_is_said_next() {
    let home = with(STOPS);
    let mut run = begin(&home);
    let task = task(&run.wait_for_record("task.created"));
    run.wait_for(|line| line.contains("Working."));
    let ended = windlass(&home, &["send", &task, "--kind", "interrupt"]).run().expect(0);
    assert!(lines(&ended)[0].starts_with("SENT  interrupt · task "), "{}", ended.stdout);
    run.wait_for(|line| line.contains("\"end\":\"interrupted\""));
    windlass(&home, &["send", &task, "go left"]).run().expect(0);
    let result = run.end().expect(0).result();
    assert_eq!(result["final_message"], "Did User says: go left", "{result}");
    assert_eq!(delivered(&home), ["delivered", "delivered"]);
    assert_eq!(read(&home).of("runner.noted").count(), 1, "it was started once");
}

/// Regression: they waited until its turn was over, and were lost with one that failed.
#[test]
fn words_that_come_while_a_program_starts_reach_it_in_the_turn_that_it_begins_with() {
    in_any_language(|language| {
        let home = Home::playing("version: 1\ntracks: { default: [ { reply: Never asked. } ] }\n");
        language.install(&home);
        fs::write(home.data().join("windlass.toml"), "[agents]\nsilence_seconds = 60\n").expect("written");
        home.write("mode.txt", "slow");
        let go = home.pipe("go");
        let script = home.script();
        let words = ["run", "Do it", "--agent", language.agent, "--json", "--rehearsal"];
        let words = [&words[..], &[script.to_str().expect("a plain path")]].concat();
        let mut run = windlass(&home, &words).start();
        let task = task(&run.wait_for_record("task.created"));
        run.wait_for_record("runner.noted");
        windlass(&home, &["send", &task, "go left"]).run().expect(0);
        wait_for_deliveries(&home, &["deferred"]);
        fs::write(go, "go").expect("it is read");
        let result = run.end().expect(0).result();
        assert_eq!(result["final_message"], "Did User says: go left", "{}: {result}", language.agent);
        assert_eq!(delivered(&home), ["deferred", "delivered"], "{}", language.agent);
    });
}

/// Contracts §6: attempts are recorded, and before they are made. Regression: words that a program was begun with were said to be delivered before it
/// had them, and were lost with a kill in that moment; those that it had, and had done nothing about, it was told again as if for the first time.
#[test]
fn words_of_which_nobody_knows_whether_they_were_heard_are_said_again_and_said_to_be_that() {
    let home = with(HEARS_AND_RESTS);
    let heard = home.pipe("heard");
    let mut run = begin(&home);
    let task = task(&run.wait_for_record("task.created"));
    run.end().expect(3);
    windlass(&home, &["send", &task, "--kind", "reply", "go left"]).run().expect(0);
    let second = windlass(&home, &["resume", "--json"]).start();
    let told = fs::read_to_string(heard).expect("what it heard");
    assert!(told.contains("go left") && !told.contains("You may have heard"), "{told}");
    second.signal(Signal::KILL);
    assert!(second.end_unread().was_killed());
    assert_eq!(deliveries(&home), ["attempted"]);
    let result = windlass(&home, &["resume", "--json"]).run().expect(0).result();
    let message = result["final_message"].as_str().expect("a word");
    assert!(message.contains("You may have heard what follows already"), "{message}");
    assert!(message.contains("go left"), "{message}");
    assert_eq!(deliveries(&home), ["attempted", "attempted", "delivered"]);
}

/// Regression: what it was begun with it was told again with the next words that came before it had done anything.
#[test]
fn words_that_a_program_was_begun_with_are_not_told_again_with_the_next() {
    let home = with(HEARS_AND_HEARS);
    let heard = home.pipe("heard");
    let mut run = begin(&home);
    let task = task(&run.wait_for_record("task.created"));
    run.end().expect(3);
    windlass(&home, &["send", &task, "--kind", "reply", "go left"]).run().expect(0);
    let second = windlass(&home, &["resume", "--json"]).start();
    let told = fs::read_to_string(heard).expect("what it heard");
    assert!(told.contains("go left"), "{told}");
    windlass(&home, &["send", &task, "go right"]).run().expect(0);
    let result = second.end().expect(0).result();
    let message = result["final_message"].as_str().expect("a word");
    assert!(message.contains("go right") && !message.contains("go left"), "{message}");
    assert_eq!(delivered(&home), ["delivered", "delivered"]);
}

#[test]
fn words_of_a_kind_reach_a_program_at_work_and_are_recorded_as_such() {
    let home = with(REPEATS);
    let mut run = begin(&home);
    let task = task(&run.wait_for_record("task.created"));
    run.wait_for(|line| line.contains("Working."));
    let sent = windlass(&home, &["send", &task, "--kind", "checkpoint", "--json"]).run().expect(0).result();
    assert_eq!((&sent["kind"], &sent["injection_type"]), (&"checkpoint".into(), &"user_message".into()), "{sent}");
    let result = run.end().expect(0).result();
    let message = result["final_message"].as_str().expect("a word");
    assert!(message.starts_with("Did User says: Say in a few sentences where you are"), "{message}");
    let injected: Vec<Value> = read(&home).of("injection.received").map(|record| record["data"].clone()).collect();
    assert_eq!(injected[0]["metadata"]["kind"], "checkpoint", "{injected:?}");
}

#[test]
fn what_can_be_said_is_listed_and_what_cannot_has_a_reason() {
    let home = with(REPEATS);
    let mut run = begin(&home);
    let task = task(&run.wait_for_record("task.created"));
    run.wait_for(|line| line.contains("Working."));
    let ended = windlass(&home, &["send", &task, "--list"]).run().expect(0);
    for line in [
        "✔ prompt      at once",
        "✔ interrupt   at once",
        "· resume      it is at work already",
        "· model       it plays a script",
    ] {
        assert!(ended.stdout.lines().any(|said| said.starts_with(line)), "{line}\n{}", ended.stdout);
    }
    let listed = windlass(&home, &["send", &task, "--list", "--json"]).run().expect(0).objects();
    let prompt = listed.iter().find(|object| object["kind"] == "prompt").expect("listed");
    assert_eq!((&prompt["direction"], &prompt["starts_turn"]), (&"to_agent".into(), &true.into()), "{prompt}");
    assert_eq!(prompt["schema"]["required"][0], "text", "{prompt}");
    assert!(listed.iter().any(|object| object["kind"] == "completed_claim" && object["direction"] == "from_agent"));
    assert!(!listed.iter().any(|object| object["kind"] == "model"));
    let refused = windlass(&home, &["send", &task, "fast", "--kind", "model"]).run().expect(2).stderr;
    assert!(refused.contains("`model` cannot be delivered to task") && refused.contains("plays a script"), "{refused}");
    windlass(&home, &["send", &task, "done"]).run().expect(0);
    run.end().expect(0);
    let refused = windlass(&home, &["send", &task, "--kind", "nudge"]).run().expect(2).stderr;
    assert!(refused.contains("is over"), "{refused}");
    assert_eq!(delivered(&home), ["delivered"], "what was refused was not sent");
}

/// The native loop has no turn of its own that could be broken off.
#[test]
fn our_own_loop_is_not_interrupted() {
    let home = Home::playing(
        "version: 1\ntracks: { default: [ { calls: [ { tool: ask_user, args: { question: 'Which?' } } ] }, { reply: Done. } ] }\n",
    );
    home.run(&[]).run().expect(3);
    let task = home.windlass(&["status", "--json"]).run().expect(0).objects()[0]["task_id"]
        .as_str()
        .expect("an id")
        .to_owned();
    let refused = home.windlass(&["send", &task, "--kind", "interrupt"]).run().expect(2).stderr;
    assert!(refused.contains("Windlass's own loop has no turn"), "{refused}");
    home.windlass(&["send", &task, "--kind", "reply", "This one."]).run().expect(0);
    home.windlass(&["resume"]).run().expect(0);
}

/// Waits for a file, and then has heard whatever was said.
const WAITS: &str = r#"
version: 1
tracks:
  executor:
    - calls: [ { tool: bash, args: { command: "touch begun; while [ ! -e go ]; do sleep 0.1; done" } } ]
    - calls: [ { tool: ask_user, args: { question: "Which?" } } ]
    - reply: Done.
"#;

/// Regression: only `windlass send` could say as what something is meant, by a route that is for programs of its own version.
#[test]
fn a_message_over_http_says_as_what_it_is_meant() {
    let home = Home::playing(WAITS);
    let served = serve(&home, &[]);
    let task = task(&served.post("/v1/tasks", &json!({"goal": "Wait"})).expect(202).json());
    while !home.workspace().join("begun").exists() {}
    let path = format!("/v1/tasks/{task}/messages");
    let say = |kind: &str, message: &str| served.post(&path, &json!({"kind": kind, "message": message}));
    let told = say("nudge", "").expect(202).json();
    assert_eq!((&told["kind"], &told["injection_type"]), (&json!("nudge"), &json!("user_message")), "{told}");
    for (kind, words, why) in [("interrupt", "", "has no turn"), ("model", "fast", "plays a script")] {
        let refused = say(kind, words).expect(409).json();
        let detail = refused["detail"].as_str().expect("a sentence");
        assert!(refused["code"] == "not_heard" && detail.contains(why), "{refused}");
    }
    say("song", "la").expect(422);
    home.write("go", "");
    served.at_last(&served.token, "/v1/questions", |all| all["questions"][0].get("request_id").map(|_| ()));
    let told = say("reply", "This one.").expect(202).json();
    assert_eq!((&told["kind"], &told["injection_type"]), (&json!("reply"), &json!("hitl_response")), "{told}");
    served.end_of(&task);
    let refused = say("nudge", "").expect(409).json();
    assert!(refused["detail"].as_str().is_some_and(|why| why.contains("is over")), "{refused}");
    let injected: Vec<Value> = read(&home).of("injection.received").map(|record| record["data"].clone()).collect();
    assert!(injected.iter().any(|data| data["metadata"]["kind"] == "nudge"), "{injected:?}");
    served.end();
}

#[test]
fn a_stop_by_a_message_over_http_is_a_stop() {
    let home = Home::playing(WAITS);
    let served = serve(&home, &[]);
    let task = task(&served.post("/v1/tasks", &json!({"goal": "Wait"})).expect(202).json());
    while !home.workspace().join("begun").exists() {}
    let stop = json!({"kind": "stop", "message": "enough"});
    let told = served.post(&format!("/v1/tasks/{task}/messages"), &stop).expect(202).json();
    assert_eq!(told["injection_type"], "system_control", "{told}");
    served.at_last(&served.token, &format!("/v1/tasks/{task}"), |one| (one["status"] == "PAUSED").then_some(()));
    served.end();
}
