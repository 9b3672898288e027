//! Walking a chain from its beginning, or from a head that is believed, to its end, and digesting every row anew. It says
//! where the first thing is wrong; what was there before nobody can say.

use std::collections::BTreeMap;

use windlass_domain::{Digest, Seq, Tenant};

use crate::chain::{ChainHead, Link, Row, genesis, write_row};
use crate::error::Error;
use crate::record::StoredEvent;
use crate::store::Store;
use crate::stream::{Position, StreamId};

const PAGE: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verified {
    /// Every row is as it was written. `None`: there are none.
    Intact {
        head: Option<ChainHead>,
        events: u64,
    },
    Broken(Break),
}

/// The first thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Break {
    /// A row of the commit that ends at `at` is not as it was written, or was put in, or something before it is missing.
    Edited { at: Position },
    /// Rows are missing before the one at `before`: its stream does not go on where it stood.
    Gap { before: Position, stream: StreamId },
    /// The end is missing: nothing goes on after `after`, but the chain is known to have done so.
    Truncated { after: Position },
}

/// Verifies a tenant's chain. `from` is believed and not looked at again; `known` is a head that the chain once had, kept
/// where whoever can write the database cannot: without it an end that was cut off is not missed.
pub async fn verify(
    store: &dyn Store,
    tenant: &Tenant,
    from: Option<ChainHead>,
    known: Option<ChainHead>,
) -> Result<Verified, Error> {
    let mut walk = Walk::new(tenant, from, known);
    loop {
        let page = store.links(tenant, walk.seen, PAGE).await?;
        let is_last = page.len() < PAGE;
        for link in &page {
            if let Err(broken) = walk.step(link) {
                return Ok(Verified::Broken(broken));
            }
        }
        if is_last {
            return Ok(walk.end());
        }
    }
}

struct Walk {
    /// The last commit that was found as it should be.
    head: Option<ChainHead>,
    digest: Digest,
    known: Option<ChainHead>,
    seen: Position,
    /// The rows of the commit under way.
    bytes: Vec<u8>,
    streams: BTreeMap<StreamId, Seq>,
    /// A stream that was not seen before begins at its first record, where the walk began at the chain's.
    from_the_beginning: bool,
    events: u64,
}

impl Walk {
    fn new(tenant: &Tenant, from: Option<ChainHead>, known: Option<ChainHead>) -> Self {
        Self {
            head: from,
            digest: from.map_or_else(|| genesis(tenant), |head| head.digest),
            known,
            seen: from.map_or(Position(0), |head| head.position),
            bytes: Vec::new(),
            streams: BTreeMap::new(),
            from_the_beginning: from.is_none(),
            events: 0,
        }
    }

    fn step(&mut self, link: &Link) -> Result<(), Break> {
        let event = &link.event;
        self.expect_next(event.position, &event.stream, event.seq)?;
        self.seen = event.position;
        self.events += 1;
        let (kind, data) = (event.kind.as_str(), event.data.as_str());
        let StoredEvent { position, ref stream, seq, version, taint, at, .. } = *event;
        write_row(&mut self.bytes, &Row { position, stream, seq, kind, version, taint, at, data });
        link.digest.map_or(Ok(()), |written| self.close_commit(event.position, written))
    }

    fn expect_next(&mut self, position: Position, stream: &StreamId, seq: Seq) -> Result<(), Break> {
        let before = self.streams.insert(stream.clone(), seq);
        let goes_on = match before {
            Some(before) => seq.0 == before.0 + 1,
            None => !self.from_the_beginning || seq.0 == 1,
        };
        if goes_on { Ok(()) } else { Err(Break::Gap { before: position, stream: stream.clone() }) }
    }

    fn close_commit(&mut self, at: Position, written: Digest) -> Result<(), Break> {
        self.digest = self.digest.chain(&self.bytes);
        self.bytes.clear();
        let head = ChainHead { position: at, digest: self.digest };
        let contradicts = |known: ChainHead| known.position == at && known.digest != written;
        if self.digest != written || self.known.is_some_and(contradicts) {
            return Err(Break::Edited { at });
        }
        // Going past a known head without meeting it: it was a commit's end, and is none now.
        if self.known.is_some_and(|known| self.passed(known, at)) {
            return Err(Break::Edited { at });
        }
        self.head = Some(head);
        Ok(())
    }

    fn passed(&self, known: ChainHead, at: Position) -> bool {
        let before = self.head.map_or(Position(0), |head| head.position);
        before < known.position && known.position < at
    }

    fn end(self) -> Verified {
        let reached = self.head.map_or(Position(0), |head| head.position);
        // Every commit's last row has a digest: rows after the last one are the beginning of a commit.
        if !self.bytes.is_empty() || self.known.is_some_and(|known| known.position > reached) {
            return Verified::Broken(Break::Truncated { after: reached });
        }
        Verified::Intact { head: self.head, events: self.events }
    }
}
