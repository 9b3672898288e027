//! What the agents of seeds 001 and 004 hand to each other (contracts §7 and §9), read from what a model wrote. A reader takes the one object out of
//! the text, or says what is wrong in words that the model can act on; what is made of a text without one is a rule as well, so
//! that the same words always lead to the same thing. Artifacts that an agent names are claims, never facts.

mod agent_response;
mod change;
mod executor_decision;
mod executor_output;
mod object;
mod probe;
mod route;
mod verifier;
mod worker;

pub use agent_response::{AgentResponse, PlanAction, read_agent_response};
pub use change::{
    WantedBinding, WantedChange, WantedGraph, WantedLimits, WantedObjective, Written, read_wanted_change,
};
pub use executor_decision::{EXECUTOR_DECISION, ExecutorDecision, decision_schema, read_executor_decision};
pub use executor_output::{ExecutorAgentOutput, read_executor_output};
pub use probe::{probe_report, read_probe_report};
pub use route::{InteractionRegister, Route, RouteDecision, read_route_decision};
pub use verifier::VerifierReport;
pub use worker::{SUMMARY_CHARS, WorkerReport, beginning, read_worker_report};
