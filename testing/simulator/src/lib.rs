//! A world in which processes die at any instant, from a seed. Everything of the product runs here as it is (engine, loop,
//! tools, SQL, snapshots); only what the outside brings is stood in for: time, tasks and chance (`Simulation`), the
//! sandbox (`ScriptedSandboxes`), the model (a rehearsal). Every call across a port passes a `Fuse`; where it burns, the
//! process is dead, and another takes over.
//!
//! A *scenario* is what is asked and what the model answers; a *plan* says which process dies or stalls at which call; a
//! *history* is what then happened, and `examine` says what is wrong with it. The same scenario, seed and plan give the
//! same history, byte for byte.
//!
//! Not simulated: the disk (the store's own tests cut its power), the operating system's processes (the binary's tests
//! kill real ones), and the network.

mod dice;
mod executor;
mod fuse;
mod process;
mod timer;

pub use dice::Dice;
pub use executor::{Happening, ProcessId, Simulation};
pub use fuse::{Fate, Fuse, Point, Side};
pub use process::Process;
