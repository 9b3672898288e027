//! Verifying a tenant's chain against the heads that were kept of it. The chain by itself shows any edit and any gap; heads
//! show an end that was cut off and a history that was written anew, digests and all. Whether a head is the owner's is judged
//! by whoever kept it.

use std::collections::BTreeMap;

use windlass_domain::Digest;
use windlass_store::chain::{Break, Verified, verify};
use windlass_store::{ChainHead, Position};

use super::heads::is_seal_of;
use crate::Error;
use crate::engine::Engine;

const PAGE: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audited {
    /// Every row is as it was written, and every head is where it was.
    Intact {
        events: u64,
        /// As many of them as came after the last head.
        unsealed: u64,
        /// Where the chain says that it was sealed last; a head of it should be there.
        sealed: Option<Position>,
    },
    Broken(Break),
    /// The chain is sound in itself, and is not the one whose head was signed at this position.
    NotAsSigned {
        at: Position,
    },
}

impl Engine {
    /// Whether the chain has this head: one row is looked at, so that it can be asked before any work.
    pub async fn has_head(&self, head: &ChainHead) -> Result<bool, Error> {
        let before = Position(head.position.0.saturating_sub(1));
        let found = self.shared.store.links(&self.shared.tenant, before, 1).await?;
        Ok(found.first().is_some_and(|link| link.event.position == head.position && link.digest == Some(head.digest)))
    }

    pub async fn verify_audit(&self, heads: &[ChainHead]) -> Result<Audited, Error> {
        let newest = heads.iter().max_by_key(|head| head.position).copied();
        match verify(self.shared.store.as_ref(), &self.shared.tenant, None, newest).await? {
            Verified::Broken(broken) => Ok(Audited::Broken(broken)),
            Verified::Intact { events, .. } => self.compare(heads, newest, events).await,
        }
    }

    /// With every head, not only the newest: a history that was cut back and went on otherwise has its newest head too.
    async fn compare(&self, heads: &[ChainHead], newest: Option<ChainHead>, events: u64) -> Result<Audited, Error> {
        let mut signed: BTreeMap<Position, Vec<Digest>> = BTreeMap::new();
        for head in heads {
            signed.entry(head.position).or_default().push(head.digest);
        }
        let end_of_signed = newest.map_or(Position(0), |head| head.position);
        let (mut seen, mut unsealed, mut sealed) = (Position(0), 0, None);
        loop {
            let page = self.shared.store.links(&self.shared.tenant, seen, PAGE).await?;
            for link in &page {
                seen = link.event.position;
                unsealed += u64::from(seen > end_of_signed);
                if is_seal_of(&link.event, self.shared.process.place()) {
                    sealed = Some(seen);
                }
                let signed = signed.remove(&seen).unwrap_or_default();
                if signed.iter().any(|digest| Some(*digest) != link.digest) {
                    return Ok(Audited::NotAsSigned { at: seen });
                }
            }
            if page.len() < PAGE {
                break;
            }
        }
        match signed.first_key_value() {
            Some((at, _)) => Ok(Audited::NotAsSigned { at: *at }),
            None => Ok(Audited::Intact { events, unsealed, sealed }),
        }
    }
}
