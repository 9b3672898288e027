//! Adapters against recorded streams of the real programs.

mod json_rpc;
mod launching;
mod notation;
