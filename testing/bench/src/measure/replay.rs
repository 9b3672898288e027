//! How long it takes to know again where an execution stands: its journal, read from the store page by page and folded as the engine
//! folds it, against reading the pages and doing nothing with them. In a process of its own, so that what the fold holds can be seen.

#![expect(clippy::disallowed_methods, reason = "a measured part builds its executor and reads the clock")]
#![expect(clippy::print_stdout, reason = "its figures are read from its output")]

use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use windlass_domain::execution::{ExecutionEvent, ExecutionState};
use windlass_domain::{Seq, Tenant};
use windlass_runtime::TokioRuntime;
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{Store, StoredEvent, StreamId};

use crate::arguments::Replay;
use crate::figures::median;
use crate::process::status_kb;

const ROUNDS: usize = 5;
/// As the engine reads them.
const PAGE: usize = 1_000;

/// What it prints when it is done.
#[derive(Debug, Serialize, Deserialize)]
pub struct Figures {
    pub records: usize,
    /// Of the records, as they are kept.
    pub bytes: usize,
    pub fold_ms: f64,
    pub read_ms: f64,
    /// More than before the first fold, with its state in hand.
    pub held_kb: u64,
}

pub fn run(options: &Replay) -> anyhow::Result<()> {
    let executor = windlass_runtime::executor(windlass_runtime::Threads::PerCore)?;
    let runtime = Arc::new(TokioRuntime::new(executor.handle().clone()));
    let store = SqliteStore::open(Options::new(&options.data_dir), runtime)?;
    let figures = executor.block_on(measure(&store, &StreamId::new("execution", options.execution)))?;
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

async fn measure(store: &SqliteStore, stream: &StreamId) -> anyhow::Result<Figures> {
    let resident_kb = || status_kb(std::process::id(), "VmRSS:").unwrap_or_default();
    let (mut records, mut bytes) = (0, 0);
    // What reading alone brings into memory is there before the fold is weighed.
    pages(store, stream, |row| {
        records += 1;
        bytes += row.data.len();
        Ok(())
    })
    .await?;
    let before = resident_kb();
    let first = fold(store, stream).await?;
    let held_kb = resident_kb().saturating_sub(before);
    anyhow::ensure!(first.is_foreign(), "the journal is not one of a foreign agent");
    drop(first);
    let (mut fold_ms, mut read_ms) = (Vec::new(), Vec::new());
    // In turn, so that a busy moment falls on both.
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let state = fold(store, stream).await?;
        fold_ms.push(begun.elapsed().as_secs_f64() * 1e3);
        drop(state);
        let begun = Instant::now();
        pages(store, stream, |_| Ok(())).await?;
        read_ms.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(Figures { records, bytes, fold_ms: median(fold_ms), read_ms: median(read_ms), held_kb })
}

async fn fold(store: &SqliteStore, stream: &StreamId) -> anyhow::Result<ExecutionState> {
    let mut state = ExecutionState::default();
    pages(store, stream, |row| {
        state.apply(&ExecutionEvent::decode(&row.kind, row.version, &row.data)?, row.at);
        Ok(())
    })
    .await?;
    Ok(state)
}

/// Shows each record to `look`, the oldest first.
async fn pages(
    store: &SqliteStore,
    stream: &StreamId,
    mut look: impl FnMut(&StoredEvent) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let (tenant, mut after) = (Tenant::local(), Seq(0));
    loop {
        let page = store.stream(&tenant, stream, after, PAGE).await?;
        page.iter().try_for_each(&mut look)?;
        match page.last() {
            Some(last) if page.len() == PAGE => after = last.seq,
            _ => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::observations::leave_journal;

    #[test]
    fn what_was_told_is_known_again_to_the_last_page() {
        let folder = tempfile::tempdir().unwrap();
        let execution = leave_journal(folder.path(), 2 * PAGE + 1).unwrap();
        let executor = windlass_runtime::executor(windlass_runtime::Threads::PerCore).unwrap();
        let runtime = Arc::new(TokioRuntime::new(executor.handle().clone()));
        let store = SqliteStore::open(Options::new(folder.path()), runtime).unwrap();
        let state = executor.block_on(fold(&store, &StreamId::new("execution", execution))).unwrap();
        let known = |number: usize| state.foreign.has_seen(&format!("provider-event-{number:08}"));
        assert!((0..=2 * PAGE).all(known) && !known(2 * PAGE + 1));
    }
}
