//! The token: what a person allowed, signed with the owner's key. Contracts §3's fields by their exact names. A token by
//! itself proves nothing; `windlass-policy` checks the signature, and the approval's stream counts its uses.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::approval::TokenId;
use crate::digest::Digest;
use crate::id::Tenant;
use crate::time::Wall;

/// Every field but `signature`, `executions_used` and `execution_nonces` is signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovalToken {
    pub token_id: TokenId,
    pub tenant: Tenant,
    pub key_id: KeyId,
    pub plan_hash: Option<Digest>,
    pub binding_hash: Option<Digest>,
    pub spawn_policy_hash: Option<Digest>,
    pub work_item_id: String,
    pub scope: ApprovalScope,
    pub verdict: Verdict,
    pub signature: Signature,
    pub issued_at: Wall,
    pub expires_at: Wall,
    pub nonce: Nonce,
    pub approval_strength: Strength,
    pub conditions: Vec<String>,
    pub max_executions: u32,
    pub executions_used: u32,
    pub execution_nonces: Vec<Nonce>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalScope {
    FullPlan,
    SingleStep,
    StepRange,
    ToolType,
    SkillInstall,
    CredentialUse,
    Budget,
    SelfUpdate,
    Standing,
}

impl ApprovalScope {
    pub const ALL: [Self; 9] = [
        Self::FullPlan,
        Self::SingleStep,
        Self::StepRange,
        Self::ToolType,
        Self::SkillInstall,
        Self::CredentialUse,
        Self::Budget,
        Self::SelfUpdate,
        Self::Standing,
    ];
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Approved,
    Declined,
    /// Not like this: the note says what should change.
    EditRequested,
    /// Approved, and the conditions are part of what was signed.
    Conditional,
}

impl Verdict {
    pub const ALL: [Self; 4] = [Self::Approved, Self::Declined, Self::EditRequested, Self::Conditional];

    pub const fn allows(self) -> bool {
        matches!(self, Self::Approved | Self::Conditional)
    }
}

/// How much a person did to give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Strength {
    /// Whoever issued the run is taken to have allowed it by doing so.
    Implied,
    /// Somebody answered a card.
    Explicit,
    /// Somebody answered a card, and answered again when asked whether that was meant.
    Confirmed,
}

impl Strength {
    pub const ALL: [Self; 3] = [Self::Implied, Self::Explicit, Self::Confirmed];
}

/// Which public key checks the signature.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyId(pub String);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// 128 random bits, used once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nonce([u8; 16]);

impl Nonce {
    pub const fn new(random: u128) -> Self {
        Self(random.to_be_bytes())
    }
}

/// An Ed25519 signature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; 64]);

impl Signature {
    pub const fn new(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }

    pub const fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }
}

macro_rules! written_in_hex {
    ($($name:ident),+) => {$(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = NotHex;
            fn from_str(text: &str) -> Result<Self, NotHex> {
                from_hex(text).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}
written_in_hex!(Nonce, Signature);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {0} lower-case hex digits")]
pub struct NotHex(usize);

fn from_hex<const N: usize>(text: &str) -> Result<[u8; N], NotHex> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    if text.len() != 2 * N {
        return Err(NotHex(2 * N));
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let (high, low) = digit(pair[0]).zip(digit(pair[1])).ok_or(NotHex(2 * N))?;
        *byte = high << 4 | low;
    }
    Ok(bytes)
}
