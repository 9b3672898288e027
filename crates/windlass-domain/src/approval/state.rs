//! Where an approval stands: a fold over its stream. Each state carries only what it has, so that a token cannot be there
//! before an answer, nor a use before a token.

use crate::approval::{ApprovalEvent, ApprovalToken, Card, Decided, Nonce, Verdict};

#[derive(Debug, Clone, PartialEq, Default)]
pub enum ApprovalState {
    #[default]
    Absent,
    Requested {
        card: Box<Card>,
    },
    /// The answer was yes, and waits for its token.
    Decided {
        card: Box<Card>,
        decision: Decided,
    },
    /// The answer was no, or not like this.
    Refused {
        card: Box<Card>,
        decision: Decided,
    },
    Expired {
        card: Box<Card>,
    },
    /// The run ended first.
    Withdrawn {
        card: Box<Card>,
        reason: String,
    },
    /// `token` is as it was issued; `uses` is what has become of it.
    Issued {
        card: Box<Card>,
        token: Box<ApprovalToken>,
        uses: Vec<Use>,
    },
}

/// One use of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    pub execution_nonce: Nonce,
    pub stage: Stage,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    Verified,
    Attached,
    Checked,
    Executed,
    Blocked { reason: String },
}

impl ApprovalState {
    pub fn apply(&mut self, event: &ApprovalEvent) {
        match event {
            ApprovalEvent::Requested(requested) => *self = Self::Requested { card: Box::new(requested.card.clone()) },
            ApprovalEvent::Decided(decision) => self.with_card(|card| decided(card, decision)),
            ApprovalEvent::Expired(_) => self.with_card(|card| Self::Expired { card }),
            ApprovalEvent::Withdrawn(withdrawn) => {
                self.with_card(|card| Self::Withdrawn { card, reason: withdrawn.reason.clone() });
            }
            ApprovalEvent::Issued(issued) => self.with_card(|card| {
                let token = Box::new(issued.token.clone());
                Self::Issued { card, token, uses: Vec::new() }
            }),
            ApprovalEvent::VerifyFailed(_) => {}
            ApprovalEvent::Verified(verified) => {
                if let Self::Issued { uses, .. } = self {
                    uses.push(Use { execution_nonce: verified.execution_nonce, stage: Stage::Verified });
                }
            }
            ApprovalEvent::Attached(attached) => self.advance(attached.execution_nonce, Stage::Attached),
            ApprovalEvent::Checked(checked) => self.check(checked.execution_nonce),
            ApprovalEvent::CheckFailed(failed) => {
                self.advance(failed.execution_nonce, Stage::Blocked { reason: failed.reason.clone() });
            }
            ApprovalEvent::Executed(executed) => self.advance(executed.execution_nonce, Stage::Executed),
        }
    }

    fn with_card(&mut self, next: impl FnOnce(Box<Card>) -> Self) {
        *self = match std::mem::take(self) {
            Self::Absent => Self::Absent,
            Self::Requested { card }
            | Self::Decided { card, .. }
            | Self::Refused { card, .. }
            | Self::Expired { card }
            | Self::Withdrawn { card, .. }
            | Self::Issued { card, .. } => next(card),
        };
    }

    /// A plan that runs already may be entered again; that makes it no less executed.
    fn check(&mut self, nonce: Nonce) {
        if self.used(nonce).is_some_and(|used| used.stage != Stage::Executed) {
            self.advance(nonce, Stage::Checked);
        }
    }

    fn advance(&mut self, nonce: Nonce, stage: Stage) {
        if let Self::Issued { uses, .. } = self
            && let Some(used) = uses.iter_mut().find(|used| used.execution_nonce == nonce)
        {
            used.stage = stage;
        }
    }

    pub fn card(&self) -> Option<&Card> {
        match self {
            Self::Absent => None,
            Self::Requested { card }
            | Self::Decided { card, .. }
            | Self::Refused { card, .. }
            | Self::Expired { card }
            | Self::Withdrawn { card, .. }
            | Self::Issued { card, .. } => Some(card),
        }
    }

    pub fn used(&self, nonce: Nonce) -> Option<&Use> {
        match self {
            Self::Issued { uses, .. } => uses.iter().find(|used| used.execution_nonce == nonce),
            _ => None,
        }
    }

    /// The token with its uses counted, as it is shown to whoever verifies it.
    pub fn token(&self) -> Option<ApprovalToken> {
        let Self::Issued { token, uses, .. } = self else { return None };
        Some(ApprovalToken {
            executions_used: u32::try_from(uses.len()).unwrap_or(u32::MAX),
            execution_nonces: uses.iter().map(|used| used.execution_nonce).collect(),
            ..(**token).clone()
        })
    }

    /// Whether a person is still asked.
    pub const fn is_open(&self) -> bool {
        matches!(self, Self::Requested { .. })
    }
}

fn decided(card: Box<Card>, decision: &Decided) -> ApprovalState {
    let decision = decision.clone();
    match decision.verdict {
        Verdict::Approved | Verdict::Conditional => ApprovalState::Decided { card, decision },
        Verdict::Declined | Verdict::EditRequested => ApprovalState::Refused { card, decision },
    }
}
