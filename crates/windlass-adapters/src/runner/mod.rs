//! Carrying a foreign agent's execution: its process, its frames, its model and its permissions, over the `Host`.

mod back_channel;
mod foreign;
mod framing;
mod judging;
mod markers;
mod meter;
mod opening;
mod probe;
mod proposals;
mod talk;
mod versions;

pub use foreign::{Briefed, Briefing, ForeignRunner, Installed, Patience};
pub use markers::{Marker, Markers};
pub use probe::{Finding, ModelSeen, PROBE_PROMPT, ProbeEnd, Probed};
pub use versions::{Key as InstalledAs, Versions, ask_version};
