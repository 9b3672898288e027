//! The connection that writes, and the one way it is used: a group of commits in one transaction. Each commit is its own
//! savepoint, so one whose guards do not hold takes back its own rows and nobody else's. Whether this runs on a thread or
//! on a caller's poll is not its concern.

use std::path::PathBuf;

use rusqlite::Connection;

use crate::commit::{Commit, Committed};
use crate::error::Error;
use crate::providers::sqlite::apply::apply;
use crate::providers::sqlite::failure::{
    Failure, describe, is_damage, is_failed_sync, is_local, surely_did_not_commit,
};
use crate::providers::sqlite::halt::Trust;
use crate::stream::Position;

pub(super) struct Ledger {
    pub(super) connection: Connection,
    path: PathBuf,
    trust: Trust,
}

/// One for each commit of the group, in its order.
pub(super) type Outcomes = Vec<Result<Committed, Error>>;

impl Ledger {
    pub(super) const fn new(connection: Connection, path: PathBuf, trust: Trust) -> Self {
        Self { connection, path, trust }
    }

    pub(super) fn commit_group(&self, group: &[&Commit]) -> Outcomes {
        let attempt = self.trust.check().and_then(|()| {
            let outcomes = self.try_group(group);
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
        let outcomes: Outcomes =
            group.iter().map(|commit| self.try_commit(commit, &mut last)).collect::<Result<_, _>>()?;
        match self.run("COMMIT") {
            Ok(()) => Ok(outcomes),
            Err(error) if surely_did_not_commit(&error) => Err(describe(&self.path, &error)),
            Err(error) => Err(self.trust.halt(error.to_string())),
        }
    }

    /// The outer result is an error that fails the whole group, the inner one this commit's own.
    fn try_commit(&self, commit: &Commit, last: &mut Position) -> Result<Result<Committed, Error>, Error> {
        let outcome = self.run("SAVEPOINT one").map_err(Failure::from).and_then(|()| {
            let committed = apply(&self.connection, commit, *last)?;
            self.run("RELEASE one")?;
            Ok(committed)
        });
        let own_error = match outcome {
            Ok(committed) => {
                *last = committed.position;
                return Ok(Ok(committed));
            }
            Err(Failure::Refused(refusal)) => refusal,
            Err(Failure::Sqlite(error)) if is_local(&error) && !self.connection.is_autocommit() => {
                describe(&self.path, &error)
            }
            Err(Failure::Sqlite(error)) => return Err(self.trouble(&error)),
        };
        self.run("ROLLBACK TO one").and_then(|()| self.run("RELEASE one")).map_err(|error| self.trouble(&error))?;
        Ok(Err(own_error))
    }

    fn last_position(&self) -> rusqlite::Result<Position> {
        let mut statement = self.connection.prepare_cached("SELECT coalesce(max(position), 0) FROM events")?;
        let last: i64 = statement.query_row([], |row| row.get(0))?;
        Ok(Position(last.unsigned_abs()))
    }

    fn run(&self, sql: &str) -> rusqlite::Result<()> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop)
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
