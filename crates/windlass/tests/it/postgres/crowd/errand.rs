//! What is asked for: tasks of every kind, each in a folder of its own, where every effect of its agent is a line.

use std::fs;
use std::path::PathBuf;

use crate::postgres::store::on;
use crate::support::{Home, Program};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A few quick steps.
    Quick,
    /// Commands that are likely to be under way when somebody dies.
    Slow,
    /// Needs a yes to one of its commands.
    Asking,
    /// Needs an answer.
    Questioning,
    /// Two items, each in a copy of the folder.
    Planned,
    /// Somebody changes their mind.
    Cancelled,
}

pub const KINDS: [Kind; 6] = [Kind::Quick, Kind::Slow, Kind::Asking, Kind::Questioning, Kind::Planned, Kind::Cancelled];
/// Those in which nobody is asked anything.
pub const UNATTENDED: [Kind; 2] = [Kind::Quick, Kind::Slow];

pub const EFFECTS: &str = "effects.txt";

const QUICK: &str = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: bash, args: { command: "echo effect-1 >> effects.txt" } } ]
      usage: { input: 900, output: 40 }
    - calls: [ { tool: write, args: { path: made.txt, content: "made\n" } } ]
      usage: { input: 900, output: 40 }
    - calls: [ { tool: bash, args: { command: "echo effect-2 >> effects.txt" } } ]
      usage: { input: 900, output: 40 }
    - reply: Done.
      usage: { input: 900, output: 10 }
"#;

const SLOW: &str = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: bash, args: { command: "sleep 0.4; echo effect-1 >> effects.txt; sleep 0.4" } } ]
      usage: { input: 900, output: 40 }
    - delay_ms: 300
      calls: [ { tool: write, args: { path: made.txt, content: "made\n" } } ]
      usage: { input: 900, output: 40 }
    - calls: [ { tool: bash, args: { command: "sleep 0.4; echo effect-2 >> effects.txt; sleep 0.4" } } ]
      usage: { input: 900, output: 40 }
    - calls: [ { tool: bash, args: { command: "echo effect-3 >> effects.txt" } } ]
      usage: { input: 900, output: 40 }
    - reply: Done.
      usage: { input: 900, output: 10 }
"#;

const ASKING: &str = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: bash, args: { command: "rm old.txt; echo effect-1 >> effects.txt" } } ]
      usage: { input: 900, output: 40 }
    - calls: [ { tool: bash, args: { command: "echo effect-2 >> effects.txt" } } ]
      usage: { input: 900, output: 40 }
    - reply: Done.
      usage: { input: 900, output: 10 }
"#;

const QUESTIONING: &str = r#"
version: 1
tracks:
  default:
    - calls: [ { tool: ask_user, args: { question: "Which one?", options: [this, that] } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "User responded to your question: that" }
      calls: [ { tool: bash, args: { command: "echo effect-1 >> effects.txt" } } ]
      usage: { input: 900, output: 40 }
    - reply: Done.
      usage: { input: 900, output: 10 }
"#;

const PLANNED: &str = r#"
version: 1
tracks:
  executor:
    - when: { request: "The first half" }
      calls: [ { tool: write, args: { path: one.txt, content: "one\n" } } ]
      usage: { input: 900, output: 40 }
    - when: { request: "The second half" }
      delay_ms: 200
      calls: [ { tool: write, args: { path: two.txt, content: "two\n" } } ]
      usage: { input: 900, output: 40 }
    - reply: Done.
      usage: { input: 900, output: 10 }
      repeat: forever
"#;

const PLAN: &str = "---
id: halves
type: project
title: Two halves
tasks:
  - {id: one, type: task, title: One, touches: {paths: [one.txt]}, verify: [{file: one.txt}]}
  - {id: two, type: task, title: Two, touches: {paths: [two.txt]}, verify: [{file: two.txt}]}
---
# What to do
## one
The first half.

## two
The second half.
";

impl Kind {
    const fn script(self) -> &'static str {
        match self {
            Self::Quick => QUICK,
            Self::Slow | Self::Cancelled => SLOW,
            Self::Asking => ASKING,
            Self::Questioning => QUESTIONING,
            Self::Planned => PLANNED,
        }
    }
}

/// A task that somebody has submitted.
#[derive(Debug, Clone)]
pub struct Errand {
    pub kind: Kind,
    pub task: String,
    pub folder: PathBuf,
}

impl Errand {
    /// Submits it; whoever has time does it.
    pub fn submit(home: &Home, url: &str, kind: Kind, name: &str) -> Self {
        let folder = home.path().join("work").join(name);
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("old.txt"), "old\n").expect("written");
        // Files of its own: whoever submits beside it writes theirs, and a file that is being written is empty for a moment.
        let script = home.path().join(format!("{name}.yaml"));
        let plan = home.path().join(format!("{name}.md"));
        fs::write(&plan, PLAN).expect("written");
        fs::write(&script, kind.script()).expect("written");
        let text = |path: &PathBuf| path.to_str().expect("a plain path").to_owned();
        let (script, plan) = (text(&script), text(&plan));
        let wanted = if kind == Kind::Planned { &["--plan", &plan][..] } else { &["Do it"] };
        let words = [&["run", "--rehearsal", &script, "--detach", "--json"], wanted].concat();
        let submitted = on(url, home.windlass(&words).inside(&folder)).run().expect(0).result();
        Self { kind, task: submitted["task_id"].as_str().expect("a task").to_owned(), folder }
    }

    pub fn cancel(&self, home: &Home, url: &str) -> Program {
        on(url, home.windlass(&["cancel", &self.task]))
    }
}
