//! Moving the log into the database file, so that it stays short, without making commits wait. A thread of its own copies
//! page by page while others write and read (a passive checkpoint). But a log starts again from its beginning only when
//! nothing in it is left to copy, which never happens under steady load; so once the thread has come near, the writer does
//! the few remaining pages itself, between two groups. Should the thread not keep up at all, the writer does everything
//! rather than let the log grow without end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use rusqlite::Connection;

use crate::providers::sqlite::connection::{Purpose, open};
use crate::providers::sqlite::failure::{describe, is_damage, is_failed_sync};
use crate::providers::sqlite::halt::Trust;
use crate::providers::sqlite::ledger::Ledger;
use crate::providers::sqlite::options::{Limits, Options};

/// So few pages that copying them costs hardly more than the sync that follows.
const NEAR: u64 = 256;

/// A pass that leaves more behind is followed by another; each has less to do than the one before.
const PASSES: usize = 8;

pub(super) struct Checkpointer {
    limits: Limits,
    progress: Arc<Progress>,
    /// Taken only by `drop`.
    wake: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Progress {
    working: AtomicBool,
    /// The writer should finish what the thread has left.
    near: AtomicBool,
    /// Pages of the present log that are known to be copied.
    copied: AtomicU64,
}

/// Pages in the log, and how many of them are copied.
#[derive(Debug, Clone, Copy)]
struct Log {
    pages: u64,
    copied: u64,
}

impl Checkpointer {
    pub(super) fn start(options: Options, trust: Trust) -> Self {
        let (limits, progress) = (options.limits, Arc::new(Progress::default()));
        let (wake, woken) = mpsc::channel();
        let worker = Worker { options, trust, progress: Arc::clone(&progress), woken };
        #[expect(clippy::disallowed_methods, reason = "one thread for the store's whole life; SQLite blocks")]
        let thread = std::thread::Builder::new().name("windlass-log".into()).spawn(move || worker.serve());
        let thread = thread.expect("a process that can open files can start a thread");
        Self { limits, progress, wake: Some(wake), thread: Some(thread) }
    }

    /// After a group: is there enough in the log to start copying?
    pub(super) fn consider(&self, ledger: &Ledger) {
        let Ok(log) = look(&ledger.connection) else { return };
        let behind = log.pages.saturating_sub(self.progress.copied.load(Ordering::Relaxed).min(log.copied));
        if behind >= self.limits.log_frames && !self.progress.working.swap(true, Ordering::AcqRel) {
            let wake = self.wake.as_ref().expect("taken only by drop");
            // The thread ends before this only when it panicked; then the writer's own share bounds the log.
            let _ = wake.send(());
        }
        if behind >= self.limits.most_log_frames {
            self.progress.near.store(true, Ordering::Release);
        }
    }

    /// Before a group: the writer's own share.
    pub(super) fn finish_if_near(&self, ledger: &Ledger) {
        if !self.progress.near.swap(false, Ordering::AcqRel) {
            return;
        }
        match copy(&ledger.connection) {
            Ok(log) => self.progress.copied.store(log.copied, Ordering::Relaxed),
            // What is in the log stays in the log; what cannot be believed has been seen to.
            Err(error) => drop(ledger.trouble(&error)),
        }
    }

    /// At a clean end: leaves an empty log, so that whoever opens the database next need not read it through. A process that
    /// still reads or writes there keeps the log as it is, and is not waited for.
    pub(super) fn leave(self, ledger: &Ledger) {
        // The thread would be in the way.
        drop(self);
        if ledger.is_trusted()
            && let Err(error) = ledger.impatiently(|ledger| empty(&ledger.connection))
        {
            drop(ledger.trouble(&error));
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            // A panic there was reported where it happened.
            let _ = thread.join();
        }
    }
}

struct Worker {
    options: Options,
    trust: Trust,
    progress: Arc<Progress>,
    woken: mpsc::Receiver<()>,
}

impl Worker {
    /// Opens its connection only when there is something to copy: many processes never write that much.
    fn serve(self) {
        let mut connection = None;
        while let Ok(()) = self.woken.recv() {
            if connection.is_none() {
                // What cannot be opened now may be at the next call; until then the writer's share bounds the log.
                connection = open(&self.options, Purpose::Write).ok();
            }
            connection.iter().for_each(|connection| self.catch_up(connection));
            self.progress.working.store(false, Ordering::Release);
        }
    }

    fn catch_up(&self, connection: &Connection) {
        for _ in 0..PASSES {
            if self.trust.check().is_err() {
                return;
            }
            let log = match copy(connection) {
                Ok(log) => log,
                Err(error) => return self.note(&error),
            };
            self.progress.copied.store(log.copied, Ordering::Relaxed);
            if log.pages.saturating_sub(log.copied) <= NEAR {
                self.progress.near.store(true, Ordering::Release);
                return;
            }
        }
    }

    fn note(&self, error: &rusqlite::Error) {
        if is_failed_sync(error) {
            self.trust.halt(error.to_string());
            return;
        }
        let described = describe(&self.options.database(), error);
        if is_damage(&described) {
            self.trust.found_damage(&described);
        }
    }
}

/// Copies what no reader still needs in the log. Never waits for anybody.
fn copy(connection: &Connection) -> rusqlite::Result<Log> {
    checkpoint(connection, "PRAGMA wal_checkpoint(PASSIVE)")
}

fn empty(connection: &Connection) -> rusqlite::Result<Log> {
    checkpoint(connection, "PRAGMA wal_checkpoint(TRUNCATE)")
}

fn look(connection: &Connection) -> rusqlite::Result<Log> {
    checkpoint(connection, "PRAGMA wal_checkpoint(NOOP)")
}

fn checkpoint(connection: &Connection, pragma: &str) -> rusqlite::Result<Log> {
    let mut statement = connection.prepare_cached(pragma)?;
    statement.query_row([], |row| {
        // Where another process is copying at this moment, both numbers are -1.
        let pages = |column| Ok::<_, rusqlite::Error>(u64::try_from(row.get::<_, i64>(column)?).unwrap_or(0));
        Ok(Log { pages: pages(1)?, copied: pages(2)? })
    })
}
