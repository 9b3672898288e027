//! What the tests stand on: a home for a user, the program as they start it, a ledger outside of it, the journal as it
//! prints it, and a look at what still runs.

mod asking;
mod dice;
mod home;
mod journal;
mod ledger;
mod processes;
mod program;
mod shown;
mod terminal;

pub use asking::{Answer, Listening, ask, ask_raw, connect};
pub use dice::Dice;
pub use home::{Home, collect};
pub use journal::{CallKey, Story, read};
pub use ledger::Ledger;
pub use processes::{none_left, peak_kb, wait_for_process};
pub use program::{Ended, Program, Running};
pub use shown::{shown, shown_but_tokens};
pub use terminal::Terminal;
