//! The agents' own screens: they come up with the task, ask before they act, are answered by whoever sits there, hear what is typed, and are quit, end
//! their turn by saying so, or go on with their own conversation after Windlass was killed.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;

use super::scenes::agents;
use crate::cli::screens::{task, wait_for_deliveries};
use crate::support::{Home, Terminal, none_left, read};

/// What it takes to use one.
struct Screen {
    agent: &'static str,
    /// How its model makes the file `x`.
    call: &'static str,
    asks: &'static str,
    /// The tool of ours by which its model says that it is done. Who has none prints markers, which no script can know beforehand: it is quit.
    claim: Option<&'static str>,
    quit: &'static str,
}

const SAID: &str = "The file x is there now.";
const TYPED: &str = "say that you are done";
/// It may be heard in the midst of a turn, or after it.
const SENT: &str = "how far are you?";
const ANSWERED: &str = "Nothing more.";
/// What they all understand, and what means nothing where nothing is asked.
const YES: &str = "\r";
/// They all understand that, too.
const NO: &str = "\u{1b}";
const WENT_ON: &str = "I go on from there.";
/// Whose conversations have the name that they were given.
const NAMED_BY_US: [&str; 3] = ["claude-code", "copilot", "pi"];

impl Screen {
    fn home(&self) -> Home {
        let claim = self.claim.map(|tool| format!("{{ tool: {tool}, args: {{ summary: all of it }} }}"));
        let claim = claim.unwrap_or_default();
        Home::playing(&format!(
            "version: 1\ntracks:\n  default:\n    - {{ reply: I make it., calls: [ {call} ] }}\n    \
             - {{ when: {{ request: '{SENT}' }}, reply: {ANSWERED} }}\n    \
             - {{ when: {{ request: '{TYPED}' }}, reply: I say it., calls: [ {claim} ] }}\n    \
             - {{ when: {{ request: '(?s)You were interrupted.*{TYPED}' }}, reply: I say it., calls: [ {claim} ] }}\n    \
             - {{ when: {{ request: '{SENT}' }}, reply: {ANSWERED} }}\n    \
             - {{ when: {{ request: You were interrupted }}, reply: {WENT_ON} }}\n    - {{ reply: {SAID}, repeat: forever }}\n",
            call = self.call
        ))
    }

    fn words(&self, home: &Home) -> String {
        let script = home.script();
        format!(
            "run 'make the file x' --agent {} --terminal --rehearsal {} --base-case 'command: test -f x' --max-attempts 1",
            self.agent,
            script.display()
        )
    }

    fn at_a_terminal(home: &Home, words: &str) -> Terminal {
        let agents = agents();
        let variables = format!("stty rows 36 cols 110; WINDLASS_AGENTS={}", agents.display());
        let mut terminal = Terminal::start_with(home, &variables, words);
        terminal.types("go\n");
        terminal
    }

    fn says_yes(&self, home: &Home, terminal: &mut Terminal, file: &str) {
        terminal.wait_for(self.asks);
        Self::presses_until(home, terminal, file);
    }

    /// Until it is heard, which makes this file: some take no key in the first moment after they have asked.
    fn presses_until(home: &Home, terminal: &mut Terminal, file: &str) {
        loop {
            terminal.types(YES);
            if soon_there(&home.workspace().join(file)) {
                return;
            }
        }
    }

    /// What is typed is there before it is sent off.
    fn enters(terminal: &mut Terminal, words: &str) {
        terminal.types(words);
        terminal.wait_for(words);
        terminal.types("\r");
    }

    fn takes_the_task_asks_acts_and_is_quit(&self) {
        let home = self.home();
        let mut terminal = Self::at_a_terminal(&home, &self.words(&home));
        terminal.wait_for("make the file x");
        terminal.wait_for(self.asks);
        // Another one sees the same, and leaves.
        let mut other = Self::at_a_terminal(&home, "attach");
        other.wait_for(self.asks);
        other.types("\u{1d}\u{1d}");
        let (code, shown) = other.end();
        assert_eq!(code, Some(0), "{shown}");
        assert!(!home.workspace().join("x").exists(), "it asks first");
        Self::presses_until(&home, &mut terminal, "x");
        terminal.wait_for(SAID);
        Self::enters(&mut terminal, self.quit);
        let (code, shown) = terminal.end();
        assert_eq!(code, Some(0), "{shown}");
        assert!(shown.contains("COMPLETED, verified") && shown.contains("it exited with 0"), "{shown}");
        none_left(&home);
    }

