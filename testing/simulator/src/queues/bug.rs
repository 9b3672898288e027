//! Bugs planted on purpose, one at a time, each a mistake that somebody has made before: in a worker, or in the store behind
//! the port. A test shows that every one of them is caught, and by the rule that it breaks.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Bug {
    #[default]
    None,
    /// The ack is a commit of its own, and the effects follow.
    AckBeforeCommit,
    /// What follows is enqueued after the commit that decided it.
    EnqueueOutside,
    /// The store takes an ack from whoever brings it.
    NoFence,
    /// The store lets a nonce be used again.
    NoNonce,
    /// What follows from a message is labelled as the owner's own.
    TaintDropped,
    /// What follows from a message begins a trace of its own.
    TraceLost,
    /// Whoever starts puts back everything that anybody has in hand.
    StartUpSteals,
    /// Whoever finds nothing waits for a hint, and for nothing else.
    WakeLost,
    /// The store serves tenants in the order of their names.
    Unfair,
    /// The store asks nobody for whom they speak.
    TenantsMixed,
    /// A heart that skipped one beat is taken for dead.
    Impatient,
    /// Nobody looks after the dead but now and then.
    Negligent,
    /// The store says "done" to some commits of clients, and does not do them.
    Swallowed,
    /// Whoever was asleep goes on without a look at what it has in hand.
    Blind,
}

impl Bug {
    pub const ALL: [Self; 14] = [
        Self::AckBeforeCommit,
        Self::EnqueueOutside,
        Self::NoFence,
        Self::NoNonce,
        Self::TaintDropped,
        Self::TraceLost,
        Self::StartUpSteals,
        Self::WakeLost,
        Self::Unfair,
        Self::TenantsMixed,
        Self::Impatient,
        Self::Negligent,
        Self::Swallowed,
        Self::Blind,
    ];

    /// What the rule that catches it says, or a part of it.
    pub const fn breaks(self) -> &'static str {
        match self {
            Self::None => "nothing",
            Self::AckBeforeCommit => "left its queue without its effect",
            Self::EnqueueOutside => "was not followed by",
            Self::NoFence => "had it no longer",
            Self::NoNonce => "was used more often than it allows",
            Self::TaintDropped => "lost its taint",
            Self::TraceLost => "changed its trace",
            Self::StartUpSteals => "gave back what was in other hands",
            Self::WakeLost => "was accepted and never done",
            Self::Unfair => "starves",
            Self::TenantsMixed => "touched a message of",
            Self::Impatient => "taken from a living owner",
            Self::Negligent => "after it had expired",
            Self::Swallowed => "is not in the store",
            Self::Blind => "performed after it was done",
        }
    }
}
