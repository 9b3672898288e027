//! How risky a tool call is (seed 000 §11), judged on what will run and not on how it is spelt: a command is parsed
//! (`shell`), wrappers are taken off until a program is left (`unwrap`), and programs, flags, paths and small languages
//! (`sed`, `awk`, `git`) are looked up in a table that an operator can change (`table`). What cannot be read is high. This is
//! no wall; the sandbox is.

mod assess;
mod awk;
mod flags;
mod git;
mod level;
mod paths;
mod program;
mod sed;
mod shell;
mod table;
mod unwrap;

pub use assess::{assess_argv, assess_call, assess_command};
pub use level::{Argv, Risk};
pub use paths::Place;
pub use table::{BadTable, Table};
pub use windlass_domain::risk::Level;
