//! Deadlines and monitors as somebody types them, and `windlass schedules`: what is due, and every way in which that is not what
//! somebody meant.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use windlass_domain::Wall;

use super::assert_shown;
use crate::support::{Home, Program};

/// Works for longer than anybody waits.
const SLOW: &str = r#"
version: 1
tracks:
  default:
    - reply: Beginning.
      calls: [ { tool: write, args: { path: half.txt, content: half } } ]
    - reply: Going on.
      calls: [ { tool: bash, args: { command: sleep 500 } } ]
    - reply: Done.
"#;

const ASKS: &str = r#"
version: 1
tracks:
  default:
    - reply: A question.
      calls: [ { tool: ask_user, args: { question: Which? } } ]
    - { reply: Done., repeat: forever }
"#;

fn schedules(home: &Home, words: &[&str]) -> Program {
    home.windlass(&[&["schedules"], words].concat())
}

fn listed(home: &Home) -> Vec<Value> {
    let mut all = schedules(home, &["list", "--json"]).run().expect(0).objects();
    all.retain(|line| line["type"] != "result");
    all
}

/// The id of a task whose agent has asked something.
fn asking(home: &Home, more: &[&str]) -> String {
    let asked = home.run(&[&["--json"], more].concat()).run().expect(3);
    asked.result()["task_id"].as_str().expect("an id").to_owned()
}

#[test]
fn at_its_deadline_a_run_is_over_as_was_said() {
    for (action, code, status) in
        [("fail", 1, "FAILED"), ("complete_partial", 0, "COMPLETED"), ("pause_and_notify", 5, "PAUSED")]
    {
        let home = Home::playing(SLOW);
        let limits = ["--deadline", "1s", "--deadline-action", action, "--base-case", "file: half.txt", "--json"];
        let result = home.run(&limits).run().expect(code).result();
        assert_eq!(result["status"], status, "{result}");
        match action {
            "fail" => assert_eq!(result["error_details"]["error_code"], "deadline_exceeded", "{result}"),
            "complete_partial" => assert_eq!((&result["partial"], &result["verified"]), (&true.into(), &true.into())),
            _ => {
                let task = result["task_id"].as_str().expect("an id");
                let told = home.windlass(&["status", task]).run().expect(0).stdout;
                assert!(told.contains("its deadline has come"), "{told}");
            }
        }
        assert!(listed(&home).is_empty());
    }
}

#[test]
fn a_deadline_is_said_as_a_moment_or_from_now() {
    let home = Home::playing(ASKS);
    for (deadline, expected) in [
        (
            "tomorrow",
            "error: --deadline tomorrow: this is no moment\nhint: say when, as 2026-12-01T18:00:00+01:00, or how long from now, as 90s, 30m, 2h or 3d\n",
        ),
        ("2020-01-01T00:00:00Z", "error: the deadline has passed already: it was 2020-01-01T00:00:00.000Z\n"),
    ] {
        assert_eq!(home.run(&["--deadline", deadline]).run().expect(2).stderr, expected);
    }
    let task = asking(&home, &["--deadline", "9999-01-01T00:00:00+01:00", "--deadline-action", "pause_and_notify"]);
    let due = listed(&home);
    assert_eq!(due.len(), 1, "{due:?}");
    let expected = ("deadline", "9998-12-31T23:00:00.000Z", "pause_and_notify", task.as_str());
    let word = |name: &str| due[0][name].as_str().unwrap_or_default();
    assert_eq!((word("type"), word("deadline"), word("deadline_action"), word("task_id")), expected);
}

