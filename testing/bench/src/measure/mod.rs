//! What is measured, one file each. A measurement returns values; the report turns them into a table.

pub mod agents;
pub mod children;
pub mod commits;
pub mod floor;
pub mod gateway;
pub mod graph_shapes;
pub mod graphs;
pub mod launches;
pub mod law;
pub mod long;
pub mod observations;
pub mod parked;
pub mod plan_documents;
pub mod plans;
pub mod queues;
pub mod replay;
pub mod sandboxes;
pub mod start;
pub mod steps;
pub mod ways;
pub mod worktrees;
