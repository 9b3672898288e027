//! The one way there is: from the database of a data directory to a PostgreSQL.

use std::path::Path;
use std::sync::Arc;

use windlass_domain::Runtime;

use crate::error::Error;
use crate::moving::source::Source;
use crate::moving::target;
use crate::owner::OwnerLocks;
use crate::postgres;

/// What was moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moved {
    pub events: u64,
    pub messages: u64,
    pub blobs: u64,
}

/// Moves the database of a data directory, whose file is then called `windlass.db.moved`, so that nobody goes on with it by
/// mistake. Refused while a process works there.
pub async fn sqlite_to_postgres(
    data_dir: &Path,
    locks: &OwnerLocks,
    target: postgres::Options,
    runtime: Arc<dyn Runtime>,
) -> Result<Moved, Error> {
    let source = Source::open(data_dir, locks)?;
    let (source, moved) = target::fill(source, &target, &runtime).await?;
    source.retire()?;
    Ok(moved)
}
