//! A PostgreSQL server of a test's own, from the machine's package: made in a temporary folder, listening on a socket there and
//! nowhere else, gone with the test. `scripts/setup postgres` installs the package.

mod programs;
mod server;

pub use server::{Encrypted, Server};
