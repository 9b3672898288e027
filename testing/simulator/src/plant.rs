//! Bugs planted on purpose, in the wrappers around the ports, so that a test can show that each would be caught.

use windlass_store::Commit;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Plant {
    #[default]
    Nothing,
    /// The store says "done" to the n-th commit with events, and does not do it.
    SwallowedCommit(u64),
    /// Commits go through whoever holds the lease, wherever the stream stands.
    NoFence,
    /// Messages stay in their mailbox after they were heeded.
    NoAcks,
    /// A process that takes over does its predecessor's last effect again.
    EffectsTwice,
    /// What a user changed since the work began is taken for what it began with.
    EditsOverwritten,
    /// A check that failed is said to have passed.
    FailuresPass,
}

impl Plant {
    /// What the store is given instead of `commit`.
    pub fn spoil(self, commit: &mut Commit) {
        match self {
            Self::NoFence => {
                commit.fence = None;
                commit.expect.clear();
            }
            Self::NoAcks => commit.acks.clear(),
            Self::Nothing
            | Self::SwallowedCommit(_)
            | Self::EffectsTwice
            | Self::EditsOverwritten
            | Self::FailuresPass => {}
        }
    }

    /// Whether the n-th commit with events is swallowed.
    pub fn swallows(self, number: u64) -> bool {
        self == Self::SwallowedCommit(number)
    }
}
