//! What is measured, one file each. A measurement returns values; the report turns them into a table.

pub mod agents;
pub mod children;
pub mod commits;
pub mod floor;
pub mod gateway;
pub mod graph_shapes;
pub mod graphs;
pub mod law;
pub mod long;
pub mod parked;
pub mod plan_documents;
pub mod plans;
pub mod queues;
pub mod sandboxes;
pub mod start;
pub mod steps;
pub mod ways;
pub mod worktrees;
