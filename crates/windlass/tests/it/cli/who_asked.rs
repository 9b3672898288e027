//! Who asked that a task rest, go on or end: the audit says so, by whatever door it came, and no token can pass for somebody else.

use serde_json::{Value, json};

use super::elsewhere::Away;
use super::scripts::HELLO;
use super::serving::{serve, token};
use crate::support::Home;

/// What was asked for of this task, by whom, and why.
fn asked(home: &Home, task: &str) -> Vec<(String, String, String)> {
    let shown = home.windlass(&["audit", "show", "--json", "--task", task, "--type", "enqueue"]).run().expect(0);
    let by_somebody = |event: &Value| event["details"]["by"].is_string();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    shown
        .objects()
        .iter()
        .filter(|event| by_somebody(event))
        .map(|event| (text(&event["decision"]), text(&event["details"]["by"]), text(&event["reason"])))
        .collect()
}

fn words(said: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    said.iter().map(|(what, by, why)| ((*what).to_owned(), (*by).to_owned(), (*why).to_owned())).collect()
}

#[test]
fn the_audit_names_whoever_asked_over_http() {
    let home = Home::playing(HELLO);
    let served = serve(&home, &["--no-work"]);
    let (ann, ben) = (token(&home, "ann", &["--scope", "read,write"]), token(&home, "ben", &["--scope", "read,write"]));
    let task = served.post("/v1/tasks", &json!({"goal": "Say hello"})).expect(202).json()["task_id"].clone();
    let task = task.as_str().expect("an id").to_owned();
    let control = |token: &str, what: &str, body: Value| {
        served.ask_as(token, "POST", &format!("/v1/tasks/{task}/{what}"), &[], &body.to_string()).expect(202);
    };
    control(&ann, "pause", json!({"reason": "lunch"}));
    // It rests, and is gone on with.
    home.windlass(&["worker", "--until-idle"]).run().expect(0);
    control(&ben, "resume", json!({}));
    control(&ben, "stop", json!({}));
    control(&ann, "cancel", json!({"reason": "enough"}));
    // What is refused was not asked for.
    served.ask_as(&ann, "POST", "/v1/tasks/01a1ecae-a16b-7260-acce-7dd0eb7861c2/cancel", &[], "{}").expect(404);
    let expected = [
        ("pause", "ann", "lunch (paused by ann)"),
        ("resume", "ben", ""),
        ("stop", "ben", "stopped by ben"),
        ("cancel", "ann", "enough (cancelled by ann)"),
    ];
    assert_eq!(asked(&home, &task), words(&expected));
    served.end();
    home.windlass(&["audit", "verify"]).run().expect(0);
}

#[test]
fn the_audit_names_the_user_of_a_command_and_the_token_of_one_from_elsewhere() {
    let home = Home::playing(HELLO);
    let as_me = |words: &[&str]| home.windlass(words).env("USER", "me").run();
    let task =
        home.run(&["--detach", "--json"]).run().expect(0).result()["task_id"].as_str().expect("an id").to_owned();
    as_me(&["pause", &task, "--reason", "lunch"]).expect(0);
    as_me(&["resume", &task]).expect(0);
    let other =
        home.run(&["--detach", "--json"]).run().expect(0).result()["task_id"].as_str().expect("an id").to_owned();
    as_me(&["cancel", &other]).expect(0);
    assert_eq!(asked(&home, &task), words(&[("pause", "me", "lunch"), ("resume", "me", "")]));
    assert_eq!(asked(&home, &other), words(&[("cancel", "me", "cancelled from the command line")]));

    let third =
        home.run(&["--detach", "--json"]).run().expect(0).result()["task_id"].as_str().expect("an id").to_owned();
    let served = serve(&home, &["--no-work"]);
    let ann = token(&home, "ann", &["--scope", "read,write"]);
    let away = Away::from(&served).with_token(&ann);
    away.windlass(&["cancel", &third]).env("USER", "me").run().expect(0);
    assert_eq!(asked(&home, &third), words(&[("cancel", "ann", "cancelled from the command line")]));
    served.end();
}

#[test]
fn a_token_has_no_name_that_records_have_for_somebody_else() {
    let home = Home::new();
    let add = |name: &str| home.windlass(&["token", "add", name]).env("USER", "me").run();
    for name in ["me", "ME", "local", "unnamed", "runtime", "system", "Windlass"] {
        let refused = add(name).expect(2);
        assert!(
            refused.stderr.contains(&format!("`{name}`")) && refused.stderr.contains("hint: "),
            "{}",
            refused.stderr
        );
    }
    for name in ["ann", "me-laptop"] {
        add(name).expect(0);
    }
}
