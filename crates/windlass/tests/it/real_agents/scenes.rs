//! What every agent has to go through, whatever its own tools are called.

use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::Value;

use crate::cli::cards::{approve, card, is_there};
use crate::support::{Ended, Home, Program, none_left, read, wait_for_process};

/// How an agent is made to run a command.
pub struct Actor {
    pub agent: &'static str,
    /// A call in a script, with `COMMAND` in the place of the command.
    pub command: &'static str,
    /// The same, in the folder `sub` where such a call can say so.
    pub below: &'static str,
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
        // Whether it has our tools is seen at our own end.
        let has_tools = story.of("observation.recorded").any(|record| record["data"]["observed"] == "equipped");
        assert_eq!(noted["data"]["mcp"], has_tools, "{noted}");
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

    /// The review found it: a person was shown one place, and the command ran in another.
    pub fn a_command_runs_where_its_question_said(&self) {
        let there = self.call("mkdir -p sub; cd sub");
        let below = self.below.replace("COMMAND", "pwd > /workspace/where.txt");
        let home = Home::playing(&format!(
            "version: 1\ntracks:\n  default:\n    - {{ reply: I go there., calls: [ {there} ] }}\n    \
             - {{ reply: Where am I?, calls: [ {below} ] }}\n    - {{ reply: Done., repeat: forever }}\n"
        ));
        self.run(&home, "test -s where.txt").run().expect(0);
        let story = read(&home);
        let asked =
            story.of("call.proposed").filter(|record| record["data"]["tool"] == "bash").last().expect("a question");
        let shown = asked["data"]["arguments"]["cwd"].as_str().unwrap_or_default();
        let shown = std::path::Path::new("/workspace").join(shown);
        assert_eq!(std::path::Path::new(home.read("where.txt").trim()), shown.as_path(), "{asked}");
        let is_below = self.below.contains("/workspace/sub");
        assert_eq!(shown.ends_with("sub"), is_below, "{asked}");
    }

    /// The old conversation is known to whoever goes on with it, and the old execution stays as it is.
    pub fn it_is_forked(&self) {
        let then = "    - when: { request: '(?s)WELL-DONE.*Go left' }\n      reply: I know what was done, and go left.\n      repeat: forever\n";
        let call = self.call("echo there > there.txt; echo WELL-DONE");
        let home = Home::playing(&format!(
            "version: 1\ntracks:\n  default:\n    - calls: [ {call} ]\n{then}    - when: {{ last_result: WELL-DONE }}\n      reply: It is done.\n      repeat: forever\n",
        ));
        self.run(&home, "test -f there.txt").run().expect(0);
        let old = read(&home);
        let execution = old.of("journal.header").next().expect("a header")["data"]["execution_id"].clone();
        let execution = execution.as_str().expect("an id");
        let fork = home.windlass(&["fork", execution, "Go left", "--json"]).env("WINDLASS_AGENTS", &folder());
        let result = fork.run().expect(0).result();
        assert_eq!(result["final_message"], "I know what was done, and go left.", "{result}");
        let story = read(&home);
        let forked = story.of("execution.forked").next().expect("where it comes from");
        assert_eq!(forked["data"]["from"]["execution_id"], execution, "{forked}");
        let session = |story: &crate::support::Story| {
            let mut named = story.of("observation.recorded").filter(|record| record["data"]["observed"] == "session");
            named.next().map(|record| record["data"]["session_id"].clone())
        };
        assert!(session(&story).is_some() && session(&story) != session(&old), "a conversation of its own");
        assert_eq!(proposed(&story.records), ["launch_agent"], "nothing was done again");
        none_left(&home);
    }

    /// What an agent could have put there before it was stopped, `plant` puts there: either makes `planted.txt`, or has what a person declined done
    /// without another question.
    pub fn what_was_left_in_its_home_is_not_obeyed(&self, plant: impl FnOnce(&Path)) {
        let call = self.call(HIGH);
        let then = format!(
            "    - when: {{ request: a person declined it }}\n      reply: All the same.\n      calls: [ {call} ]\n    - {{ reply: Then I leave it., repeat: forever }}\n"
        );
        let home = self.home(HIGH, &then);
        self.run(&home, "test ! -f pushed.txt").run().expect(3);
        plant(&Self::home_of(&home));
        let ended = self.goes_on_unasked(&home);
        let asked = read(&home).of("call.proposed").filter(|record| record["data"]["tool"] == "bash").count();
        assert!(asked == 2 && !is_there(&home, "pushed.txt"), "it asked {asked} times: {}", ended.stdout);
        assert!(!is_there(&home, "planted.txt"), "{}", ended.stdout);
        none_left(&home);
    }

    /// Stopped before something that a person has to be asked about.
    pub fn held(&self) -> Home {
        let home = self.home(HIGH, "");
        self.run(&home, "test ! -f pushed.txt").run().expect(3);
        home
    }

    /// Where its conversation is.
    pub fn home_of(home: &Home) -> PathBuf {
        let execution = read(home).of("journal.header").next().expect("a header")["data"]["execution_id"].clone();
        home.data().join("homes").join(execution.as_str().expect("an id"))
    }

    /// However that ends.
    pub fn goes_on_unasked(&self, home: &Home) -> Ended {
        home.windlass(&["deny", &card(home)]).run().expect(0);
        self.resume(home).run()
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
        fn a_command_runs_where_its_question_said() {
            $actor.a_command_runs_where_its_question_said();
        }

        #[test]
        fn it_is_interrupted_and_goes_on() {
            $actor.it_is_interrupted_and_goes_on();
        }

        #[test]
        fn it_is_forked() {
            $actor.it_is_forked();
        }

        #[test]
        fn a_windlass_that_is_killed_repeats_nothing() {
            $actor.a_windlass_that_is_killed_repeats_nothing();
        }
    };
}

pub(super) use scenes;
