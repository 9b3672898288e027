//! Adapters against recorded streams of the real programs, against bytes of all kinds, and against the programs themselves.

mod contracts_6;
mod hostile;
mod json_rpc;
mod launch;
mod launching;
mod notation;
mod real_agents;
mod recorded;
