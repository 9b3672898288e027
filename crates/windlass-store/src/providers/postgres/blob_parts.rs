//! Large blobs, in parts of a size that PostgreSQL handles well. They are written outside the commit, so that nobody waits for
//! them under the writers' lock, each time under a body of their own: what is being swept is never what is being staged.

use uuid::Uuid;
use windlass_domain::{Digest, Tenant, Wall};

use crate::blob::Blob;
use crate::error::Error;
use crate::providers::postgres::codec::{Columns as _, Read, Text, millis};
use crate::providers::postgres::failure::Failure;
use crate::providers::postgres::session::Session;

pub(crate) const PART: usize = 1 << 20;

/// Whether the tenant has it; if so, it was put now: nobody forgets it before the commit that names it.
pub(super) async fn is_there(session: &Session, tenant: &Tenant, digest: Digest, now: Wall) -> Read<bool> {
    let sql = "UPDATE blobs SET put_at = greatest(put_at, $3) WHERE tenant = $1 AND digest = $2 RETURNING 1";
    let rows = session.query(sql, &[&Text(tenant.as_str()), &&digest.as_bytes()[..], &millis(now)]).await?;
    Ok(!rows.is_empty())
}

/// In one transaction: a body is whole or not there.
pub(super) async fn write(session: &Session, tenant: &Tenant, body: Uuid, bytes: &[u8]) -> Read<()> {
    let sql = "INSERT INTO blob_parts (body, number, tenant, data) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
    session.run("BEGIN").await?;
    for (part, number) in bytes.chunks(PART).zip(0_i32..) {
        session.query(sql, &[&body, &number, &Text(tenant.as_str()), &part]).await?;
    }
    session.run("COMMIT").await.map(drop)
}

pub(super) async fn size(session: &Session, tenant: &Tenant, digest: Digest) -> Read<Option<u64>> {
    let sql = "SELECT size FROM blobs WHERE tenant = $1 AND digest = $2";
    let rows = session.query(sql, &[&Text(tenant.as_str()), &&digest.as_bytes()[..]]).await?;
    rows.first().map(|row| row.uint(0)).transpose()
}

pub(super) async fn read(session: &Session, tenant: &Tenant, digest: Digest, place: &str) -> Read<Option<Blob>> {
    let sql = "SELECT taint, data, body FROM blobs WHERE tenant = $1 AND digest = $2";
    let rows = session.query(sql, &[&Text(tenant.as_str()), &&digest.as_bytes()[..]]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let bytes = match (row.value::<Option<Vec<u8>>>(1)?, row.value::<Option<Uuid>>(2)?) {
        (Some(bytes), _) => bytes,
        (None, body) => {
            let sql = "SELECT data FROM blob_parts WHERE body = $1 ORDER BY number";
            let mut bytes = Vec::new();
            for part in session.query(sql, &[&body]).await? {
                bytes.extend_from_slice(part.value(0)?);
            }
            bytes
        }
    };
    if Digest::of(&bytes) != digest {
        let detail = format!("the bytes of blob {digest} are not those its name stands for");
        return Err(Failure::Refused(Error::Corrupt { path: place.into(), detail }));
    }
    Ok(Some(Blob { bytes, taint: row.taint(0)? }))
}
