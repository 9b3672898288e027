//! `windlass log --timeline`: turn by turn, whoever carries the execution.

use super::stand_in::{begin, windlass, with};
use crate::support::{Ended, Home};

const NATIVE: &str = r#"
version: 1
tracks:
  default:
    - reply: I will write it.
      calls: [ { tool: write, args: { path: x, content: "hi\n" } } ]
    - calls: [ { tool: ask_user, args: { question: "Which?" } } ]
    - reply: It is there.
"#;

/// Repeats what it is told while it works.
const REPEATS: &str = r#"introduce()
hear()
word("Working.")
end("Did " + hear()["message"]["content"])"#;

#[track_caller]
fn says(ended: &Ended, lines: &[&str]) {
    let mut said = ended.stdout.lines();
    for line in lines {
        assert!(said.any(|said| said.starts_with(line)), "`{line}`, in this order, in\n{}", ended.stdout);
    }
}

#[test]
fn the_turns_of_our_own_loop() {
    let home = Home::playing(NATIVE);
    home.run(&[]).run().expect(3);
    let asked = home.windlass(&["log", "--timeline"]).run().expect(0);
    says(
        &asked,
        &[
            "execution ",
            "turn 1  ",
            "  ← Do it",
            "  │ I will write it.",
            "  ✔ write x  ",
            "  … ask_user Which?  you were asked",
        ],
    );
    let task = home.windlass(&["status", "--json"]).run().expect(0).objects()[0]["task_id"].clone();
    home.windlass(&["send", task.as_str().expect("an id"), "This one."]).run().expect(0);
    home.windlass(&["resume"]).run().expect(0);
    let ended = home.windlass(&["log", "--timeline", "--json"]).run().expect(0);
    let turns = ended.objects();
    let last = &turns[turns.len() - 2];
    assert_eq!((&last["type"], &last["end"]["how"]), (&"turn".into(), &"completed".into()), "{last}");
    assert_eq!(last["steps"].as_array().and_then(|steps| steps.last()).expect("a step")["text"], "It is there.");
    let calls: u64 = turns.iter().filter_map(|turn| turn["model_calls"].as_u64()).sum();
    assert_eq!(calls, 3, "{turns:?}");
    assert_eq!(ended.result()["executions"], 1);
}

#[test]
fn the_turns_of_a_program() {
    let home = with(REPEATS);
    let mut run = begin(&home);
    let created = run.wait_for_record("task.created");
    run.wait_for(|line| line.contains("Working."));
    windlass(&home, &["send", created["task_id"].as_str().expect("an id"), "go left"]).run().expect(0);
    run.end().expect(0);
    let ended = windlass(&home, &["log", "--timeline"]).run().expect(0);
    let shown = ["turn 1  ", "  ← Do it", "  ▸ Claude Code 9.8.7", "  │ Working.", "  ← User says: go left"];
    says(&ended, &shown);
    assert!(ended.stdout.contains(" tokens · $0."), "{}", ended.stdout);
    assert!(!ended.stdout.contains("turn 2"), "it joined the turn: {}", ended.stdout);
}

#[test]
fn a_timeline_is_neither_followed_nor_a_surface() {
    let home = Home::new();
    for more in ["--follow", "--surface=review"] {
        home.windlass(&["log", "--timeline", more]).run().expect(2);
    }
}
