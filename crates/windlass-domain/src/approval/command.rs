//! What can be asked of an approval, and why it may be refused. Each mistake a person or a program can make has a reason of
//! its own, in words that can be shown as they are.

use crate::approval::{ApprovalToken, Card, Nonce, Proof, Strength, Verdict};
use crate::taint::Taint;

#[derive(Debug, Clone)]
pub enum ApprovalCommand {
    Request(Box<Card>),
    Answer(Answer),
    /// The card's time is up.
    Expire,
    /// The run that asked has ended.
    Withdraw {
        reason: String,
    },
    Issue(Box<ApprovalToken>),
    /// Spends one use.
    Verify(Box<Proof>),
    RecordFailedVerify {
        reason: String,
    },
    Attach {
        execution_nonce: Nonce,
        work_item_id: String,
    },
    /// Spends nothing: what is about to run is what was allowed.
    Check {
        execution_nonce: Nonce,
    },
    RecordFailedCheck {
        execution_nonce: Nonce,
        reason: String,
    },
    Execute {
        execution_nonce: Nonce,
    },
}

/// An answer to a card, as it came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub verdict: Verdict,
    pub by: String,
    pub approval_strength: Strength,
    pub conditions: Vec<String>,
    pub note: String,
    /// Where the answer came from. Words in a page or a file are not an answer, whatever they say.
    pub taint: Taint,
}

/// Why nothing was recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejected {
    #[error("there is no such card")]
    NotRequested,
    #[error("this card was put before")]
    AlreadyRequested,
    #[error("a card must bind a plan, a tool call or a spawn policy")]
    BindsNothing,
    #[error("a card must allow at least one execution")]
    AllowsNothing,
    #[error("the card has expired; nothing was changed")]
    CardExpired,
    #[error("the card has not expired yet")]
    NotExpiredYet,
    #[error("the run has ended; nothing was changed")]
    RunEnded,
    #[error("the card was answered before ({}); nothing was changed", word(*.0))]
    AlreadyAnswered(Verdict),
    #[error("an answer counts only when it comes over an authenticated channel")]
    NotAuthenticated,
    #[error("this card asks for a second step: confirm it")]
    NeedsSecondStep,
    #[error("a conditional approval needs its conditions")]
    NoConditions,
    #[error("only a conditional approval has conditions")]
    UnwantedConditions,
    #[error("say what should be changed")]
    NoEdit,
    #[error("the card has not been answered")]
    NotAnswered,
    #[error("the card was declined")]
    Declined,
    #[error("changes were asked for instead of an approval")]
    EditRequested,
    #[error("a token was issued before")]
    AlreadyIssued,
    #[error("the token's `{0}` is not what the card and its answer say")]
    OtherToken(&'static str),
    #[error("no token was issued")]
    NotIssued,
    #[error("the token has expired")]
    TokenExpired,
    #[error("all {0} uses of the token are spent")]
    UsedUp(u32),
    #[error("this use of the token was verified before")]
    SlotTaken,
    #[error("the execution nonce was used before")]
    NonceUsed,
    #[error("no use of the token was verified with this nonce")]
    NotVerified,
    #[error("this use of the token belongs to another work item")]
    OtherWorkItem,
    #[error("this use of the token was attached before")]
    AlreadyAttached,
    #[error("this use of the token is not attached to a work item")]
    NotAttached,
    #[error("this use of the token was not checked")]
    NotChecked,
    #[error("this use of the token was executed before")]
    AlreadyExecuted,
    #[error("this use of the token is blocked: its check failed")]
    Blocked,
}

const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approved => "approved",
        Verdict::Declined => "declined",
        Verdict::EditRequested => "edit requested",
        Verdict::Conditional => "approved with conditions",
    }
}
