//! What a group of commits builds on, read once the lock is held and kept as the group's commits are planned: the last
//! position, the heads of the streams that they name, and the end of each tenant's chain. Nobody else writes meanwhile, so
//! this is known and need not be asked again.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::Row;
use windlass_domain::{Digest, Seq, Tenant};

use crate::chain::{ChainHead, genesis};
use crate::commit::Commit;
use crate::providers::postgres::codec::{Columns as _, Read, digest, written};
use crate::stream::{Position, StreamId};

pub(super) const LAST_POSITION: &str = "SELECT coalesce(max(position), 0) FROM events";

pub(super) const HEADS: &str =
    "SELECT asked.tenant, asked.name, (SELECT max(seq) FROM events WHERE stream = streams.key)
     FROM unnest($1::text[], $2::text[]) AS asked (tenant, name)
     JOIN streams ON streams.tenant = asked.tenant COLLATE \"C\" AND streams.name = asked.name COLLATE \"C\"";

pub(super) const CHAINS: &str =
    "SELECT asked.tenant, last.chain FROM unnest($1::text[]) AS asked (tenant) CROSS JOIN LATERAL
         (SELECT chain FROM events WHERE events.tenant = asked.tenant COLLATE \"C\" ORDER BY position DESC LIMIT 1) AS last";

#[derive(Debug, Clone, Default)]
pub(super) struct Ground {
    pub last: Position,
    heads: BTreeMap<(Tenant, StreamId), Seq>,
    chains: BTreeMap<Tenant, Digest>,
}

/// What a group has to know.
#[derive(Debug, Default)]
pub(super) struct Questions {
    pub stream_tenants: Vec<String>,
    pub stream_names: Vec<String>,
    pub tenants: Vec<String>,
}

impl Questions {
    pub(super) fn of(group: &[&Commit]) -> Self {
        let mut streams = BTreeSet::new();
        let mut tenants = BTreeSet::new();
        for commit in group {
            let expected = commit.expect.iter().map(|(stream, _)| stream);
            let appended = commit.events.iter().map(|event| &event.stream);
            let folded = commit.snapshots.iter().map(|snapshot| &snapshot.stream);
            streams
                .extend(expected.chain(appended).chain(folded).map(|stream| (commit.tenant.as_str(), stream.as_str())));
            if !commit.events.is_empty() {
                tenants.insert(commit.tenant.as_str());
            }
        }
        Self {
            stream_tenants: streams.iter().map(|(tenant, _)| written(tenant).into_owned()).collect(),
            stream_names: streams.iter().map(|(_, name)| written(name).into_owned()).collect(),
            tenants: tenants.into_iter().map(|tenant| written(tenant).into_owned()).collect(),
        }
    }
}

impl Ground {
    pub(super) fn read(last: &Row, heads: &[Row], chains: &[Row]) -> Read<Self> {
        let mut ground = Self { last: Position(last.uint(0)?), ..Self::default() };
        for row in heads {
            let key = (Tenant::new(row.text(0)?), StreamId::from_stored(&row.text(1)?));
            ground.heads.insert(key, Seq(row.uint(2)?));
        }
        for row in chains {
            ground.chains.insert(Tenant::new(row.text(0)?), digest(row.value(1)?)?);
        }
        Ok(ground)
    }

    pub(super) fn head(&self, tenant: &Tenant, stream: &StreamId) -> Seq {
        self.heads.get(&(tenant.clone(), stream.clone())).copied().unwrap_or(Seq(0))
    }

    pub(super) fn advance(&mut self, tenant: &Tenant, stream: &StreamId) -> Seq {
        let head = self.heads.entry((tenant.clone(), stream.clone())).or_default();
        *head = Seq(head.0 + 1);
        self.last = Position(self.last.0 + 1);
        *head
    }

    /// The digest that the tenant's next commit follows.
    pub(super) fn chain(&self, tenant: &Tenant) -> Digest {
        self.chains.get(tenant).copied().unwrap_or_else(|| genesis(tenant))
    }

    pub(super) fn close(&mut self, tenant: &Tenant, head: ChainHead) {
        self.chains.insert(tenant.clone(), head.digest);
    }
}
