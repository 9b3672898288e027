//! Named places where a process may be made to die, so that tests can kill it exactly there. In production nobody holds
//! the wire, and passing a point costs a branch.

use windlass_domain::BoxFuture;

/// The places, in about the order in which a run passes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TripwirePoint {
    LeaseTaken,
    BeforeCommit,
    AfterCommit,
    SandboxOpened,
    /// The model has answered, or a tool has run, and nothing of it is recorded yet.
    BeforeRecord,
    /// Leave is given and durable; the call has not begun.
    Permitted,
    BlobStaged,
    RunEnded,
    CandidateCopied,
    CheckRan,
}

impl TripwirePoint {
    pub const ALL: [Self; 10] = [
        Self::LeaseTaken,
        Self::BeforeCommit,
        Self::AfterCommit,
        Self::SandboxOpened,
        Self::BeforeRecord,
        Self::Permitted,
        Self::BlobStaged,
        Self::RunEnded,
        Self::CandidateCopied,
        Self::CheckRan,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::LeaseTaken => "lease-taken",
            Self::BeforeCommit => "before-commit",
            Self::AfterCommit => "after-commit",
            Self::SandboxOpened => "sandbox-opened",
            Self::BeforeRecord => "before-record",
            Self::Permitted => "permitted",
            Self::BlobStaged => "blob-staged",
            Self::RunEnded => "run-ended",
            Self::CandidateCopied => "candidate-copied",
            Self::CheckRan => "check-ran",
        }
    }
}

pub trait Tripwire: Send + Sync {
    /// Returns when the process may live on.
    fn pass(&self, point: TripwirePoint) -> BoxFuture<'_, ()>;
}
