//! What is true of PostgreSQL: the suite of every provider, and what only a server can do to a store. Each test has a server of
//! its own; `make test-postgres` runs them.

mod blobs;
mod conformance;
mod faults;
mod house;
mod killed;
mod model;
mod moving;
mod opening;
mod processes;
mod proxy;
mod tls;
mod wake_ups;
