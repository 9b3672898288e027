//! A world in which processes die at any instant, from a seed. Everything of the product runs here as it is (engine, loop,
//! tools, SQL, snapshots); only what the outside brings is stood in for: time, tasks and chance (`Simulation`), the
//! sandbox (`ScriptedSandboxes`), the model (a rehearsal). Every call across a port passes a `Fuse`; where it burns, the
//! process is dead, and another takes over.
//!
//! A *scenario* is what is asked and what the model answers; a *plan* says which process dies or stalls at which call; a
//! *history* is what then happened, and `examine` says what is wrong with it. The same scenario, seed and plan give the
//! same history, byte for byte.
//!
//! That is one task of one tenant, and every death it can die. `queues` is a second world, without an engine: many workers and
//! tenants at the real queues, and misfortune of every kind. `engines` is a third: whole engines at work for several tenants,
//! with people who answer, pause and cancel, and the same misfortunes.
//!
//! Not simulated: the disk (the store's own tests cut its power), the operating system's processes (the binary's tests
//! kill real ones), and the network.

mod careless;
mod commit_log;
mod curtain;
mod dice;
pub mod eight_hours;
mod engine_passage;
mod engines;
mod equipment;
mod examine;
mod executor;
mod fuse;
mod history;
mod language;
mod ledger;
mod life;
mod model;
mod operator;
mod plan;
mod plant;
mod process;
mod queues;
mod sandbox;
mod scenario;
mod shrink;
mod store;
mod story;
mod timer;
mod witness;
mod world;

pub use commit_log::{CommitLog, LoggedCommit, LoggedRow};
pub use curtain::Curtain;
pub use dice::Dice;
pub use engines::{
    EngineAct, EngineBug, EngineHistory, EnginePlan, EngineRecord, EngineWhat, engine_story, examine_engines,
    play_engines,
};
pub use examine::examine;
pub use executor::{Happening, ProcessId, Simulation};
pub use fuse::{Fate, Fortune, Fuse, Point, Side};
pub use history::{Burnt, CameTo, History, play};
pub use ledger::{Effect, Entry, Ledger};
pub use operator::Act;
pub use plan::{Hints, Plan, Proof};
pub use plant::Plant;
pub use process::{BEGINNING, Chance, Process};
pub use queues::{
    Act as QueueAct, Blow, Bug, QueueHistory, QueuePlan, Record, Request, Return, What, Work, examine_queues,
    play_queues, queue_story,
};
pub use scenario::{Ends, Scenario};
pub use shrink::{Plot, shrink};
pub use story::story;
pub use witness::{Accepted, Ending, Testimony};
