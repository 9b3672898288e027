//! The PostgreSQL provider: one database that processes on many machines share. One task of each process writes; it gathers
//! the commits that arrive while a transaction is under way into the next one. Transactions of all processes take turns under
//! one lock (`ledger` says why). Reads go to a few connections of their own. Wake-ups travel by `NOTIFY`. A connection that is
//! lost is made anew, and what was under way is done again or, if it had happened, not: callers wait, and after a while are
//! told.

mod address;
mod apply;
mod blob_parts;
mod codec;
mod deliver;
mod failure;
mod ground;
mod hints;
mod in_order;
mod ledger;
mod levels;
mod listener;
mod migrate;
mod options;
mod patience;
mod provider;
mod queue_reads;
mod readers;
mod reads;
mod session;
mod step;
mod sweep;
mod tls;
mod writer;

pub use address::{Address, BadAddress};
pub(crate) use blob_parts::PART;
pub(crate) use codec::written;
pub(crate) use failure::Failure;
pub(crate) use ledger::LOCK;
pub(crate) use migrate::prepared_session;
pub use options::Options;
pub use provider::PostgresStore;
pub(crate) use session::Session;