    fn hears_what_is_typed_and_ends_its_turn(&self) {
        let home = self.home();
        let mut terminal = Self::at_a_terminal(&home, &self.words(&home));
        self.says_yes(&home, &mut terminal, "x");
        terminal.wait_for(SAID);
        self.says_that_it_is_done(terminal);
        none_left(&home);
    }

    fn says_that_it_is_done(&self, mut terminal: Terminal) {
        Self::enters(&mut terminal, TYPED);
        if self.claim.is_none() {
            terminal.wait_for("I say it.");
            Self::enters(&mut terminal, self.quit);
        }
        let (code, shown) = terminal.end();
        assert_eq!(code, Some(0), "{shown}");
        let said = if self.claim.is_some() { "│ all of it" } else { "I say it." };
        assert!(shown.contains("COMPLETED, verified") && shown.contains(said), "{shown}");
    }

    /// By whoever sits there: nothing is done, and it goes on with what they say.
    fn is_told_no(&self) {
        let home = self.home();
        let mut terminal = Self::at_a_terminal(&home, &self.words(&home));
        terminal.wait_for(self.asks);
        // It is typed in once nothing is asked any more. By the time that it is put off, keys are heard, which some are not in the first moment.
        home.windlass(&["send", &task(&home), "go on otherwise"]).run().expect(0);
        wait_for_deliveries(&home, &["deferred"]);
        terminal.types(NO);
        wait_for_deliveries(&home, &["deferred", "delivered"]);
        terminal.wait_for(SAID);
        assert!(!home.workspace().join("x").exists(), "nobody said yes");
        terminal.types("\u{1d}\u{1d}");
        home.windlass(&["cancel", &task(&home)]).run().expect(0);
        terminal.end();
        none_left(&home);
    }

    /// Enter would say yes to what it asks.
    fn hears_no_words_while_it_asks(&self) {
        let home = self.home();
        let mut terminal = Self::at_a_terminal(&home, &self.words(&home));
        terminal.wait_for(self.asks);
        let sent = home.windlass(&["send", &task(&home), SENT]).run();
        sent.expect(0);
        wait_for_deliveries(&home, &["deferred"]);
        assert!(!home.workspace().join("x").exists(), "nobody said yes");
        Self::presses_until(&home, &mut terminal, "x");
        wait_for_deliveries(&home, &["deferred", "delivered"]);
        terminal.wait_for(ANSWERED);
        Self::enters(&mut terminal, self.quit);
        let (code, shown) = terminal.end();
        assert_eq!(code, Some(0), "{shown}");
        none_left(&home);
    }

    fn is_interrupted_while_it_asks(&self) {
        let home = self.home();
        let mut terminal = Self::at_a_terminal(&home, &self.words(&home));
        terminal.wait_for(self.asks);
        home.windlass(&["send", &task(&home), "--kind", "interrupt"]).run().expect(0);
        wait_for_deliveries(&home, &["delivered"]);
        // It waits for what is said next, and has done nothing.
        home.windlass(&["send", &task(&home), "go on otherwise"]).run().expect(0);
        terminal.wait_for(SAID);
        assert!(!home.workspace().join("x").exists(), "nobody said yes");
        terminal.types("\u{1d}\u{1d}");
        home.windlass(&["cancel", &task(&home)]).run().expect(0);
        terminal.end();
        none_left(&home);
    }

