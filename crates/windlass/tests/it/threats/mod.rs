//! Attacks as they were seen in the wild, tried on the real program in real sandboxes. Each has three parts: the attack, which
//! comes to nothing and leaves one audit event; the same attack with the one defence concerned taken away by the operator,
//! which must succeed, or the first part proves nothing; and a harmless twin, which nobody is asked about.

mod answers;
mod bounds;
mod commands;
mod egress;
mod environment;
mod hidden;
mod reader;
mod trial;
mod trust;
