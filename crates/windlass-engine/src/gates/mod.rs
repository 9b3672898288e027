//! What gates need of the world. Their rules are `windlass_policy::gate`'s; here those of a plan's items are found, and a gate's
//! script is run.

mod own;
mod script;

pub use own::{gates_of, own_gates, read_own_gate};
pub use script::{GateScript, run_script};
