//! PostgreSQL's codes as our errors. Three questions are asked of a failure: what to tell the caller, whether a new connection
//! could do better, and whether it concerns one commit alone.

use std::path::PathBuf;

use tokio_postgres::Error as PgError;
use tokio_postgres::error::SqlState;

use crate::error::Error;

/// Why something stopped.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A guard does not hold, or something else that trying again does not change.
    Refused(Error),
    Postgres(PgError),
    /// The connection was closed for a reason that the server did not say.
    Lost(String),
    /// What a row holds is not what a commit puts there.
    Unreadable(&'static str),
}

impl From<PgError> for Failure {
    fn from(error: PgError) -> Self {
        Self::Postgres(error)
    }
}

impl Failure {
    pub(super) const fn unreadable(detail: &'static str) -> Self {
        Self::Unreadable(detail)
    }

    /// With a new connection, or a little later, the same may succeed; nothing of the transaction under way is left.
    pub(crate) fn is_lost(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Unreadable(_) => false,
            Self::Lost(_) => true,
            Self::Postgres(error) => error.code().is_none_or(|code| PASSING.contains(code)),
        }
    }

    /// Two transactions were in each other's way; one of them is done again.
    pub(super) fn is_collision(&self) -> bool {
        let code = match self {
            Self::Postgres(error) => error.code(),
            Self::Refused(_) | Self::Lost(_) | Self::Unreadable(_) => None,
        };
        code.is_some_and(|code| [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED].contains(code))
    }

    /// It concerns one caller's statement only, so that the others in its transaction may go on. Classes 22 and 23: what a
    /// row may hold.
    pub(super) fn is_local(&self) -> bool {
        match self {
            Self::Refused(_) | Self::Unreadable(_) => true,
            Self::Lost(_) => false,
            Self::Postgres(error) => {
                error.code().is_some_and(|code| code.code().starts_with("22") || code.code().starts_with("23"))
            }
        }
    }

    pub(crate) fn describe(&self, place: &str) -> Error {
        let path = PathBuf::from(place);
        let detail = self.detail();
        let code = match self {
            Self::Refused(error) => return error.clone(),
            Self::Unreadable(_) => return Error::Corrupt { path, detail },
            Self::Lost(_) => return Error::Unreachable { place: place.to_owned(), detail },
            Self::Postgres(error) => error.code(),
        };
        match code {
            None => Error::Unreachable { place: place.to_owned(), detail },
            Some(code) if PASSING.contains(code) => Error::Unreachable { place: place.to_owned(), detail },
            Some(code) if *code == SqlState::LOCK_NOT_AVAILABLE => Error::Busy { path },
            Some(code) if *code == SqlState::DISK_FULL => Error::DiskFull { path },
            Some(code) if *code == SqlState::READ_ONLY_SQL_TRANSACTION => Error::ReadOnly { path, detail },
            Some(code) if [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED].contains(code) => {
                Error::Corrupt { path, detail }
            }
            Some(_) => Error::Io { path, detail },
        }
    }

    pub(crate) fn detail(&self) -> String {
        match self {
            Self::Refused(error) => error.to_string(),
            Self::Lost(detail) => detail.clone(),
            Self::Unreadable(detail) => (*detail).to_owned(),
            Self::Postgres(error) => words(error),
        }
    }
}

/// The server's own words, or the operating system's; the library's own say less.
fn words(error: &PgError) -> String {
    if let Some(database) = error.as_db_error() {
        return match database.hint() {
            Some(hint) => format!("{} ({hint})", database.message()),
            None => database.message().to_owned(),
        };
    }
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}

/// Of a server that ends, begins or is full, and of a session that it has ended.
const PASSING: &[SqlState] = &[
    SqlState::ADMIN_SHUTDOWN,
    SqlState::CRASH_SHUTDOWN,
    SqlState::CANNOT_CONNECT_NOW,
    SqlState::TOO_MANY_CONNECTIONS,
    SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    SqlState::CONNECTION_EXCEPTION,
    SqlState::CONNECTION_DOES_NOT_EXIST,
    SqlState::CONNECTION_FAILURE,
];
