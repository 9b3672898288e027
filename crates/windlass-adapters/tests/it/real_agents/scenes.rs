//! What every program must go through, whatever its channel: the scenes differ in the names of its tools only.

use std::fs;

use windlass_adapters::{Adapter, Answer, Dialect, LaunchSpec, Session, Tell};
use windlass_domain::execution::{Failure, TurnEnd};

use super::driver::{Part, Run, Stage};
use crate::launching::SESSION;

/// A program under test.
pub struct Actor {
    pub adapter: &'static dyn Adapter,
    pub dialect: Dialect,
    /// The call by which its model runs `COMMAND`, in the notation of scripts.
    pub command: &'static str,
    /// The call by which it writes `written.txt` in `WORKSPACE`.
    pub change: &'static str,
    pub trap: Trap,
}

/// A file in a workspace that makes a program that trusts it write `TRAPPED` there.
pub struct Trap {
    pub path: &'static str,
    pub content: &'static str,
    /// Undoes what keeps the program from it.
    pub trusting: fn(&mut LaunchSpec),
}

const SCRIPT: &str = "version: 1
tracks:
  talk:
    - reply: First.
    - { reply: Second., repeat: forever }
  work:
    - { reply: A command., calls: [ QUICK ] }
    - { reply: A change., calls: [ CHANGE ] }
    - { when: { request: 'because of the policy' }, reply: I know why. }
    - { reply: Done., repeat: forever }
  long:
    - { reply: Something long., calls: [ LONG ] }
    - { reply: Done., repeat: forever }
  refused:
    - error: { status: 401, times: 100 }
    - reply: Never.
  wrong:
    - error: { status: 400, times: 100 }
    - reply: Never.
";

impl Actor {
    fn stage(&self) -> Stage {
        let quick = self.command.replace("COMMAND", "echo one > one.txt && cat one.txt");
        let long = self.command.replace("COMMAND", "cat /dev/zero > /dev/null");
        Stage::new(&SCRIPT.replace("QUICK", &quick).replace("LONG", &long).replace("CHANGE", self.change))
    }

    fn run(&self, stage: &Stage, track: &str, session: Session<'_>, prompt: &str) -> Run {
        let (adapter, dialect) = (self.adapter, self.dialect);
        stage.run(&Part { adapter, dialect, track, session, prompt, mcp: None })
    }

    pub fn says_something(&self) {
        let stage = self.stage();
        let mut run = self.run(&stage, "talk", Session::New(SESSION), "go");
        let (end, told) = run.turn(&Answer::Allow);
        assert_eq!(end, completed("First."));
        assert_eq!(told, ["said First."]);
    }

    pub fn does_what_is_allowed(&self) {
        let stage = self.stage();
        let mut run = self.run(&stage, "work", Session::New(SESSION), "go");
        let (end, told) = run.turn(&Answer::Allow);
        assert_eq!(end, completed("Done."));
        let asked: Vec<&String> = told.iter().filter(|line| line.starts_with("asked")).collect();
        assert_eq!(asked.len(), 2, "the command and the change are asked about: {told:?}");
        assert!(told.contains(&"did one".to_owned()), "{told:?}");
        assert_eq!(fs::read_to_string(stage.workspace().join("one.txt")).expect("it was run"), "one\n");
        assert_eq!(fs::read_to_string(stage.workspace().join("written.txt")).expect("it was written"), "written\n");
    }

    /// As opposed to one that it refused to itself.
    pub fn says_of_a_command_that_failed_that_it_was_run(&self) {
        let fails = self.command.replace("COMMAND", "touch tried.txt; exit 3");
        let stage = Stage::new(&SCRIPT.replace("QUICK", &fails).replace("LONG", &fails).replace("CHANGE", self.change));
        let mut run = self.run(&stage, "long", Session::New(SESSION), "go");
        let (end, told) = run.turn(&Answer::Allow);
        assert_eq!(end, completed("Done."));
        assert!(stage.workspace().join("tried.txt").exists());
        let at = told.iter().position(|line| line == "ran").unwrap_or_else(|| panic!("{told:?}"));
        assert!(told[at + 1].starts_with("failed"), "{told:?}");
    }

    pub fn does_not_what_is_denied_and_is_told_why(&self) {
        let stage = self.stage();
        let mut run = self.run(&stage, "work", Session::New(SESSION), "go");
        let (end, told) = run.turn(&Answer::Deny { reason: "because of the policy".to_owned() });
        assert_eq!(end, completed("I know why."), "{told:?}");
        assert!(stage.is_untouched());
    }

    pub fn ends_its_turn_when_it_is_held_and_goes_on_when_told(&self) {
        let stage = self.stage();
        let mut run = self.run(&stage, "work", Session::New(SESSION), "go");
        let (end, told) = run.turn(&Answer::Hold { reason: "a person is asked".to_owned() });
        assert_eq!(end, TurnEnd::Interrupted, "{told:?}");
        assert!(stage.is_untouched());
        run.tell(&Tell::Say { text: "it was allowed".to_owned() });
        let (end, _) = run.turn(&Answer::Allow);
        assert_eq!(end, completed("Done."));
        assert!(stage.workspace().join("written.txt").exists());
    }

