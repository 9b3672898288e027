//! Skills (seed 000 §10): folders of instructions in the Agent Skills format, a `SKILL.md` with front matter and whatever it
//! refers to beside it. A `Library` finds them (the user's own, the workspace's, the shipped ones), a `Shelf` keeps those
//! that a task was offered, so that nobody changes them under way, and a `SkillSet` is what one execution can read.
//!
//! Nothing in a skill is run or obeyed here: its words are the model's to follow, its scripts the sandbox's to run.

mod library;
mod manifest;
mod set;
mod shelf;
mod shipped;
mod skill;

pub use library::{Bad, Found, Library, Source, Sources};
pub use set::{INSIDE, Offered, SkillSet};
pub use shelf::Shelf;
pub use shipped::shipped;
pub use skill::{Skill, SkillFile, check_folder};
