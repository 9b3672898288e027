//! Redis streams with a real Redis, started by the tests themselves, and the real program.

mod encrypted;
mod hostile;
mod lists;
mod order;
mod outage;
mod server;
mod streams;
mod triggers;