    pub fn is_interrupted_at_work_and_takes_the_next_message(&self) {
        let stage = self.stage();
        let mut run = self.run(&stage, "long", Session::New(SESSION), "go");
        let request = run.asked().request;
        run.answer(&request, &Answer::Allow);
        run.tell(&Tell::Interrupt);
        let (end, _) = run.turn(&Answer::Allow);
        assert_eq!(end, TurnEnd::Interrupted);
        run.tell(&Tell::Say { text: "next".to_owned() });
        assert_eq!(run.turn(&Answer::Allow).0, completed("Done."));
    }

    pub fn is_interrupted_while_it_asks(&self) {
        let stage = self.stage();
        let mut run = self.run(&stage, "long", Session::New(SESSION), "go");
        let request = run.asked().request;
        run.tell(&Tell::Interrupt);
        assert_eq!(run.turn(&Answer::Allow).0, TurnEnd::Interrupted);
        // Too late, and without effect.
        run.answer(&request, &Answer::Allow);
        run.tell(&Tell::Say { text: "next".to_owned() });
        assert_eq!(run.turn(&Answer::Allow).0, completed("Done."));
    }

    pub fn hears_a_message_while_it_works(&self) {
        let stage = self.stage();
        let mut run = self.run(&stage, "work", Session::New(SESSION), "go");
        let request = run.asked().request;
        run.tell(&Tell::Say { text: "because of the policy".to_owned() });
        run.answer(&request, &Answer::Allow);
        assert_eq!(run.turn(&Answer::Allow).0, completed("I know why."));
    }

    pub fn goes_on_in_a_new_process_after_a_kill(&self) {
        let stage = self.stage();
        let mut run = self.run(&stage, "talk", Session::New(SESSION), "go");
        assert_eq!(run.turn(&Answer::Allow).0, completed("First."));
        let session = run.session.clone();
        drop(run);
        let mut run = self.run(&stage, "talk", Session::Resume(&session), "more");
        let (end, told) = run.turn(&Answer::Allow);
        assert_eq!(end, completed("Second."), "it knows what was said");
        assert_eq!(told, ["said Second."], "and does not say it again");
        assert_eq!(run.session, session);
    }

    pub fn forks(&self) {
        let stage = self.stage();
        let mut run = self.run(&stage, "talk", Session::New(SESSION), "go");
        assert_eq!(run.turn(&Answer::Allow).0, completed("First."));
        let session = run.session.clone();
        drop(run);
        let mut run = self.run(&stage, "talk", Session::Fork(&session), "more");
        assert_eq!(run.turn(&Answer::Allow).0, completed("Second."));
        assert_ne!(run.session, session);
    }

    pub fn says_why_the_model_failed(&self) {
        let stage = self.stage();
        let mut run = self.run(&stage, "refused", Session::New(SESSION), "go");
        let (end, _) = run.turn(&Answer::Allow);
        assert!(matches!(end, TurnEnd::Failed { why: Failure::Login, .. }), "{end:?}");
        drop(run);
        let stage = self.stage();
        let mut run = self.run(&stage, "wrong", Session::New(SESSION), "go");
        let (end, _) = run.turn(&Answer::Allow);
        assert!(matches!(end, TurnEnd::Failed { why: Failure::Model, .. }), "{end:?}");
    }

    pub fn starts_nothing_that_the_workspace_names(&self) {
        assert!(!self.is_trapped(|_| {}));
        assert!(self.is_trapped(self.trap.trusting), "the trap is one");
    }

    fn is_trapped(&self, change: fn(&mut LaunchSpec)) -> bool {
        let stage = self.stage();
        let workspace = stage.workspace();
        let path = workspace.join(self.trap.path);
        fs::create_dir_all(path.parent().expect("below the workspace")).expect("a folder");
        let content = self.trap.content.replace("WORKSPACE", &workspace.display().to_string());
        fs::write(path, content).expect("a file");
        let part = Part { dialect: self.dialect, ..Part::new(self.adapter, "talk") };
        let mut run = stage.run_changed(&part, change);
        assert_eq!(run.turn(&Answer::Allow).0, completed("First."));
        workspace.join("TRAPPED").exists()
    }
}

fn completed(message: &str) -> TurnEnd {
    TurnEnd::Completed { message: message.to_owned() }
}

/// These scenes, each as a test of its own.
macro_rules! scenes {
    ($actor:expr; $($scene:ident)*) => {
        $(
            #[test]
            fn $scene() {
                $actor.$scene();
            }
        )*
    };
    // Those that every program goes through.
    ($actor:expr) => {
        scenes!($actor; says_something does_what_is_allowed says_of_a_command_that_failed_that_it_was_run does_not_what_is_denied_and_is_told_why
            ends_its_turn_when_it_is_held_and_goes_on_when_told is_interrupted_at_work_and_takes_the_next_message
            is_interrupted_while_it_asks hears_a_message_while_it_works goes_on_in_a_new_process_after_a_kill forks
            says_why_the_model_failed starts_nothing_that_the_workspace_names);
    };
}

pub(super) use scenes;
