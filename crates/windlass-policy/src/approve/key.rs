//! The owner's keys. The private half can be neither printed nor serialised; where it is kept is for the binary. Public
//! halves stay after a rotation, so that what an old key signed before still counts; what it signs after counts no more. A
//! key's id is computed from the key, so that no key can pass for another.

use std::collections::BTreeMap;

use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use windlass_domain::approval::{KeyId, Signature};
use windlass_domain::{Digest, Secret, Wall};

/// What a signature is for; one made for this is nothing anywhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    ApprovalToken,
    /// The head of an audit chain.
    AuditHead,
    /// A message that claims to be the owner's own.
    OwnerMessage,
}

impl Purpose {
    fn separate(self, message: &[u8]) -> Vec<u8> {
        let name = match self {
            Self::ApprovalToken => "approval-token",
            Self::AuditHead => "audit-head",
            Self::OwnerMessage => "owner-message",
        };
        [format!("windlass/{name}/v1\n").as_bytes(), message].concat()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadKey {
    #[error("a private key is 64 hex digits")]
    NotHex,
    #[error("this is no usable Ed25519 public key")]
    NotAPublicKey,
}

/// The private half. It is wiped from memory when it is dropped.
pub struct OwnerKey(SigningKey);

impl OwnerKey {
    /// `random` must come from the operating system.
    pub fn new(random: &[u8; 32]) -> Self {
        Self(SigningKey::from_bytes(random))
    }

    /// As `reveal` wrote it.
    pub fn read(text: &Secret) -> Result<Self, BadKey> {
        let bytes: Digest = text.expose().trim().parse().map_err(|_| BadKey::NotHex)?;
        Ok(Self::new(bytes.as_bytes()))
    }

    /// For the one place that keeps it.
    pub fn reveal(&self) -> Secret {
        Secret::new(self.0.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    }

    pub fn public(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    pub fn key_id(&self) -> KeyId {
        key_id(&self.0.verifying_key())
    }

    pub fn sign(&self, purpose: Purpose, message: &[u8]) -> Signature {
        Signature::new(self.0.sign(&purpose.separate(message)).to_bytes())
    }
}

/// The keys whose signatures count, the current one and those before it.
#[derive(Debug, Clone, Default)]
pub struct PublicKeys(BTreeMap<KeyId, Known>);

#[derive(Debug, Clone)]
struct Known {
    key: VerifyingKey,
    /// None: it is in use.
    retired_at: Option<Wall>,
}

impl PublicKeys {
    /// A key that is in use. Keys for which a signature of anything could be made up are refused.
    pub fn add(&mut self, public: &[u8; 32]) -> Result<KeyId, BadKey> {
        self.insert(public, None)
    }

    /// A key that was in use until then.
    pub fn add_retired(&mut self, public: &[u8; 32], at: Wall) -> Result<KeyId, BadKey> {
        self.insert(public, Some(at))
    }

    fn insert(&mut self, public: &[u8; 32], retired_at: Option<Wall>) -> Result<KeyId, BadKey> {
        let key = VerifyingKey::from_bytes(public).map_err(|_| BadKey::NotAPublicKey)?;
        if key.is_weak() {
            return Err(BadKey::NotAPublicKey);
        }
        let id = key_id(&key);
        self.0.insert(id.clone(), Known { key, retired_at });
        Ok(id)
    }

    pub fn knows(&self, key: &KeyId) -> bool {
        self.0.contains_key(key)
    }

    /// Whether the key had been retired before what it signed was made.
    pub fn was_retired(&self, key: &KeyId, signed_at: Wall) -> bool {
        self.0.get(key).and_then(|known| known.retired_at).is_some_and(|retired_at| signed_at > retired_at)
    }

    pub fn ids(&self) -> impl Iterator<Item = &KeyId> {
        self.0.keys()
    }

    /// Whether `key` made `signature` over `message` for `purpose`. Strict: a signature has one form only.
    pub fn holds(&self, key: &KeyId, purpose: Purpose, message: &[u8], signature: &Signature) -> bool {
        let signature = ed25519_dalek::Signature::from_bytes(signature.as_bytes());
        let verify = |known: &Known| known.key.verify_strict(&purpose.separate(message), &signature).is_ok();
        self.0.get(key).is_some_and(verify)
    }
}

fn key_id(key: &VerifyingKey) -> KeyId {
    let digest = Digest::of(&[b"windlass/owner-key/v1\n".as_slice(), key.as_bytes()].concat());
    KeyId(digest.to_string()[..32].to_owned())
}
