//! The SQLite provider: one file in WAL mode, every commit synced before it is acknowledged. One thread writes, and gathers
//! the commits that arrive while it does so into one transaction, a savepoint each, one sync for all. A second thread moves
//! the log into the database file, so that no commit waits for that. Reads go to a few connections of their own. A process
//! that does one thing at a time does all this on the caller's own poll instead; in memory that is always so, with no
//! thread and nothing to wait for: that is what the simulator runs.

mod apply;
mod blob_files;
mod blocking;
mod chains;
mod checkpoint;
mod codec;
mod connection;
mod create;
mod database;
mod deliver;
mod direct;
mod elsewhere;
mod failure;
mod halt;
mod ledger;
mod levels;
mod migrate;
mod options;
mod provider;
mod queue_reads;
mod readers;
mod reads;
mod writer;

pub(crate) use codec::digest;
pub(crate) use database::Database;
pub use database::copy_database;
pub use halt::Halt;
pub use options::{Options, Synchronous};
pub use provider::SqliteStore;
