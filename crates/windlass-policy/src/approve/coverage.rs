//! The default policy of contracts §3: which calls may run on the leave there is, which need a card of their own, and which are
//! never run. Taint and gates ask for more; nothing here lets anything past them.

use crate::risk::Level;

/// The leave that the execution already has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leave {
    /// A planned item whose card has not been answered.
    None,
    /// Whoever issued the run allowed low and medium calls by doing so.
    Issuer,
    /// A verified token for the plan.
    Plan(Listed),
}

/// Whether the token's card showed this call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    Shown,
    NotShown,
}

/// Whether the call can change anything beyond the attempt's worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaches {
    WorktreeOnly,
    Beyond,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Nothing,
    /// A card for this one call.
    Card,
    /// No card helps.
    Refused,
}

pub const fn need(level: Level, leave: Leave, reaches: Reaches) -> Need {
    match (level, leave, reaches) {
        (Level::Critical, ..) => Need::Refused,
        (Level::High, Leave::Plan(Listed::Shown), Reaches::WorktreeOnly) => Need::Nothing,
        (Level::High, ..) | (Level::Medium, Leave::None, _) => Need::Card,
        (Level::Low | Level::Medium, ..) => Need::Nothing,
    }
}
