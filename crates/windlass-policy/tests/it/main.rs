//! The law from outside: what must never come through redaction, what a token is worth, what a command is taken for, what
//! gates say. Every attack stands beside its benign twin, and every refusal beside what is accepted.

mod approve;
mod approve_bytes;
mod approve_machine;
mod bash;
mod gate;
mod head;
mod known;
mod ordinary;
mod risk;
mod risk_properties;
mod risk_table;
mod seed_000_11_2;
mod shapes;
mod streaming;
mod surface;
mod taint;
mod texts;
mod visible;
