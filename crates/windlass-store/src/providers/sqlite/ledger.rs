//! The connection that writes, and the one way it is used: a group of commits in one transaction. Each commit of several is
//! its own savepoint, so one whose guards do not hold takes back its own rows and nobody else's. Whether this runs on a
//! thread or on a caller's poll is not its concern.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Duration;

use rusqlite::Connection;

use crate::commit::{Commit, Committed};
use crate::error::Error;
use crate::providers::sqlite::apply::apply;
use crate::providers::sqlite::chains::Chains;
use crate::providers::sqlite::failure::{
    Failure, describe, is_damage, is_failed_sync, is_local, surely_did_not_commit,
};
use crate::providers::sqlite::halt::Trust;
use crate::stream::Position;

pub(super) struct Ledger {
    pub(super) connection: Connection,
    path: PathBuf,
    trust: Trust,
    /// How long another process may hold the database.
    busy_timeout: Duration,
    chains: RefCell<Chains>,
}

/// One for each commit of the group, in its order.
pub(super) type Outcomes = Vec<Result<Committed, Error>>;

impl Ledger {
    pub(super) fn new(connection: Connection, path: PathBuf, trust: Trust, busy_timeout: Duration) -> Self {
        Self { connection, path, trust, busy_timeout, chains: RefCell::default() }
    }

    pub(super) fn commit(&self, commit: &Commit) -> Result<Committed, Error> {
        self.commit_group(&[commit]).pop().expect("one commit has one outcome")
    }

    pub(super) fn commit_group(&self, group: &[&Commit]) -> Outcomes {
        let attempt = self.trust.check().and_then(|()| {
            let outcomes = self.try_group(group);
            if outcomes.is_err() {
                // What they were told of did not happen, or nobody knows.
                self.chains.borrow_mut().forget();
            }
            if outcomes.is_err() && !self.connection.is_autocommit() {
                // SQLite has ended some transactions by itself by now, and a failing rollback has nothing left to undo.
                let _ = self.connection.execute_batch("ROLLBACK");
            }
            outcomes
        });
        attempt.unwrap_or_else(|error| vec![Err(error); group.len()])
    }

    /// An error fails every commit of the group.
    fn try_group(&self, group: &[&Commit]) -> Result<Outcomes, Error> {
        self.run("BEGIN IMMEDIATE").map_err(|error| self.trouble(&error))?;
        let mut last = self.last_position().map_err(|error| self.trouble(&error))?;
        self.chains.borrow_mut().begin(&self.connection, last).map_err(|error| self.trouble(&error))?;
        let outcomes: Outcomes = match group {
            [alone] => match self.try_alone(alone, last)? {
                Ok(committed) => vec![Ok(committed)],
                refused => return Ok(vec![refused]),
            },
            several => several.iter().map(|commit| self.try_commit(commit, &mut last)).collect::<Result<_, _>>()?,
        };
        match self.run("COMMIT") {
            Ok(()) => Ok(outcomes),
            Err(error) if surely_did_not_commit(&error) => Err(describe(&self.path, &error)),
            Err(error) => Err(self.trust.halt(error.to_string())),
        }
    }

    /// The outer result is an error that fails the whole group, the inner one this commit's own.
    fn try_commit(&self, commit: &Commit, last: &mut Position) -> Result<Result<Committed, Error>, Error> {
        let outcome = self.run("SAVEPOINT one").map_err(Failure::from).and_then(|()| {
            let committed = self.apply(commit, *last)?;
            self.run("RELEASE one")?;
            Ok(committed)
        });
        match outcome {
            Ok(committed) => {
                *last = committed.position;
                self.advance_chain(commit, &committed);
                Ok(Ok(committed))
            }
            Err(failure) => {
                let own = self.own_error(failure)?;
                let back = self.run("ROLLBACK TO one").and_then(|()| self.run("RELEASE one"));
                back.map_err(|error| self.trouble(&error)).map(|()| Err(own))
            }
        }
    }

    /// The same for a commit that has the transaction to itself: it needs no savepoint, for it takes back the transaction.
    fn try_alone(&self, commit: &Commit, last: Position) -> Result<Result<Committed, Error>, Error> {
        match self.apply(commit, last) {
            Ok(committed) => {
                self.advance_chain(commit, &committed);
                Ok(Ok(committed))
            }
            Err(failure) => {
                let own = self.own_error(failure)?;
                self.run("ROLLBACK").map_err(|error| self.trouble(&error)).map(|()| Err(own))
            }
        }
    }

    fn apply(&self, commit: &Commit, last: Position) -> Result<Committed, Failure> {
        let chain = || self.chains.borrow_mut().last(&self.connection, &commit.tenant);
        apply(&self.connection, commit, last, chain)
    }

    fn advance_chain(&self, commit: &Commit, committed: &Committed) {
        if let Some(head) = committed.chain {
            self.chains.borrow_mut().advance(&commit.tenant, head);
        }
    }

    /// What one commit's caller is told; an error where all callers of the transaction must be told.
    fn own_error(&self, failure: Failure) -> Result<Error, Error> {
        match failure {
            Failure::Refused(refusal) => Ok(refusal),
            Failure::Sqlite(error) if is_local(&error) && !self.connection.is_autocommit() => {
                Ok(describe(&self.path, &error))
            }
            Failure::Sqlite(error) => Err(self.trouble(&error)),
        }
    }

    /// Runs `work`, and does not wait for other processes in it.
    pub(super) fn impatiently<T>(&self, work: impl FnOnce(&Self) -> T) -> T {
        // SQLite has no reason to refuse either call.
        let _ = self.connection.busy_timeout(Duration::ZERO);
        let done = work(self);
        let _ = self.connection.busy_timeout(self.busy_timeout);
        done
    }

    fn last_position(&self) -> rusqlite::Result<Position> {
        let mut statement = self.connection.prepare_cached("SELECT coalesce(max(position), 0) FROM events")?;
        let last: i64 = statement.query_row([], |row| row.get(0))?;
        Ok(Position(last.unsigned_abs()))
    }

    fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
    }

    /// Nothing has been seen that forbids to go on writing.
    pub(super) fn is_trusted(&self) -> bool {
        self.trust.check().is_ok()
    }

    pub(super) fn trouble(&self, error: &rusqlite::Error) -> Error {
        if is_failed_sync(error) {
            return self.trust.halt(error.to_string());
        }
        let described = describe(&self.path, error);
        if is_damage(&described) {
            self.trust.found_damage(&described);
        }
        described
    }
}
