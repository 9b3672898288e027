//! Reads as SQL: a function from a connection and its arguments to rows. Each names the tenant, and each has an index
//! that answers it without looking at other rows. Those of queues are in `queue_reads`.

use rusqlite::{Connection, OptionalExtension as _, Result, Row, params};
use windlass_domain::{Digest, OwnerId, Seq, Taint, Tenant, Wall};

use crate::chain::Link;
use crate::commit::{Marker, Snapshot, TimerName};
use crate::lease::{Epoch, LeaseName, LeaseRow};
use crate::owner::OwnerRow;
use crate::providers::sqlite::codec::{digest, id, id_bytes, int, limit, taint, uint, version, wall};
use crate::record::{StoredEvent, StoredTimer, StreamHead};
use crate::stream::{Position, StreamId};

pub(super) fn stream(
    connection: &Connection,
    tenant: &Tenant,
    name: &StreamId,
    after: Seq,
    rows: usize,
) -> Result<Vec<StoredEvent>> {
    let sql = "SELECT position, ?2, seq, kind, version, data, taint, at FROM events
               WHERE stream = (SELECT key FROM streams WHERE tenant = ?1 AND name = ?2) AND seq > ?3
               ORDER BY seq LIMIT ?4";
    let values = params![tenant.as_str(), name.as_str(), int(after.0), limit(rows)];
    connection.prepare_cached(sql)?.query_map(values, event)?.collect()
}

pub(super) fn events(
    connection: &Connection,
    tenant: &Tenant,
    after: Position,
    rows: usize,
) -> Result<Vec<StoredEvent>> {
    let sql = "SELECT position, name, seq, kind, version, data, taint, at FROM events JOIN streams ON key = stream
               WHERE events.tenant = ?1 AND position > ?2
               ORDER BY position LIMIT ?3";
    let values = params![tenant.as_str(), int(after.0), limit(rows)];
    connection.prepare_cached(sql)?.query_map(values, event)?.collect()
}

fn event(row: &Row<'_>) -> Result<StoredEvent> {
    Ok(StoredEvent {
        position: Position(uint(0, row.get(0)?)?),
        stream: StreamId::from_stored(row.get_ref(1)?.as_str()?),
        seq: Seq(uint(2, row.get(2)?)?),
        kind: row.get(3)?,
        version: version(4, row.get(4)?)?,
        data: row.get(5)?,
        taint: taint(row.get(6)?),
        at: wall(7, row.get(7)?)?,
    })
}

pub(super) fn head(connection: &Connection, tenant: &Tenant, name: &StreamId) -> Result<Seq> {
    let sql = "SELECT coalesce(max(seq), 0) FROM events
               WHERE stream = (SELECT key FROM streams WHERE tenant = ?1 AND name = ?2)";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_row(params![tenant.as_str(), name.as_str()], |row| Ok(Seq(uint(0, row.get(0)?)?)))
}

pub(super) fn streams(
    connection: &Connection,
    tenant: &Tenant,
    kind: &str,
    before: Option<&StreamId>,
    rows: usize,
) -> Result<Vec<StreamHead>> {
    // '0' is the character after '/': every name of the kind lies between.
    let sql = "SELECT name, (SELECT max(seq) FROM events WHERE stream = key) FROM streams
               WHERE tenant = ?1 AND name > ?2 || '/' AND name < coalesce(?3, ?2 || '0')
               ORDER BY name DESC LIMIT ?4";
    let values = params![tenant.as_str(), kind, before.map(StreamId::as_str), limit(rows)];
    let stream_head = |row: &Row<'_>| {
        let stream = StreamId::from_stored(row.get_ref(0)?.as_str()?);
        Ok(StreamHead { stream, head: Seq(uint(1, row.get(1)?)?) })
    };
    connection.prepare_cached(sql)?.query_map(values, stream_head)?.collect()
}

pub(super) fn links(connection: &Connection, tenant: &Tenant, after: Position, rows: usize) -> Result<Vec<Link>> {
    let sql = "SELECT position, name, seq, kind, version, data, taint, at, chain
               FROM events JOIN streams ON key = stream
               WHERE events.tenant = ?1 AND position > ?2
               ORDER BY position LIMIT ?3";
    let values = params![tenant.as_str(), int(after.0), limit(rows)];
    let link = |row: &Row<'_>| Ok(Link { event: event(row)?, digest: row.get::<_, Option<_>>(8)?.map(digest) });
    connection.prepare_cached(sql)?.query_map(values, link)?.collect()
}

pub(super) fn is_marked(connection: &Connection, tenant: &Tenant, marker: &Marker) -> Result<bool> {
    let sql = "SELECT 1 FROM processed WHERE tenant = ?1 AND scope = ?2 AND key = ?3";
    connection.prepare_cached(sql)?.exists(params![tenant.as_str(), marker.scope, marker.key.as_bytes()])
}

