//! Planned tasks whose processes are killed: at every commit, one after the other, until one runs clean.

mod crash;
mod errand;
