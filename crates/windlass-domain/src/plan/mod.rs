//! Plans (contracts §1): what is to be done, as items that depend on each other. Here are only the values; `windlass-plan` reads
//! them out of documents, and the engine carries them out as atoms.

mod cron;
mod item;
mod lives;
mod local_time;
mod same;
mod words;
mod work;

pub use cron::{Cron, NotCron};
pub use item::{Briefing, Item, ItemKind, Plan, PlanBudget, Touches};
pub use local_time::{Offsets, Shown};
pub use words::{AtomId, Escalation, Handling, InteractionMode, NotAnAtomId, OnFailure, OnStuck, Schedule, Trouble};
pub use work::{handling, skills, told, touches};
