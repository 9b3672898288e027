//! The agents' own screens: they come up with the task, ask before they act, are answered by whoever sits there, and are quit.

use crate::support::{Home, Terminal, none_left};

/// What it takes to use one.
struct Screen {
    agent: &'static str,
    call: &'static str,
    asks: &'static str,
    yes: &'static str,
    quit: &'static str,
}

const SAID: &str = "The file x is there now.";

impl Screen {
    fn home(&self) -> Home {
        Home::playing(&format!(
            "version: 1\ntracks:\n  default:\n    - {{ reply: I make it., calls: [ {} ] }}\n    - {{ reply: {SAID}, repeat: forever }}\n",
            self.call
        ))
    }

    fn at_a_terminal(&self, home: &Home, words: &str) -> Terminal {
        let agents = std::env::var("WINDLASS_AGENTS").expect("`make test-agents` says where they are");
        let mut terminal =
            Terminal::start_with(home, &format!("stty rows 36 cols 110; WINDLASS_AGENTS={agents}"), words);
        terminal.types("go\n");
        terminal
    }

    fn takes_the_task_asks_acts_and_is_quit(&self) {
        let home = self.home();
        let script = home.script();
        let words = format!(
            "run 'make the file x' --agent {} --terminal --rehearsal {} --base-case 'command: test -f x'",
            self.agent,
            script.display()
        );
        let mut terminal = self.at_a_terminal(&home, &words);
        terminal.wait_for("make the file x");
        terminal.wait_for(self.asks);
        // Another one sees the same, and leaves.
        let mut other = self.at_a_terminal(&home, "attach");
        other.wait_for(self.asks);
        other.types("\u{1d}\u{1d}");
        let (code, shown) = other.end();
        assert_eq!(code, Some(0), "{shown}");
        assert!(!home.workspace().join("x").exists(), "it asks first");
        terminal.types(self.yes);
        terminal.wait_for(SAID);
        terminal.types(self.quit);
        terminal.wait_for(self.quit);
        terminal.types("\r");
        let (code, shown) = terminal.end();
        assert_eq!(code, Some(0), "{shown}");
        assert!(shown.contains("COMPLETED, verified"), "{shown}");
        none_left(&home);
    }
}

#[test]
fn claude_code_takes_the_task_asks_acts_and_is_quit() {
    Screen {
        agent: "claude-code",
        call: r#"{ tool: Write, args: { file_path: /workspace/x, content: "hi\n" } }"#,
        asks: "Do you want to create",
        yes: "\r",
        quit: "/exit",
    }
    .takes_the_task_asks_acts_and_is_quit();
}

#[test]
fn codex_takes_the_task_asks_acts_and_is_quit() {
    Screen {
        agent: "codex",
        call: r#"{ tool: exec_command, args: { cmd: "touch x", sandbox_permissions: require_escalated, justification: "to make it" } }"#,
        asks: "Would you like to run the following command?",
        yes: "y",
        quit: "/quit",
    }
    .takes_the_task_asks_acts_and_is_quit();
}

#[test]
fn pi_takes_the_task_asks_acts_and_is_quit() {
    Screen {
        agent: "pi",
        call: r#"{ tool: bash, args: { command: "touch x" } }"#,
        asks: "Allow bash?",
        yes: "\r",
        quit: "/quit",
    }
    .takes_the_task_asks_acts_and_is_quit();
}