#[test]
fn without_any_it_says_so_and_what_is_no_schedule_is_refused() {
    let home = Home::playing(ASKS);
    assert_shown!(home, schedules(&home, &["list"]).run(), @"
    exit code 0
    --- stdout
    Nothing is due: no task has a deadline or a monitor, and there are no goals.
    ");
    let task = asking(&home, &[]);
    let add = |every: &str, check: &str, until: &str| {
        let words = ["add", &task, "--every", every, "--check", check, "--until", until];
        schedules(&home, &words).run().expect(2).stderr
    };
    let check = |told: String, expected: &str| assert!(told.contains(expected), "{told}");
    check(add("often", "look", "1h"), "--every often: this is no length of time");
    check(add("1s", "look", "1h"), "look at most every 10 seconds");
    check(add("5m", " ", "1h"), "say what is to be looked at");
    check(add("5m", "look", "1m"), "there is no look before its end");
    check(add("5m", "look", "2020-01-01T00:00:00Z"), "must lie in the future");
    check(add("5m", "look", "1000d"), "within 90 days");
    check(schedules(&home, &["remove", &task]).run().expect(2).stderr, "nothing is monitored");
    assert!(listed(&home).is_empty());
}

#[test]
fn somebody_has_an_agent_look_and_takes_it_back() {
    let home = Home::playing(ASKS);
    let task = asking(&home, &[]);
    let words = ["add", &task, "--every", "5m", "--check", "Is it there?", "--until", "1h", "--then", "complete"];
    let added = schedules(&home, &words).run().expect(0).stdout;
    assert!(added.contains("its agent is told every 5 min 00 s"), "{added}");
    let due = listed(&home);
    assert_eq!(
        (due.len(), &due[0]["check_prompt"], &due[0]["looks"]),
        (1, &"Is it there?".into(), &0.into()),
        "{due:?}"
    );
    assert_eq!((&due[0]["type"], &due[0]["timeout_action"]), (&"monitor".into(), &"complete".into()));
    let told = schedules(&home, &["list"]).run().expect(0).stdout;
    assert!(told.starts_with("monitor  task ") && told.contains("every 5 min 00 s until 2"), "{told}");
    let removed = schedules(&home, &["remove", &task]).run().expect(0).stdout;
    assert!(removed.contains("its agent is told no more"), "{removed}");
    assert!(listed(&home).is_empty());
}

#[expect(clippy::disallowed_methods, reason = "the script has to name a moment that has not come")]
fn in_an_hour() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    Wall::from_millis(u64::try_from((now + Duration::from_secs(3_600)).as_millis()).expect("this century")).to_rfc3339()
}

/// Nobody is there while it waits; a word of a person's wakes it as its next look would.
#[test]
fn an_agent_that_watches_something_waits_without_a_process() {
    let home = Home::playing(&format!(
        r#"
version: 1
tracks:
  default:
    - reply: Waiting.
      calls: [ {{ tool: monitor, args: {{ interval_seconds: 600, check_prompt: Is it there?, timeout_at: "{}", timeout_action: fail }} }} ]
    - reply: It is there.
"#,
        in_an_hour()
    ));
    let task =
        home.run(&["--detach", "--json"]).run().expect(0).result()["task_id"].as_str().expect("an id").to_owned();
    home.windlass(&["worker", "--until-idle"]).run().expect(0);
    let due = listed(&home);
    assert_eq!((due.len(), &due[0]["interval_seconds"]), (1, &600.into()), "{due:?}");
    let told = home.windlass(&["status"]).run().expect(0).stdout;
    assert!(told.contains("waits for its next look"), "{told}");
    home.windlass(&["send", &task, "it came"]).run().expect(0);
    home.windlass(&["worker", "--until-idle"]).run().expect(0);
    let result = home.windlass(&["status", &task, "--json"]).run().expect(0).objects().remove(0)["result"].clone();
    assert_eq!(
        (&result["status"], &result["final_message"]),
        (&"COMPLETED".into(), &"It is there.".into()),
        "{result}"
    );
    assert!(listed(&home).is_empty());
}

#[test]
fn a_goal_goes_by_the_clocks_of_its_time_zone() {
    let home = Home::playing(ASKS);
    let goal = |zone: &str| {
        format!(
            "---\nid: green\ntype: goal\ntitle: Green\nschedule: \"30 2 * * *\"\ntimezone: {zone}\nverify: [{{file: a}}]\n---\n# What to do\nKeep it.\n"
        )
    };
    home.write("goal.md", &goal("Europe/Brelin"));
    let told = home.windlass(&["goals", "add", "goal.md"]).run().expect(2).stderr;
    assert!(told.contains("did you mean `Europe/Berlin`?"), "{told}");
    home.write("goal.md", &goal("Asia/Kolkata"));
    let script = home.script();
    home.windlass(&["goals", "add", "goal.md", "--rehearsal", script.to_str().expect("a plain path")]).run().expect(0);
    let due = listed(&home);
    assert_eq!(due[0]["schedule"], "30 2 * * * Asia/Kolkata", "{due:?}");
    // Half past two there is nine in the evening in UTC, all year.
    assert!(due[0]["due"].as_str().is_some_and(|due| due.ends_with("T21:00:00.000Z")), "{due:?}");
}
