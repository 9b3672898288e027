//! The crate from outside: providers against servers that misbehave, the rehearsal against the wires, and, when
//! `WINDLASS_REAL_MODEL_URL` names one, a model server that nobody here wrote.

mod context_service;
mod deadlines;
mod embeddings;
mod gateway;
mod hostile;
mod misbehaving;
mod pictures;
mod prefix;
mod real_model;
mod rehearsal;
mod retries;
mod served;
mod support;
mod thoughts;
