//! What may be written: nothing that an owner at work cannot read. Who is at work is asked under the writers' lock, so that nobody
//! comes in between. What is new as a whole and cannot be brought down is refused with its commit (`apply`).

use windlass_domain::millis as in_millis;

use crate::commit::Commit;
use crate::owner::AT_WORK;
use crate::providers::postgres::apply::first;
use crate::providers::postgres::codec::{Columns as _, Read, int, millis};
use crate::providers::postgres::session::Session;

const LEAST: &str = "SELECT min(level) FROM owners WHERE NOT retired AND beat_at >= $1";

/// The group as everybody at work reads it. `None`: all of it is what everybody has always read, which is as a rule so.
pub(super) async fn lower(session: &Session, group: &[&Commit]) -> Read<Option<Vec<Commit>>> {
    if !group.iter().any(|commit| commit.is_of_levels()) {
        return Ok(None);
    }
    let mut lowered = Vec::with_capacity(group.len());
    for commit in group {
        let commit = (*commit).clone();
        if !commit.is_of_levels() {
            lowered.push(commit);
            continue;
        }
        let since = millis(commit.at).saturating_sub(int(in_millis(AT_WORK)));
        let rows = session.query(LEAST, &[&since]).await?;
        let row = first(&rows)?;
        lowered.push(match row.is_null(0) {
            true => commit,
            false => commit.for_level(u32::try_from(row.uint(0)?).unwrap_or(u32::MAX)),
        });
    }
    Ok(Some(lowered))
}
