//! The real coding agents under Windlass (`make test-agents`), with scripts behind the gateway instead of models: a task runs to a verified
//! result, a person says yes or no, the work is interrupted and goes on, and a killed Windlass repeats nothing; on its own screen, too.

mod claude_code;
mod codex;
mod copilot;
mod opencode;
mod pi;
mod scenes;
mod shared;
mod talking;
mod terminal;
