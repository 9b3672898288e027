//! Why the store said no: one variant for each thing a caller could do about it. The first half are refusals, the normal
//! answers of a store with guards: nothing was written, and the caller reads again or lets go. The second half are
//! troubles of the disk, the file or the server, with a sentence for a person. `Halted` and `Unconfirmed` are neither: whether
//! the last commits happened is not known, so nobody may go on as if they had not.

use std::path::{Path, PathBuf};

use windlass_domain::{MessageId, OwnerId, Seq};

use crate::commit::{Marker, Nonce};
use crate::delivery::Delivery;
use crate::lease::{Epoch, LeaseName};
use crate::stream::StreamId;

/// It can be cloned because one failed write to disk fails every commit that shared it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("{stream} is at record {}, not at {}: read it again and decide anew", found.0, expected.0)]
    Conflict { stream: StreamId, expected: Seq, found: Seq },

    #[error("the lease {lease} is no longer held at epoch {}: another process may have it; stop working on it", epoch.0)]
    Fenced { lease: LeaseName, epoch: Epoch },

    #[error("the nonce `{}` was used before", nonce.0)]
    NonceUsed { nonce: Nonce },

    /// It has been accepted before, and need not be again.
    #[error("{what} was accepted before")]
    Duplicate { what: String },

    /// Somebody else has dealt with it.
    #[error("{what} is not there any more")]
    Gone { what: String },

    #[error("the lease {lease} is held by {owner} at epoch {}", epoch.0)]
    LeaseHeld { lease: LeaseName, owner: OwnerId, epoch: Epoch },

    /// Look for another one.
    #[error("message {message} cannot be taken: somebody has it, or it waits for its time, or it is dead")]
    NotReady { message: MessageId },

    #[error(
        "delivery {} of message {} to {} is not the present one: another consumer may have it; stop working on it",
        delivery.number, delivery.message_id, delivery.owner
    )]
    StaleDelivery { delivery: Delivery },

    /// What the commit was about is over.
    #[error("{} of {} is there, and must not be: what was asked for is over", marker.key, marker.scope)]
    Present { marker: Marker },

    #[error("the mailbox {mailbox} holds a message that was not read: read it before going to sleep")]
    Unread { mailbox: String },

    #[error("a commit of {bytes} bytes is too large (at most {most}): put the large parts into blobs")]
    TooLarge { bytes: usize, most: usize },

    #[error(
        "the journal holds records of level {written}, and this version of windlass reads up to {known}: use a newer windlass"
    )]
    TooOld { written: u32, known: u32 },

    /// A record of a kind that is new, of which whoever is older can read nothing.
    #[error(
        "this needs level {needed} of the journal, and a process that reads up to {least} is at work or was until a moment ago: \
         upgrade or end that one first"
    )]
    TooNew { needed: u32, least: u32 },

    #[error("the database has schema {found}, and this version of windlass knows up to {known}: use a newer windlass")]
    NewerSchema { found: u32, known: u32 },

    #[error("{} is damaged or not a windlass database ({detail}); it was left as it is: move it away, or restore a copy", path.display())]
    Corrupt { path: PathBuf, detail: String },

    #[error("{} cannot be written ({detail}): check its owner, its permissions and how its disk is mounted", path.display())]
    ReadOnly { path: PathBuf, detail: String },

    #[error("the disk of {} is full: free some space and try again; nothing was lost", path.display())]
    DiskFull { path: PathBuf },

    #[error("another process kept {} locked for too long: look for a windlass that is stopped or hangs", path.display())]
    Busy { path: PathBuf },

    #[error("{}: {detail}", path.display())]
    Io { path: PathBuf, detail: String },

    /// Nothing was written. It may be there again in a while.
    #[error("{place} cannot be reached ({detail}): nothing was written; see that the server runs, and try again")]
    Unreachable { place: String, detail: String },

    /// Read again before doing anything: a commit is made once, but it may have been made.
    #[error(
        "the connection to {place} was lost while a commit was being made ({detail}) and did not come back in time, so whether \
         it happened is not known: see that the server runs, and look again"
    )]
    Unconfirmed { place: String, detail: String },

    /// The process is about to end, or would be if it had not said otherwise; see `Halt`.
    #[error(
        "the disk did not confirm a write ({detail}), so whether the last commits happened is not known: start again"
    )]
    Halted { detail: String },
}

impl Error {
    /// One word for each refusal; `None`: a trouble.
    pub const fn refusal(&self) -> Option<&'static str> {
        match self {
            Self::Conflict { .. } => Some("out_of_order"),
            Self::Fenced { .. } => Some("fenced"),
            Self::NonceUsed { .. } => Some("replayed"),
            Self::Duplicate { .. } => Some("duplicate"),
            Self::Gone { .. } => Some("not_there"),
            Self::LeaseHeld { .. } => Some("held"),
            Self::NotReady { .. } => Some("not_ready"),
            Self::StaleDelivery { .. } => Some("stale"),
            Self::Present { .. } => Some("over"),
            Self::Unread { .. } => Some("unread"),
            Self::TooLarge { .. } => Some("too_large"),
            Self::TooOld { .. } => Some("too_old"),
            Self::TooNew { .. } => Some("too_new"),
            Self::NewerSchema { .. }
            | Self::Corrupt { .. }
            | Self::ReadOnly { .. }
            | Self::DiskFull { .. }
            | Self::Busy { .. }
            | Self::Io { .. }
            | Self::Unreachable { .. }
            | Self::Unconfirmed { .. }
            | Self::Halted { .. } => None,
        }
    }

    /// For troubles met outside SQLite.
    pub(crate) fn from_io(path: &Path, error: &std::io::Error) -> Self {
        use std::io::ErrorKind;
        let path = path.to_path_buf();
        let detail = error.to_string();
        match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path, detail },
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::Io { path, detail },
        }
    }
}
