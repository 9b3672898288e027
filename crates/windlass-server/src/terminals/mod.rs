//! Terminals for those who are elsewhere. A terminal is some process's of this machine, this one or another, which shows it over a socket of
//! the data directory (`windlass_terminal`); `upgrade` makes a WebSocket of a request, and `watch` stands between the two. What is shown is
//! what the emulator shows, never what a program printed, and of what passes while somebody is slow they see the last: nobody who looks on
//! holds up a terminal or makes it keep anything for them.

mod attached;
mod end;
mod look;
mod places;
mod recording;
mod upgrade;
mod watch;

pub use attached::attach;
pub use look::{look, names};
pub use places::TerminalPlaces;
pub use recording::{recorded, recording, recordings};
pub use upgrade::{Upgrading, is_upgrade, offered, upgrade};
pub use watch::{Looker, watch};
