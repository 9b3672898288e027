//! `keys/public.json`: the public halves, oldest first, each with the time it was made and the time it was retired. The id is
//! computed from the key; one that does not match is refused with the whole list.

use std::path::Path;

use serde::{Deserialize, Serialize};
use windlass_domain::approval::KeyId;
use windlass_domain::{Digest, Wall};
use windlass_policy::approve::{OwnerKey, PublicKeys};

use super::private_files::{Kind, Refused, read, replace};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownKey {
    pub key_id: KeyId,
    /// 32 bytes in hex, which is how a digest is written, too.
    pub public: Digest,
    pub created_at: Wall,
    /// None: it is the current one.
    pub retired_at: Option<Wall>,
}

/// Of a list that is not there, nothing.
pub fn read_list(path: &Path) -> Result<Vec<KnownKey>, Refused> {
    let Some(bytes) = read(path, Kind::Public)? else { return Ok(Vec::new()) };
    let broken = |problem: String| {
        let advice = "put it back from a copy; without it, signatures of earlier keys count no more";
        Refused::new(path, problem, advice)
    };
    let list: Vec<KnownKey> =
        serde_json::from_slice(&bytes).map_err(|error| broken(format!("it cannot be read: {error}")))?;
    for key in &list {
        let computed = PublicKeys::default().add(key.public.as_bytes());
        if computed.as_ref() != Ok(&key.key_id) {
            return Err(broken(format!("the key {} is not what its id says", key.key_id)));
        }
    }
    Ok(list)
}

/// The list with this key as the current one.
pub fn with_current(mut list: Vec<KnownKey>, key: &OwnerKey, now: Wall) -> Vec<KnownKey> {
    let (key_id, public) = (key.key_id(), digest_of(key.public()));
    for earlier in list.iter_mut().filter(|known| known.key_id != key_id) {
        earlier.retired_at.get_or_insert(now);
    }
    match list.iter_mut().find(|known| known.key_id == key_id) {
        Some(known) => known.retired_at = None,
        None => list.push(KnownKey { key_id, public, created_at: now, retired_at: None }),
    }
    list
}

pub fn write_list(path: &Path, list: &[KnownKey]) -> Result<(), Refused> {
    let mut text = serde_json::to_vec_pretty(list).expect("keys are plain data");
    text.push(b'\n');
    replace(path, &text)
}

fn digest_of(bytes: [u8; 32]) -> Digest {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    hex.parse().expect("32 bytes in hex")
}
