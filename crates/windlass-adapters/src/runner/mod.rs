//! Carrying a foreign agent's execution: its process, its frames, its model and its permissions, over the `Host`.

mod back_channel;
mod doubt;
mod ending;
mod foreign;
mod framing;
mod home;
mod judging;
mod markers;
mod meter;
mod naming;
mod opening;
mod pictures;
mod probe;
mod proposals;
mod screen_markers;
mod talk;
mod tally;
mod terminal;
mod tools;
mod typing;
mod versions;

pub use foreign::{Briefed, Briefing, ForeignRunner, Installed, Means, Patience};
pub use markers::{Marker, Markers};
pub use probe::{Finding, ModelSeen, PROBE_PROMPT, ProbeEnd, Probed};
pub use terminal::Screens;
pub use versions::{Key as InstalledAs, Versions, ask_version};
