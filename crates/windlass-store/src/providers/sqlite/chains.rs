//! The last digest of each tenant's chain, as far as it is known here. The transaction that uses it begins by asking whether
//! another process has appended since; if so, what it appended is looked through. A tenant that is met for the first time
//! is looked for among the last rows, and then by its streams: an index for this would cost every commit a page.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, Result, Row, params};
use windlass_domain::{Digest, Tenant};

use crate::chain::{ChainHead, genesis};
use crate::providers::sqlite::codec::{digest, int, uint};
use crate::stream::Position;

/// As many tenants as are remembered.
const MOST: usize = 10_000;

/// More rows of other processes than this are not looked through: each tenant is looked for when it is next met.
const MANY: u64 = 10_000;

/// As many rows as are looked through before the tenant's streams are asked.
const NEAR: i64 = 4_096;

#[derive(Default)]
pub(super) struct Chains {
    /// Up to this position every remembered digest is the tenant's last.
    seen: Position,
    by_tenant: BTreeMap<Tenant, Digest>,
}

impl Chains {
    /// At the beginning of a transaction; `last` is the last event there is.
    pub(super) fn begin(&mut self, connection: &Connection, last: Position) -> Result<()> {
        if last != self.seen {
            if last.0.saturating_sub(self.seen.0) > MANY {
                self.forget();
            }
            if !self.by_tenant.is_empty() {
                self.catch_up(connection)?;
            }
            self.seen = last;
        }
        Ok(())
    }

    fn catch_up(&mut self, connection: &Connection) -> Result<()> {
        let sql = "SELECT tenant, chain FROM events WHERE position > ?1 AND chain IS NOT NULL ORDER BY position";
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![int(self.seen.0)])?;
        while let Some(row) = rows.next()? {
            if let Some(known) = self.by_tenant.get_mut(&Tenant::new(row.get::<_, String>(0)?)) {
                *known = digest(row.get(1)?);
            }
        }
        Ok(())
    }

    /// The digest that the tenant's next commit follows.
    pub(super) fn last(&mut self, connection: &Connection, tenant: &Tenant) -> Result<Digest> {
        if let Some(known) = self.by_tenant.get(tenant) {
            return Ok(*known);
        }
        let found = chain_head(connection, tenant)?.map_or_else(|| genesis(tenant), |head| head.digest);
        self.remember(tenant, found);
        Ok(found)
    }

    pub(super) fn advance(&mut self, tenant: &Tenant, head: ChainHead) {
        self.seen = head.position;
        self.remember(tenant, head.digest);
    }

    fn remember(&mut self, tenant: &Tenant, digest: Digest) {
        if let Some(known) = self.by_tenant.get_mut(tenant) {
            *known = digest;
            return;
        }
        if self.by_tenant.len() == MOST {
            self.by_tenant.clear();
        }
        self.by_tenant.insert(tenant.clone(), digest);
    }

    /// What was remembered may not have happened.
    pub(super) fn forget(&mut self) {
        self.by_tenant.clear();
    }
}

/// Where the tenant's chain stands.
pub(super) fn chain_head(connection: &Connection, tenant: &Tenant) -> Result<Option<ChainHead>> {
    let near = "SELECT position, chain FROM events
                WHERE position > (SELECT coalesce(max(position), 0) FROM events) - ?2
                  AND tenant = ?1 AND chain IS NOT NULL
                ORDER BY position DESC LIMIT 1";
    let found = connection.prepare_cached(near)?.query_row(params![tenant.as_str(), NEAR], head).optional()?;
    if found.is_some() {
        return Ok(found);
    }
    // The last row of a tenant ends its last commit, so it holds the digest.
    let by_streams = "SELECT position, chain FROM events WHERE position =
                          (SELECT max((SELECT position FROM events WHERE stream = key ORDER BY seq DESC LIMIT 1))
                           FROM streams WHERE tenant = ?1)";
    connection.prepare_cached(by_streams)?.query_row(params![tenant.as_str()], head).optional()
}

fn head(row: &Row<'_>) -> Result<ChainHead> {
    Ok(ChainHead { position: Position(uint(0, row.get(0)?)?), digest: digest(row.get(1)?) })
}
