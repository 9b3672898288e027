//! Gates (contracts §4): deterministic rules at four triggers. A gate file is read (`file`), predicates are evaluated here, and
//! scripts and models are described as requests that the engine carries out and answers (`Evaluation`). The first block
//! decides, the rest still run for the record, and whatever goes wrong blocks. A model only scores; promoted, it only
//! tightens.

mod answer;
mod config;
mod evaluation;
mod file;
mod predicate;
mod sense;
mod subject;
mod vocabulary;

pub use answer::{Answer, Request};
pub use config::{Config, Effect, Must};
pub use evaluation::{Evaluation, Law, Outcome, Record, Rewrite, Step, evaluate};
pub use file::{BadGate, BadGates, Gate, read_gates, risk_gate};
pub use subject::{FileSeen, MAX_TEXT, Subject};
pub use vocabulary::{Escalation, GateType, Lane, Provider, Trigger};
pub use windlass_domain::risk::Ruling as Decision;