pub(super) fn timers_due(
    connection: &Connection,
    tenant: Option<&Tenant>,
    now: Wall,
    rows: usize,
) -> Result<Vec<StoredTimer>> {
    let sql = "SELECT name, due, queue, kind, version, data, taint, tenant FROM timers
               WHERE due <= ?2 AND (?1 IS NULL OR tenant = ?1) ORDER BY due, tenant, name LIMIT ?3";
    let values = params![tenant.map(Tenant::as_str), int(now.as_millis()), limit(rows)];
    let timer = |row: &Row<'_>| {
        Ok(StoredTimer {
            tenant: Tenant::new(row.get::<_, String>(7)?),
            name: TimerName(row.get(0)?),
            due: wall(1, row.get(1)?)?,
            queue: row.get(2)?,
            kind: row.get(3)?,
            version: version(4, row.get(4)?)?,
            data: row.get(5)?,
            taint: taint(row.get(6)?),
        })
    };
    connection.prepare_cached(sql)?.query_map(values, timer)?.collect()
}

pub(super) fn lease(connection: &Connection, tenant: &Tenant, lease: &LeaseName) -> Result<Option<LeaseRow>> {
    // One statement: epoch and holder are of the same moment.
    let sql = "SELECT owners.id, owners.epoch, host, boot_id, pid, beat, beat_at, retired, level, leases.epoch
               FROM leases LEFT JOIN owners ON owners.id = leases.owner
               WHERE leases.tenant = ?1 AND name = ?2";
    let found = |row: &Row<'_>| {
        let held = row.get_ref(0)? != rusqlite::types::ValueRef::Null;
        let holder = if held { Some(owner_row(row)?) } else { None };
        Ok(LeaseRow { lease: lease.clone(), epoch: Epoch(uint(9, row.get(9)?)?), holder })
    };
    connection.prepare_cached(sql)?.query_row(params![tenant.as_str(), lease.as_str()], found).optional()
}

pub(super) fn owner(connection: &Connection, owner: OwnerId) -> Result<Option<OwnerRow>> {
    let sql = "SELECT id, epoch, host, boot_id, pid, beat, beat_at, retired, level FROM owners WHERE id = ?1";
    connection.prepare_cached(sql)?.query_row(params![id_bytes(&owner)], owner_row).optional()
}

pub(super) fn owner_row(row: &Row<'_>) -> Result<OwnerRow> {
    Ok(OwnerRow {
        id: id(0, row.get(0)?)?,
        epoch: Epoch(uint(1, row.get(1)?)?),
        host: row.get(2)?,
        boot_id: row.get(3)?,
        pid: row.get(4)?,
        beat: uint(5, row.get(5)?)?,
        beat_at: wall(6, row.get(6)?)?,
        retired: row.get(7)?,
        level: row.get(8)?,
    })
}

pub(super) fn snapshot(connection: &Connection, tenant: &Tenant, stream: &StreamId) -> Result<Option<Snapshot>> {
    let sql = "SELECT seq, version, data FROM snapshots
               WHERE stream = (SELECT key FROM streams WHERE tenant = ?1 AND name = ?2)";
    let found = |row: &Row<'_>| {
        let (seq, version) = (Seq(uint(0, row.get(0)?)?), version(1, row.get(1)?)?);
        Ok(Snapshot { stream: stream.clone(), seq, version, data: row.get(2)? })
    };
    connection.prepare_cached(sql)?.query_row(params![tenant.as_str(), stream.as_str()], found).optional()
}

/// A blob's row: its taint, and its bytes where they are in the row.
pub(super) struct BlobRow {
    pub taint: Taint,
    pub data: Option<Vec<u8>>,
}

pub(super) fn blob(connection: &Connection, tenant: &Tenant, digest: Digest) -> Result<Option<BlobRow>> {
    let sql = "SELECT taint, data FROM blobs WHERE tenant = ?1 AND digest = ?2";
    let found = |row: &Row<'_>| Ok(BlobRow { taint: taint(row.get(0)?), data: row.get(1)? });
    connection.prepare_cached(sql)?.query_row(params![tenant.as_str(), digest.as_bytes()], found).optional()
}

pub(super) fn blob_size(connection: &Connection, tenant: &Tenant, digest: Digest) -> Result<Option<u64>> {
    let sql = "SELECT size FROM blobs WHERE tenant = ?1 AND digest = ?2";
    let size = |row: &Row<'_>| uint(0, row.get(0)?);
    connection.prepare_cached(sql)?.query_row(params![tenant.as_str(), digest.as_bytes()], size).optional()
}

pub(super) fn has_blob(connection: &Connection, tenant: &Tenant, digest: Digest) -> Result<bool> {
    let sql = "SELECT 1 FROM blobs WHERE tenant = ?1 AND digest = ?2";
    connection.prepare_cached(sql)?.exists(params![tenant.as_str(), digest.as_bytes()])
}

pub(super) fn tenants(connection: &Connection) -> Result<Vec<Tenant>> {
    let mut statement = connection.prepare_cached("SELECT DISTINCT tenant FROM streams ORDER BY tenant")?;
    statement.query_map([], |row| row.get::<_, String>(0).map(Tenant::new))?.collect()
}

/// Whether or not they have a stream.
pub(super) fn tenants_with_blobs(connection: &Connection) -> Result<Vec<Tenant>> {
    let mut statement = connection.prepare_cached("SELECT DISTINCT tenant FROM blobs")?;
    statement.query_map([], |row| row.get::<_, String>(0).map(Tenant::new))?.collect()
}
