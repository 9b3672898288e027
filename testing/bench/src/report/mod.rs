//! From measurements to the page: which number stands beside which, and whether an aim was met. One file for each table.

mod agents;
mod children;
mod commits;
mod console;
mod findings;
mod foreign;
mod gateway;
mod graphs;
mod law;
mod long;
mod page;
mod parked;
mod peers;
mod plans;
mod queues;
mod sandboxes;
mod service;
mod start;
mod steps;
mod storage;
mod terminals;
mod ways;
mod worktrees;

pub use findings::{Beside, Findings, Growth};
pub use page::page;
