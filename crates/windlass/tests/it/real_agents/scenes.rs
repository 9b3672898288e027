//! What every agent has to go through, whatever its own tools are called.

use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;

use crate::cli::cards::{approve, card, is_there};
use crate::support::{Home, Program, none_left, read, wait_for_process};

/// How an agent is made to run a command.
pub struct Actor {
    pub agent: &'static str,
    /// A call in a script, with `COMMAND` in the place of the command.
    pub command: &'static str,
}

/// Where `make agents` has put them.
pub fn agents() -> PathBuf {
    std::env::var_os("WINDLASS_AGENTS").expect("WINDLASS_AGENTS, as `make test-agents` sets it").into()
}

const HIGH: &str = "git push origin main; echo pushed > pushed.txt; echo WELL-DONE";
const LONG: &str = "echo begun > begun.txt; while [ ! -f go.txt ]; do sleep 3.14; done; echo WELL-DONE";

impl Actor {
    /// A script that begins with this command; `then` follows it.
    fn home(&self, command: &str, then: &str) -> Home {
        let call = self.command.replace("COMMAND", command);
        Home::playing(&format!(
            "version: 1\ntracks:\n  default:\n    - reply: I begin.\n      calls: [ {call} ]\n    - when: {{ last_result: WELL-DONE }}\n      \
             reply: It is done.\n      repeat: forever\n{then}",
        ))
    }

    fn call(&self, command: &str) -> String {
        self.command.replace("COMMAND", command)
    }

    fn run(&self, home: &Home, check: &str) -> Program {
        let check = format!("command: {check}");
        home.run(&["--agent", self.agent, "--base-case", &check, "--max-attempts", "1"])
            .env("WINDLASS_AGENTS", &folder())
    }

    fn resume(&self, home: &Home) -> Program {
        home.windlass(&["resume"]).env("WINDLASS_AGENTS", &folder())
    }

    pub fn a_task_runs_to_a_verified_result(&self) {
        let home = self.home("echo there > there.txt; echo WELL-DONE", "");
        let ended = self.run(&home, "grep -q there there.txt").run().expect(0);
        assert!(ended.stdout.contains("COMPLETED, verified"), "{}", ended.stdout);
        let story = read(&home);
        let noted = story.of("runner.noted").next().expect("a launch");
        assert!(
            noted["data"]["version"].as_str().is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
        );
        assert!(story.of("observation.recorded").any(|record| record["data"]["observed"] == "session"));
        // What it asked of its model is metered here, and nothing is left open.
        let opened = story.of("exchange.opened").count();
        assert!(opened >= 2 && opened == story.of("exchange.closed").count(), "{opened}");
        assert_eq!(proposed(&story.records).len(), 2, "the launch and the command");
        assert!(story.once_in_flight().is_empty());
        none_left(&home);
    }

    pub fn a_person_says_yes_and_it_is_done_once(&self) {
        let call = self.call(HIGH);
        let then = format!(
            "    - when: {{ request: A person approved }}\n      reply: Once more.\n      calls: [ {call} ]\n      repeat: forever\n"
        );
        let home = self.home(HIGH, &then);
        let asked = self.run(&home, "test -f pushed.txt").run().expect(3);
        assert!(asked.stdout.contains("WAITING FOR YOU") && !is_there(&home, "pushed.txt"), "{}", asked.stdout);
        none_left(&home);
        approve(&home);
        let ended = self.resume(&home).run().expect(0);
        assert!(ended.stdout.contains("COMPLETED, verified"), "{}", ended.stdout);
        let story = read(&home);
        let started = story.of("tool.started").filter(|record| record["data"]["tool"] == "bash");
        assert_eq!(started.count(), 1);
        assert_eq!(story.of("runner.noted").count(), 2);
        none_left(&home);
    }

    pub fn a_person_says_no_and_it_is_told(&self) {
        let then =
            "    - when: { request: a person declined it }\n      reply: Then I leave it.\n      repeat: forever\n";
        let home = self.home(HIGH, then);
        self.run(&home, "test ! -f pushed.txt").run().expect(3);
        home.windlass(&["deny", &card(&home), "--note", "not on a Friday"]).run().expect(0);
        let ended = self.resume(&home).run().expect(0);
        assert!(ended.stdout.contains("Then I leave it.") && !is_there(&home, "pushed.txt"), "{}", ended.stdout);
        none_left(&home);
    }

    pub fn it_is_interrupted_and_goes_on(&self) {
        let home = self.interrupted();
        let mut running = self.run(&home, "test -f go.txt").start();
        running.wait_for(|line| line.contains("I begin."));
        wait_for_process(&home, "sleep 3.14");
        running.signal(Signal::INT);
        let ended = running.end().expect(5);
        assert!(ended.stdout.contains("PAUSED"), "{}", ended.stdout);
        self.goes_on(&home);
    }

    pub fn a_windlass_that_is_killed_repeats_nothing(&self) {
        let home = self.interrupted();
        let mut running = self.run(&home, "test -f go.txt").start();
        running.wait_for(|line| line.contains("I begin."));
        wait_for_process(&home, "sleep 3.14");
        running.signal(Signal::KILL);
        assert!(running.end_unread().was_killed());
        none_left(&home);
        self.goes_on(&home);
    }

    fn interrupted(&self) -> Home {
        let then = "    - when: { request: 'You were interrupted|interrupted: the agent was stopped' }\n      reply: I go on from there.\n      repeat: forever\n";
        self.home(LONG, then)
    }

    fn goes_on(&self, home: &Home) {
        none_left(home);
        home.write("go.txt", "");
        let ended = self.resume(home).run().expect(0);
        assert!(ended.stdout.contains("I go on from there.") && ended.stdout.contains("verified"), "{}", ended.stdout);
        let story = read(home);
        let started = story.of("tool.started").filter(|record| record["data"]["tool"] == "bash");
        assert_eq!(started.count(), 1, "what may have happened is not done again");
        let resumed = story.of("runner.noted").nth(1).expect("a second launch");
        assert!(resumed["data"]["resumes"].is_string(), "{resumed}");
        none_left(home);
    }
}

fn folder() -> String {
    agents().to_str().expect("a plain path").to_owned()
}

/// The tools that were asked for.
fn proposed(records: &[Value]) -> Vec<&str> {
    let proposed = records.iter().filter(|record| record["type"] == "call.proposed");
    proposed.filter_map(|record| record["data"]["tool"].as_str()).collect()
}

/// Every scene as a test of its own.
macro_rules! scenes {
    ($actor:expr) => {
        #[test]
        fn a_task_runs_to_a_verified_result() {
            $actor.a_task_runs_to_a_verified_result();
        }

        #[test]
        fn a_person_says_yes_and_it_is_done_once() {
            $actor.a_person_says_yes_and_it_is_done_once();
        }

        #[test]
        fn a_person_says_no_and_it_is_told() {
            $actor.a_person_says_no_and_it_is_told();
        }

        #[test]
        fn it_is_interrupted_and_goes_on() {
            $actor.it_is_interrupted_and_goes_on();
        }

        #[test]
        fn a_windlass_that_is_killed_repeats_nothing() {
            $actor.a_windlass_that_is_killed_repeats_nothing();
        }
    };
}

pub(super) use scenes;
