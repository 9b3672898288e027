//! What gates need of the world. Their rules are `windlass_policy::gate`'s; here a gate's script is run.

mod script;

pub use script::{GateScript, run_script};
