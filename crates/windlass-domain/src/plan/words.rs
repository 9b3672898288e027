//! The words that plans are written in: names, and what is to happen when something goes wrong.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::cron::Cron;

const LONGEST_ID: usize = 64;

/// What an item is called, within its plan. It becomes a part of paths and of branch names, so that it is a plain word.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AtomId(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be a word of at most {LONGEST_ID} small letters, digits, `-` and `_` that begins with a letter or digit, such as `api-tests`"
)]
pub struct NotAnAtomId;

impl AtomId {
    pub fn parse(text: &str) -> Result<Self, NotAnAtomId> {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
        let begins_well = text.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit());
        if begins_well && text.len() <= LONGEST_ID && text.chars().all(is_plain) {
            return Ok(Self(text.to_owned()));
        }
        Err(NotAnAtomId)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AtomId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for AtomId {
    type Error = NotAnAtomId;

    fn try_from(text: String) -> Result<Self, NotAnAtomId> {
        Self::parse(&text)
    }
}

impl From<AtomId> for String {
    fn from(id: AtomId) -> Self {
        id.0
    }
}

/// Words in a document, each with the value it stands for.
macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($variant:ident = $word:literal),+ $(,)? })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name {
            $(#[serde(rename = $word)] $variant,)+
        }

        impl $name {
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    )+};
}

words! {
    /// When people are asked: where policy says so, or before every call that changes something.
    InteractionMode { ConfirmOnlyWhenRequired = "confirm_only_when_required", ConfirmAlways = "confirm_always" }
    /// When an attempt has failed its checks.
    OnStuck { ConsultPlanner = "consult_planner", Retry = "retry", EscalateHuman = "escalate_human" }
    /// When there is nothing left to try.
    OnFailure { Report = "report", EscalateHuman = "escalate_human" }
    /// A way in which an attempt, or all of them, may end badly.
    Trouble { Failed = "failed", Stuck = "stuck", Blocked = "blocked", VerificationFailed = "verification_failed" }
    /// What happens then.
    Escalation { Report = "report", EscalateHuman = "escalate_human", Retry = "retry", SpawnTask = "spawn_task" }
}

/// What a plan says about how an item is dealt with, beside its work: what follows from each trouble, and whether its agent asks
/// before it changes anything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handling {
    pub on_failure: OnFailure,
    pub escalation: BTreeMap<Trouble, Escalation>,
    pub interaction_mode: InteractionMode,
}

impl Default for Handling {
    fn default() -> Self {
        Self {
            on_failure: OnFailure::Report,
            escalation: BTreeMap::new(),
            interaction_mode: InteractionMode::ConfirmOnlyWhenRequired,
        }
    }
}

impl Handling {
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// What follows when nothing is left to try: the word about that very trouble before the general one.
    pub fn when_stuck(&self) -> Escalation {
        self.escalation.get(&Trouble::Stuck).copied().unwrap_or(match self.on_failure {
            OnFailure::Report => Escalation::Report,
            OnFailure::EscalateHuman => Escalation::EscalateHuman,
        })
    }
}

/// When a goal is looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// Again as soon as it was looked at.
    AlwaysOn,
    Cron(Cron),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_plain_word() {
        for good in ["a", "1", "api-tests", "step_2", &"x".repeat(64)] {
            assert_eq!(AtomId::parse(good).map(String::from).as_deref(), Ok(good));
        }
        for bad in ["", "-a", "_a", "A", "a b", "a/b", "..", "a.b", "ü", &"x".repeat(65)] {
            assert!(AtomId::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_id_from_a_record_is_held_to_the_same() {
        assert!(serde_json::from_str::<AtomId>("\"../etc\"").is_err());
    }
}
