//! A fork, and an execution that is told to ask another model, killed at every commit, one after the other, until one runs clean: what
//! was taken over is taken over once, and the model that was chosen stays chosen.

use windlass_engine::TripwirePoint;

use super::kills::Kill;
use crate::cli::served::{serve, through_openai};
use crate::support::{Home, read};

const WRITES: &str = r#"
version: 1
tracks:
  default:
    - reply: I will write it.
      calls: [ { tool: write, args: { path: x, content: "hi\n" } } ]
    - reply: It is there.
    - when: { request: "(?s)I will write it.*Now write y" }
      calls: [ { tool: write, args: { path: y, content: "two\n" } } ]
    - reply: Both are there.
"#;

const TRACKS: &str = r#"
version: 1
tracks:
  executor:
    - calls: [ { tool: ask_user, args: { question: "Which?" } } ]
    - reply: The first answers.
  second:
    - reply: never
    - calls: [ { tool: write, args: { path: y, content: "two\n" } } ]
    - reply: The second answers.
"#;

/// A guard against going round for ever.
const MOST: u32 = 100;

fn tasks(home: &Home) -> Vec<String> {
    let listed = home.windlass(&["status", "--json"]).run().expect(0).objects();
    listed.iter().filter_map(|task| task["task_id"].as_str()).map(str::to_owned).collect()
}

#[test]
fn a_fork_goes_on_after_a_death_at_any_commit() {
    for n in 1..MOST {
        let home = Home::playing(WRITES);
        home.run(&[]).run().expect(0);
        let old = tasks(&home).remove(0);
        let fork = || home.windlass(&["fork", &old, "Now write y"]);
        let is_killed = Kill::At { point: TripwirePoint::AfterCommit, n }.apply(fork()).was_killed();
        match tasks(&home).len() {
            // It was killed before anything was asked for.
            1 => drop(fork().run().expect(0)),
            _ if is_killed => drop(home.windlass(&["resume"]).run()),
            _ => {}
        }
        assert_eq!(tasks(&home).len(), 2, "one task and its fork, at commit {n}");
        let story = read(&home);
        let result = story.result.as_ref().expect("it ended");
        assert_eq!(result["final_message"], "Both are there.", "at commit {n}: {result}");
        let forked: Vec<_> = story.of("execution.forked").collect();
        assert_eq!(forked.len(), 1, "at commit {n}");
        let messages = forked[0]["data"]["taken_over"]["conversation"]["messages"].as_array().map(Vec::len);
        assert_eq!(messages, Some(4), "at commit {n}");
        assert_eq!(story.of("model.responded").count(), 2, "at commit {n}: no answer is asked for again");
        assert_eq!((home.read("x"), home.read("y")), ("hi\n".to_owned(), "two\n".to_owned()));
        if !is_killed {
            assert!(n > 5, "a fork has more commits than {n}");
            return;
        }
    }
    panic!("it never ran clean");
}

#[test]
fn the_model_that_was_chosen_stays_chosen_after_a_death_at_any_commit() {
    for n in 1..MOST {
        let home = Home::playing(TRACKS);
        let (_server, url) = serve(&home);
        let through = |words: &[&str]| through_openai(home.windlass(words), &url, "sk-loopback-0123456789");
        through(&["run", "Do it"]).run().expect(3);
        let task = tasks(&home).remove(0);
        through(&["send", &task, "--kind", "model", "rehearsal/second"]).run().expect(0);
        through(&["send", &task, "This one."]).run().expect(0);
        let is_killed = Kill::At { point: TripwirePoint::AfterCommit, n }.apply(through(&["resume"])).was_killed();
        if is_killed && read(&home).result.is_none() {
            through(&["resume"]).run().expect(0);
        }
        let story = read(&home);
        let result = story.result.as_ref().expect("it ended");
        assert_eq!(result["final_message"], "The second answers.", "at commit {n}: {result}");
        assert_eq!(story.of("model.switched").count(), 1, "at commit {n}");
        assert_eq!(home.read("y"), "two\n");
        if !is_killed {
            assert!(n > 3, "a run has more commits than {n}");
            return;
        }
    }
    panic!("it never ran clean");
}
