//! Bugs planted on purpose, one at a time: in the store behind the port, or in the shell around an engine. A test shows that
//! every one of them is caught, and by the rule that it breaks.

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EngineBug {
    #[default]
    None,
    /// Whoever parks looks neither at its mailbox nor at its cards.
    ParksBlindly,
    /// An answer is kept, and nobody is woken for it.
    WakesNobody,
    /// A card's timer is never set.
    NeverLapses,
    /// The store asks nobody whether the lease is still theirs.
    NoFence,
    /// Neither that, nor whether a use of a token was claimed before.
    NoNonce,
    /// The store keeps nothing of a token's use.
    UsesForgotten,
    /// Every record is labelled as the owner's own.
    TaintDropped,
    /// The message that had a task driven is acked in a commit of its own, before the one that rests it.
    AckBeforeCommit,
    /// Whoever starts gives back every task that anybody has in hand.
    StartUpSteals,
    /// The store says "done" to answers, and does not keep them.
    Swallowed,
    /// Whoever takes over does the last effect again.
    EffectsTwice,
    /// The front door asks nobody for whom they speak.
    TenantsMixed,
    /// What a spawned agent used is put on its parent's bill twice.
    BilledTwice,
    /// An answer to a question is sent twice.
    AnsweredTwice,
    /// Whoever ends leaves those that it spawned as they are.
    ChildrenLeft,
    /// Of a check that failed it is recorded that it passed.
    ChecksBelieved,
    /// The end of an item is kept, and nobody is woken for it.
    EndWakesNobody,
    /// Attempts at items begin, and nothing is kept of the approval's use.
    FreeAttempts,
    /// What a planner used is put on the bill twice.
    PlannerBilledTwice,
    /// An item that has ended is ended once more.
    EndedTwice,
    /// Nobody looks whether the work of all is still what an item was merged into.
    MergedUnseen,
    /// What the user changed meanwhile is undone when the work comes.
    EditsOverwritten,
    /// The folder of an attempt is there after everything has ended.
    FoldersLeft,
    /// Whoever ends leaves the timers that were set for it.
    TimersLeft,
    /// Whoever ends leaves the message that had it driven.
    MessagesLeft,
    /// Whoever ends leaves the cards that it had put.
    CardsLeft,
    /// Checks of a whole that fail are said to have passed.
    JoinsBelieved,
    /// What was found out for a planner is sent to it twice.
    FoundTwice,
    /// What those used who only help is on nobody's bill.
    HelpForFree,
    /// The store says "done" to a redirect, and does not keep it.
    RedirectSwallowed,
    /// A redirect is kept, and nobody is woken for it.
    RedirectWakesNobody,
    /// Of what stays after a redirect, the work is lost.
    WorkForgotten,
    /// Those who are at work when it is redirected are left alone, and what they bring is taken.
    RedirectUnheard,
    /// A deadline that comes is told to nobody.
    DeadlineUntold,
    /// A word to look is sent twice.
    LooksTwice,
    /// A look is recorded, and its word is told to nobody.
    LooksLost,
}

impl EngineBug {
    pub const ALL: [Self; 15] = [
        Self::ParksBlindly,
        Self::WakesNobody,
        Self::NeverLapses,
        Self::NoFence,
        Self::NoNonce,
        Self::UsesForgotten,
        Self::TaintDropped,
        Self::AckBeforeCommit,
        Self::StartUpSteals,
        Self::Swallowed,
        Self::EffectsTwice,
        Self::TenantsMixed,
        Self::BilledTwice,
        Self::AnsweredTwice,
        Self::ChildrenLeft,
    ];

    /// Those that only show where there are plans.
    pub const OF_PLANS: [Self; 14] = [
        Self::ChecksBelieved,
        Self::EndWakesNobody,
        Self::FreeAttempts,
        Self::PlannerBilledTwice,
        Self::EndedTwice,
        Self::MergedUnseen,
        Self::EditsOverwritten,
        Self::FoldersLeft,
        Self::TimersLeft,
        Self::MessagesLeft,
        Self::CardsLeft,
        Self::JoinsBelieved,
        Self::FoundTwice,
        Self::HelpForFree,
    ];

    /// Those that only show where there are objectives.
    pub const OF_OBJECTIVES: [Self; 4] =
        [Self::RedirectSwallowed, Self::RedirectWakesNobody, Self::WorkForgotten, Self::RedirectUnheard];

    /// Those that only show where there are deadlines and monitors.
    pub const OF_SCHEDULES: [Self; 3] = [Self::DeadlineUntold, Self::LooksTwice, Self::LooksLost];

    /// What the rule that catches it says, or a part of it.
    pub const fn breaks(self) -> &'static str {
        match self {
            Self::None => "nothing",
            Self::ParksBlindly | Self::WakesNobody => "sleeps although it was answered",
            Self::NeverLapses => "waits for a card whose time is up",
            Self::NoFence => "wrote at",
            Self::NoNonce => "more often than it allows",
            Self::UsesForgotten => "without a verified approval",
            Self::TaintDropped => "lost its taint",
            Self::AckBeforeCommit => "has nobody to drive it",
            Self::StartUpSteals => "gave back what was in other hands",
            Self::Swallowed => "is not in the store",
            Self::EffectsTwice => "happened 2 times",
            Self::TenantsMixed => "reached what is another tenant's",
            Self::BilledTwice => "and its parent was charged",
            Self::AnsweredTwice => "was heard 2 times",
            Self::ChildrenLeft => "outlived its parent",
            Self::ChecksBelieved => "are in its user's folder",
            Self::EndWakesNobody => "has nobody to drive it",
            Self::FreeAttempts => "uses of the approval",
            Self::PlannerBilledTwice => "was put on the bill",
            Self::EndedTwice => "which does not work on it",
            Self::MergedUnseen => "was merged into other work than there was",
            Self::EditsOverwritten => "of the user's is gone from",
            Self::FoldersLeft => "folders of attempts are left",
            Self::TimersLeft => "timers are left",
            Self::MessagesLeft => "is over and has a message",
            Self::CardsLeft => "is open, and its task is over",
            Self::JoinsBelieved => "and its own checks fail",
            Self::FoundTwice => "reached its planner 2 times",
            Self::HelpForFree => "is on the bill 0 times",
            Self::RedirectSwallowed => "was redirected, and it was 0 times",
            Self::RedirectWakesNobody => "has nobody to drive it",
            Self::WorkForgotten => "lost the work of",
            Self::RedirectUnheard => "which does not work on it",
            Self::DeadlineUntold => "was overlooked",
            Self::LooksTwice => "words to look, and was told to",
            Self::LooksLost => "heard by task",
        }
    }
}
