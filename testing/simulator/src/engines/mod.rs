//! The world of engines: several processes work through one executor queue on tasks of several tenants, people answer cards,
//! pause, cancel and speak, and everybody is killed, stopped, refused and misled while they do. Engine, loop, tools, queues,
//! law and SQL are the product's own; model, sandbox, people, clocks and disks are not.
//!
//! A *job* is what a client wants: an agent that does one *deed* after another, some of which a person must allow first; it asks
//! people, and spawns agents that help it. A *project* is what is carried out by a plan that a person agreed to, in items; one that was agreed on is an
//! *objective*: somebody has it begin, stops it, and redirects it. A *plan* of a history is drawn from a seed; a *history* is what then happened, and `examine` holds the rules that it must keep. The
//! switches in `EngineBug` show that each rule can fail.

mod aligned;
mod bug;
mod draw;
mod draw_objectives;
mod draw_projects;
mod draw_schedules;
mod examine;
mod history;
mod house;
mod job;
mod misfortune;
mod objective;
mod outside;
mod passage;
mod people;
mod plainer;
mod plan;
mod play;
mod project;
mod scene;
mod story;
mod worker;

pub use bug::EngineBug;
pub use examine::examine_engines;
pub use history::{EngineHistory, EngineRecord, EngineWhat};
pub use plan::{Act as EngineAct, EnginePlan};
pub use play::play_engines;
pub use story::engine_story;
