//! SQLite's codes as our errors. Two questions are asked of a failure: what to tell the caller, and whether the disk can
//! still be believed.

use std::path::Path;

use rusqlite::ErrorCode;
use rusqlite::ffi;

use crate::error::Error;

/// Why applying a commit stopped.
#[derive(Debug)]
pub(super) enum Failure {
    /// A guard does not hold.
    Refused(Error),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

pub(super) fn describe(path: &Path, error: &rusqlite::Error) -> Error {
    let detail = error.to_string();
    let path = path.to_path_buf();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy { path },
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Error::ReadOnly { path, detail },
        Some(ErrorCode::DiskFull) => Error::DiskFull { path },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Error::Corrupt { path, detail },
        // The log could not be made, say; SQLite does not tell why.
        Some(ErrorCode::CannotOpen) if !may_write_beside(&path) => Error::ReadOnly { path, detail },
        _ => match extended(error) {
            // The index of the log is a file too, and grows.
            Some(ffi::SQLITE_IOERR_SHMSIZE) => Error::DiskFull { path },
            _ => Error::Io { path, detail },
        },
    }
}

fn may_write_beside(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(path);
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
}

/// A sync that failed anywhere: what was thought to be on disk may not be.
pub(super) fn is_failed_sync(error: &rusqlite::Error) -> bool {
    matches!(extended(error), Some(ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC))
}

/// A failed COMMIT that is known not to have happened. A full disk refuses the very write that would have made it happen,
/// and a busy database was not written to; after anything else it may be in the log.
pub(super) fn surely_did_not_commit(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DiskFull | ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Failures that concern one caller's statement only, so that the others in its transaction may go on.
pub(super) fn is_local(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        None | Some(ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch)
    )
}

pub(super) fn is_damage(error: &Error) -> bool {
    matches!(error, Error::Corrupt { .. })
}

fn extended(error: &rusqlite::Error) -> Option<i32> {
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => Some(failure.extended_code),
        _ => None,
    }
}
