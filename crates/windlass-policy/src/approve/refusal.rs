//! Why a token is worth nothing here, each reason apart, in words for the audit and the person who is told.

use windlass_domain::approval::{KeyId, Strength, Verdict};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the token is larger than any token is")]
    TooLarge,
    #[error("this is not a token: {0}")]
    NotAToken(String),
    #[error("the token is not written the one way tokens are")]
    NotCanonical,
    #[error("the key {0} is not one of the owner's")]
    UnknownKey(KeyId),
    #[error("the key {0} had been retired when this was signed")]
    RetiredKey(KeyId),
    #[error("the signature does not hold")]
    BadSignature,
    #[error("the answer was not a yes ({0:?})")]
    NotApproved(Verdict),
    #[error("the token binds nothing")]
    BindsNothing,
    #[error("the token belongs to another tenant")]
    OtherTenant,
    #[error("the token belongs to another work item")]
    OtherWorkItem,
    #[error("the token is of another scope")]
    OtherScope,
    #[error("the plan is not the one that was approved")]
    OtherPlan,
    #[error("the call is not the one that was approved")]
    OtherCall,
    #[error("the spawn policy is not the one that was approved")]
    OtherSpawnPolicy,
    #[error("this needs an approval that is {0:?}")]
    TooWeak(Strength),
    #[error("the token was issued in the future; look at the clock")]
    NotYetValid,
    #[error("the token has expired")]
    Expired,
    #[error("the token's count of uses is not the one on record")]
    OtherCount,
    #[error("all {0} uses of the token are spent")]
    UsedUp(u32),
    #[error("the execution nonce was used before")]
    NonceUsed,
    #[error("no use of the token was verified with this nonce")]
    NeverVerified,
}