    fn goes_on_with_its_own_conversation_after_a_kill(&self) {
        let home = self.home();
        let (agents, script) = (agents(), home.script());
        let words = ["run", "make the file x", "--agent", self.agent, "--terminal", "--json", "--max-attempts", "1"];
        let words = [&words[..], &["--base-case", "command: test -f x", "--rehearsal"]].concat();
        let words = [&words[..], &[script.to_str().expect("a plain path")]].concat();
        let running = home.windlass(&words).env("WINDLASS_AGENTS", agents.to_str().expect("a plain path"));
        let mut running = running.start();
        running.wait_for_record("runner.noted");
        // The record that it runs is there a moment before its name is.
        while fs::read_dir(home.data().join("terminals")).map_or(0, Iterator::count) == 0 {
            std::thread::yield_now();
        }
        let mut viewer = Self::at_a_terminal(&home, "attach");
        self.says_yes(&home, &mut viewer, "x");
        viewer.wait_for(SAID);
        // Its name is on record at the next look at its screen; of the others it is found in their homes.
        if NAMED_BY_US.contains(&self.agent) {
            running.wait_for(|line| line.contains("\"observed\":\"session\""));
        }
        running.signal(Signal::KILL);
        assert!(running.end_unread().was_killed());
        viewer.end();
        none_left(&home);
        let mut resumed = Self::at_a_terminal(&home, "resume");
        resumed.wait_for(WENT_ON);
        self.says_that_it_is_done(resumed);
        let story = read(&home);
        let resumes = story.of("runner.noted").nth(1).expect("a second launch")["data"]["resumes"].clone();
        assert!(resumes.is_string(), "{resumes}");
        none_left(&home);
    }
}

/// Within half a second.
fn soon_there(file: &Path) -> bool {
    (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(5));
        file.exists()
    })
}

/// Every scene as a test of its own.
macro_rules! scenes {
    ($agent:ident, $screen:expr) => {
        mod $agent {
            use super::*;

            const SCREEN: Screen = $screen;

            #[test]
            fn takes_the_task_asks_acts_and_is_quit() {
                SCREEN.takes_the_task_asks_acts_and_is_quit();
            }

            #[test]
            fn hears_what_is_typed_and_ends_its_turn() {
                SCREEN.hears_what_is_typed_and_ends_its_turn();
            }

            #[test]
            fn hears_no_words_while_it_asks() {
                SCREEN.hears_no_words_while_it_asks();
            }

            #[test]
            fn is_told_no() {
                SCREEN.is_told_no();
            }

            #[test]
            fn is_interrupted_while_it_asks() {
                SCREEN.is_interrupted_while_it_asks();
            }

            #[test]
            fn goes_on_with_its_own_conversation_after_a_kill() {
                SCREEN.goes_on_with_its_own_conversation_after_a_kill();
            }
        }
    };
}

scenes!(
    claude_code,
    Screen {
        agent: "claude-code",
        call: r#"{ tool: Write, args: { file_path: /workspace/x, content: "hi\n" } }"#,
        asks: "Do you want to create",
        claim: Some("mcp__windlass__completed_claim"),
        quit: "/exit",
    }
);

scenes!(
    codex,
    Screen {
        agent: "codex",
        call: r#"{ tool: exec_command, args: { cmd: "touch x" } }"#,
        asks: "Would you like to run the following command?",
        claim: Some("mcp__windlass__completed_claim"),
        quit: "/quit",
    }
);

scenes!(
    copilot,
    Screen {
        agent: "copilot",
        call: r#"{ tool: bash, args: { command: "touch x", description: "to make it" } }"#,
        asks: "Do you want to run this command?",
        claim: Some("windlass-completed_claim"),
        quit: "/exit",
    }
);

scenes!(
    opencode,
    Screen {
        agent: "opencode",
        call: r#"{ tool: bash, args: { command: "touch x", description: "to make it" } }"#,
        asks: "Permission required",
        claim: Some("windlass_completed_claim"),
        quit: "/exit",
    }
);

scenes!(
    pi,
    Screen {
        agent: "pi",
        call: r#"{ tool: bash, args: { command: "touch x" } }"#,
        asks: "Allow bash?",
        claim: None,
        quit: "/quit",
    }
);
