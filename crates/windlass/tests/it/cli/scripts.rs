//! Short scripts that several tests play.

/// Writes a file and is done.
pub const HELLO: &str = r#"
version: 1
tracks:
  default:
    - reply: I will write the file.
      calls: [ { tool: write, args: { path: hello.txt, content: "hi\n" } } ]
      usage: { input: 900, output: 40 }
    - reply: Done.
      usage: { input: 1000, output: 10 }
"#;

/// Never says that it is done.
pub const RESTLESS: &str = r#"
version: 1
tracks:
  default:
    - reply: Once more.
      calls: [ { tool: read, args: { path: notes.txt } } ]
      usage: { input: 900, output: 100 }
      repeat: forever
"#;

/// Begins a command that would take hours; goes on when it has a result.
pub const SLEEPER: &str = r#"
version: 1
tracks:
  default:
    - reply: This takes long.
      calls:
        - tool: bash
          args:
            command: "trap '' TERM; echo begun > ledger; sleep 10000 & sleep 10000; echo ended > ledger"
            timeout_seconds: 3600
      usage: { input: 900, output: 40 }
    - reply: Done without it.
      usage: { input: 1000, output: 10 }
"#;

/// Thinks for an hour, unless it has been told to go on.
pub const THINKER: &str = r#"
version: 1
tracks:
  default:
    - when: { request: "Task resumed by user" }
      reply: Done after all.
      usage: { input: 1000, output: 10 }
    - delay_ms: 3600000
      reply: Too late.
      usage: { input: 1000, output: 10 }
"#;
