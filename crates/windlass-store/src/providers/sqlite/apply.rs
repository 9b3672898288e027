//! One commit as SQL, inside a savepoint that the caller holds. Guards come first and cost reads; what is refused has
//! as a rule written nothing. What happens to messages in shared queues is in `deliver`.

use rusqlite::{Connection, OptionalExtension as _, params};
use windlass_domain::{Digest, MessageId, OwnerId, Seq, millis};

use crate::blob::{Body, NewBlob, STAGED_FOR};
use crate::chain::{ChainHead, Row, write_row};
use crate::commit::{
    Commit, Committed, Forgotten, MailboxSeen, Marker, NewEvent, NewMessage, Nonce, Snapshot, TimerChange,
};
use crate::error::Error;
use crate::lease::{Claim, Epoch, Fence, LeaseChange, LeaseName};
use crate::owner::{Abandoned, NewOwner, Owner, OwnerChange};
use crate::providers::sqlite::codec::{id, id_bytes, int, taint_code, uint};
use crate::providers::sqlite::failure::Failure;
use crate::providers::sqlite::levels::{lower, require_level};
use crate::stream::{Position, StreamId};

/// The scope of the markers that acked messages leave.
const MESSAGE: &str = "message";

/// `last` is the position of the last event there is; `chain`, which is asked only for a commit with events, the digest of
/// the tenant's last commit.
pub(super) fn apply(
    connection: &Connection,
    commit: &Commit,
    last: Position,
    chain: impl FnOnce() -> rusqlite::Result<Digest>,
) -> Result<Committed, Failure> {
    // Today's events are as a rule their first version, and cost nothing here.
    let lowered = match commit.is_of_levels() {
        true => Some(lower(connection, commit.clone())?),
        false => None,
    };
    let commit = lowered.as_ref().unwrap_or(commit);
    let mut applying = Applying {
        connection,
        commit,
        tenant: commit.tenant.as_str(),
        at: int(commit.at.as_millis()),
        streams: Vec::new(),
        committed: Committed { position: last, ..Committed::default() },
    };
    applying.run(chain)?;
    Ok(applying.committed)
}

pub(super) struct Applying<'a> {
    pub(super) connection: &'a Connection,
    commit: &'a Commit,
    pub(super) tenant: &'a str,
    pub(super) at: i64,
    /// The streams this commit has to do with; rarely more than two, so a list is the fastest map.
    streams: Vec<OpenStream<'a>>,
    pub(super) committed: Committed,
}

struct OpenStream<'a> {
    name: &'a StreamId,
    /// `None`: it has no row yet.
    key: Option<i64>,
    head: Seq,
    appended: bool,
}

pub(super) type Applied<T> = Result<T, Failure>;

/// Whether an event is the last of its commit.
enum Link {
    GoesOn,
    /// The tenant's commit before ended with `after`.
    Closes {
        after: Digest,
    },
}

impl<'a> Applying<'a> {
    fn run(&mut self, chain: impl FnOnce() -> rusqlite::Result<Digest>) -> Applied<()> {
        let commit = self.commit;
        if let Some(fence) = &commit.fence {
            self.require_held(fence)?;
        }
        for (stream, expected) in &commit.expect {
            self.require_head(stream, *expected)?;
        }
        each(&commit.absent, |marker| self.require_absent(marker))?;
        each(&commit.unread, |mailbox| self.require_read(mailbox))?;
        each(&commit.nonces, |nonce| self.use_nonce(nonce))?;
        each(&commit.processed, |marker| self.mark(marker))?;
        for change in &commit.owners {
            self.change_owner(change)?;
        }
        for change in &commit.leases {
            self.change_lease(change)?;
        }
        if let [before @ .., last] = &commit.events[..] {
            // Before the first row: it is looked for among the rows.
            let (after, mut bytes) = (chain()?, Vec::new());
            for event in before {
                self.append(event, &mut bytes, Link::GoesOn)?;
            }
            self.append(last, &mut bytes, Link::Closes { after })?;
        }
        each(&commit.messages, |message| self.enqueue(message))?;
        each(&commit.acks, |message| self.ack(*message))?;
        for change in &commit.deliveries {
            self.change_delivery(change)?;
        }
        if let Some(now) = commit.promote {
            self.promote(now)?;
        }
        each(&commit.timers, |change| self.change_timer(change))?;
        for snapshot in &commit.snapshots {
            self.keep_snapshot(snapshot)?;
        }
        each(&commit.blobs, |blob| self.keep_blob(blob))?;
        if let Some(forgotten) = &commit.forgotten {
            self.forget(forgotten)?;
        }
        let appended = self.streams.iter().filter(|stream| stream.appended);
        self.committed.heads = appended.map(|stream| (stream.name.clone(), stream.head)).collect();
        Ok(())
    }

    pub(super) fn execute(&self, sql: &str, values: impl rusqlite::Params) -> Applied<usize> {
        Ok(self.connection.prepare_cached(sql)?.execute(values)?)
    }

    /// The number that a writing statement returns. It is run to its end: SQLite gives the row first and checks foreign keys
    /// last.
    pub(super) fn returning(&self, sql: &str, values: impl rusqlite::Params) -> Applied<u64> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        let value = rows.next()?.ok_or(rusqlite::Error::QueryReturnedNoRows)?.get(0)?;
        while rows.next()?.is_some() {}
        Ok(uint(0, value)?)
    }

    fn require_held(&self, fence: &Fence) -> Applied<()> {
        let holds = |(epoch, owner)| (epoch, owner) == (int(fence.epoch.0), Some(id_bytes(&fence.owner)));
        match self.lease(&fence.lease)? {
            Some(found) if holds(found) => Ok(()),
            _ => refuse(Error::Fenced { lease: fence.lease.clone(), epoch: fence.epoch }),
        }
    }

    fn require_head(&mut self, name: &'a StreamId, expected: Seq) -> Applied<()> {
        let found = self.open_stream(name)?.head;
        if found == expected {
            return Ok(());
        }
        refuse(Error::Conflict { stream: name.clone(), expected, found })
    }

    fn open_stream(&mut self, name: &'a StreamId) -> Applied<&mut OpenStream<'a>> {
        let index = match self.streams.iter().position(|stream| stream.name == name) {
            Some(index) => index,
            None => {
                let found = self.find_stream(name)?;
                self.streams.push(found);
                self.streams.len() - 1
            }
        };
        Ok(&mut self.streams[index])
    }

    fn find_stream(&self, name: &'a StreamId) -> Applied<OpenStream<'a>> {
        let sql = "SELECT key, (SELECT max(seq) FROM events WHERE stream = key)
                   FROM streams WHERE tenant = ?1 AND name = ?2";
        let found = self
            .connection
            .prepare_cached(sql)?
            .query_row(params![self.tenant, name.as_str()], |row| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?)))
            .optional()?;
        Ok(match found {
            None => OpenStream { name, key: None, head: Seq(0), appended: false },
            Some((key, head)) => {
                let head = Seq(uint(1, head.unwrap_or(0))?);
                OpenStream { name, key: Some(key), head, appended: false }
            }
        })
    }

    fn use_nonce(&self, nonce: &Nonce) -> Applied<()> {
        let sql = "INSERT OR IGNORE INTO nonces (tenant, nonce, at) VALUES (?1, ?2, ?3)";
        match self.execute(sql, params![self.tenant, nonce.0, self.at])? {
            0 => refuse(Error::NonceUsed { nonce: nonce.clone() }),
            _ => Ok(()),
        }
    }

    fn require_absent(&self, marker: &Marker) -> Applied<()> {
        let sql = "SELECT 1 FROM processed WHERE tenant = ?1 AND scope = ?2 AND key = ?3";
        let mut statement = self.connection.prepare_cached(sql)?;
        if statement.exists(params![self.tenant, marker.scope, marker.key.as_bytes()])? {
            return refuse(Error::Present { marker: marker.clone() });
        }
        Ok(())
    }

    fn require_read(&self, MailboxSeen { mailbox, seen }: &MailboxSeen) -> Applied<()> {
        let sql = "SELECT id FROM messages INDEXED BY messages_by_subject
                   WHERE queue = ?1 AND tenant = ?2 AND leased_by IS NULL AND dead_reason IS NULL";
        let mut statement = self.connection.prepare_cached(sql)?;
        for waiting in statement.query_map(params![mailbox, self.tenant], |row| id(0, row.get(0)?))? {
            if !seen.contains(&waiting?) {
                return refuse(Error::Unread { mailbox: mailbox.clone() });
            }
        }
        Ok(())
    }

    fn mark(&self, marker: &Marker) -> Applied<()> {
        match self.insert_marker(&marker.scope, marker.key.as_bytes())? {
            0 => refuse(Error::Duplicate { what: format!("{} of {}", marker.key, marker.scope) }),
            _ => Ok(()),
        }
    }

    pub(super) fn insert_marker(&self, scope: &str, key: &[u8]) -> Applied<usize> {
        let sql = "INSERT OR IGNORE INTO processed (tenant, scope, key, at) VALUES (?1, ?2, ?3, ?4)";
        self.execute(sql, params![self.tenant, scope, key, self.at])
    }

    fn change_owner(&mut self, change: &OwnerChange) -> Applied<()> {
        match change {
            OwnerChange::Register(new) => self.register(new),
            OwnerChange::Beat(owner) => self.beat(owner),
            OwnerChange::Retire(owner) => self.retire(owner),
        }
    }

    fn register(&mut self, new: &NewOwner) -> Applied<()> {
        require_level(self.connection, new.level)?;
        let sql = "INSERT INTO owners (id, epoch, host, boot_id, pid, beat, beat_at, retired, level)
                   VALUES (?1, 1, ?2, ?3, ?4, 0, ?5, 0, ?6)
                   ON CONFLICT (id) DO UPDATE SET epoch = epoch + 1, host = excluded.host, boot_id = excluded.boot_id,
                       pid = excluded.pid, beat = 0, beat_at = excluded.beat_at, retired = 0, level = excluded.level
                   RETURNING epoch";
        let owner = id_bytes(&new.id);
        let epoch = self.returning(sql, params![owner, new.host, new.boot_id, new.pid, self.at, new.level])?;
        self.free_what_it_holds(owner)?;
        self.committed.owners.push((new.id, Epoch(epoch)));
        Ok(())
    }

    fn beat(&self, owner: &Owner) -> Applied<()> {
        let sql = "UPDATE owners SET beat = beat + 1, beat_at = ?3 WHERE id = ?1 AND epoch = ?2 AND retired = 0";
        match self.execute(sql, params![id_bytes(&owner.id), int(owner.epoch.0), self.at])? {
            0 => refuse(Error::Gone { what: format!("owner {} at epoch {}", owner.id, owner.epoch.0) }),
            _ => Ok(()),
        }
    }

    fn retire(&mut self, owner: &Owner) -> Applied<()> {
        let sql = "UPDATE owners SET retired = 1 WHERE id = ?1 AND epoch = ?2";
        match self.execute(sql, params![id_bytes(&owner.id), int(owner.epoch.0)])? {
            0 => Ok(()),
            _ => self.free_what_it_holds(id_bytes(&owner.id)),
        }
    }

    fn free_what_it_holds(&mut self, owner: [u8; 16]) -> Applied<()> {
        self.execute("UPDATE leases SET owner = NULL WHERE owner = ?1", params![owner])?;
        self.ready_what_was_delivered_to(owner)
    }

    /// The epoch and the holder.
    fn lease(&self, lease: &LeaseName) -> Applied<Option<(i64, Option<[u8; 16]>)>> {
        let sql = "SELECT epoch, owner FROM leases WHERE tenant = ?1 AND name = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_row(params![self.tenant, lease.as_str()], |row| Ok((row.get(0)?, row.get(1)?)));
        Ok(found.optional()?)
    }

    fn change_lease(&mut self, change: &LeaseChange) -> Applied<()> {
        match change {
            LeaseChange::Take { lease, owner, claim } => self.take(lease, *owner, claim),
            LeaseChange::Release(fence) => {
                self.require_held(fence)?;
                let sql = "UPDATE leases SET owner = NULL WHERE tenant = ?1 AND name = ?2";
                self.execute(sql, params![self.tenant, fence.lease.as_str()]).map(drop)
            }
        }
    }

    fn take(&mut self, lease: &LeaseName, owner: OwnerId, claim: &Claim) -> Applied<()> {
        if let Some((epoch, Some(holder))) = self.lease(lease)?
            && !self.is_abandoned(epoch, holder, claim)?
        {
            let (owner, epoch) = (id(1, holder)?, Epoch(uint(0, epoch)?));
            return refuse(Error::LeaseHeld { lease: lease.clone(), owner, epoch });
        }
        self.require_owner(owner)?;
        let sql = "INSERT INTO leases (tenant, name, epoch, owner, taken_at) VALUES (?1, ?2, 1, ?3, ?4)
                   ON CONFLICT (tenant, name) DO UPDATE SET epoch = epoch + 1, owner = excluded.owner,
                       taken_at = excluded.taken_at
                   RETURNING epoch";
        let epoch = self.returning(sql, params![self.tenant, lease.as_str(), id_bytes(&owner), self.at])?;
        self.committed.leases.push((lease.clone(), Epoch(epoch)));
        Ok(())
    }

    fn is_abandoned(&self, epoch: i64, holder: [u8; 16], claim: &Claim) -> Applied<bool> {
        let Claim::Abandoned { epoch: claimed, holder: gone } = claim else { return Ok(false) };
        if (epoch, holder) != (int(claimed.0), id_bytes(&gone.owner().id)) {
            return Ok(false);
        }
        self.is_still_gone(gone)
    }

    /// Its heart has not beaten since.
    pub(super) fn is_still_gone(&self, gone: &Abandoned) -> Applied<bool> {
        let sql = "SELECT 1 FROM owners WHERE id = ?1 AND epoch = ?2 AND beat = ?3";
        let mut statement = self.connection.prepare_cached(sql)?;
        let Owner { id, epoch } = gone.owner();
        Ok(statement.exists(params![id_bytes(&id), int(epoch.0), int(gone.beat())])?)
    }

    pub(super) fn require_owner(&self, owner: OwnerId) -> Applied<()> {
        let mut statement = self.connection.prepare_cached("SELECT 1 FROM owners WHERE id = ?1 AND retired = 0")?;
        if statement.exists(params![id_bytes(&owner)])? {
            return Ok(());
        }
        refuse(Error::Gone { what: format!("owner {owner}") })
    }

    /// `bytes` holds the commit's rows before this one, as the chain digests them.
    fn append(&mut self, event: &'a NewEvent, bytes: &mut Vec<u8>, link: Link) -> Applied<()> {
        let (connection, tenant) = (self.connection, self.tenant);
        let position = Position(self.committed.position.0 + 1);
        let stream = self.open_stream(&event.stream)?;
        let key = match stream.key {
            Some(key) => key,
            None => {
                let sql = "INSERT INTO streams (tenant, name) VALUES (?1, ?2)";
                connection.prepare_cached(sql)?.insert(params![tenant, event.stream.as_str()])?
            }
        };
        stream.key = Some(key);
        stream.head = Seq(stream.head.0 + 1);
        stream.appended = true;
        let (seq, kind, version) = (stream.head, event.encoded.kind, event.encoded.version);
        let NewEvent { stream, taint, at, .. } = event;
        let data = event.encoded.data.get();
        write_row(bytes, &Row { position, stream, seq, kind, version, taint: *taint, at: *at, data });
        let digest = match link {
            Link::GoesOn => None,
            Link::Closes { after } => Some(after.chain(bytes)),
        };
        let sql = "INSERT INTO events (position, tenant, stream, seq, kind, version, taint, at, data, chain)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        connection.prepare_cached(sql)?.execute(params![
            int(position.0),
            tenant,
            key,
            int(seq.0),
            kind,
            version,
            taint_code(*taint),
            int(at.as_millis()),
            data,
            digest.as_ref().map(Digest::as_bytes),
        ])?;
        self.committed.position = position;
        self.committed.chain = digest.map(|digest| ChainHead { position, digest });
        Ok(())
    }

    fn enqueue(&self, message: &NewMessage) -> Applied<()> {
        let message_id = id_bytes(&message.message_id);
        let sql = "INSERT OR IGNORE INTO messages
                       (id, tenant, queue, subject, trace_id, kind, version, taint, priority, not_before, enqueued_at, data)
                   SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12
                   WHERE NOT EXISTS (SELECT 1 FROM processed WHERE tenant = ?2 AND scope = ?13 AND key = ?1)";
        let inserted = self.execute(
            sql,
            params![
                message_id,
                self.tenant,
                message.queue,
                message.subject.as_ref().map(StreamId::as_str),
                id_bytes(&message.trace_id),
                message.encoded.kind,
                message.encoded.version,
                taint_code(message.taint),
                message.priority,
                message.not_before.map(|time| int(time.as_millis())),
                self.at,
                message.encoded.data.get(),
                MESSAGE,
            ],
        )?;
        match inserted {
            0 => refuse(Error::Duplicate { what: format!("message {}", message.message_id) }),
            _ => Ok(()),
        }
    }

    fn ack(&self, message: MessageId) -> Applied<()> {
        let sql = "DELETE FROM messages WHERE tenant = ?1 AND id = ?2 AND leased_by IS NULL AND dead_reason IS NULL";
        match self.execute(sql, params![self.tenant, id_bytes(&message)])? {
            0 => refuse(Error::Gone { what: format!("message {message}") }),
            _ => self.never_again(message),
        }
    }

    /// A message that is gone for good: its id is not accepted again.
    pub(super) fn never_again(&self, message: MessageId) -> Applied<()> {
        self.insert_marker(MESSAGE, &id_bytes(&message)).map(drop)
    }

    fn change_timer(&self, change: &TimerChange) -> Applied<()> {
        match change {
            TimerChange::Set(timer) => {
                let sql = "INSERT OR REPLACE INTO timers (tenant, name, due, queue, kind, version, taint, data)
                           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
                let values = params![
                    self.tenant,
                    timer.name.0,
                    int(timer.due.as_millis()),
                    timer.queue,
                    timer.encoded.kind,
                    timer.encoded.version,
                    taint_code(timer.taint),
                    timer.encoded.data.get(),
                ];
                self.execute(sql, values).map(drop)
            }
            TimerChange::Cancel(name) => self
                .execute("DELETE FROM timers WHERE tenant = ?1 AND name = ?2", params![self.tenant, name.0])
                .map(drop),
            TimerChange::Fired { name, due } => {
                let sql = "DELETE FROM timers WHERE tenant = ?1 AND name = ?2 AND due = ?3";
                match self.execute(sql, params![self.tenant, name.0, int(due.as_millis())])? {
                    0 => refuse(Error::Gone { what: format!("timer {}", name.0) }),
                    _ => Ok(()),
                }
            }
        }
    }

    fn keep_snapshot(&mut self, snapshot: &'a Snapshot) -> Applied<()> {
        let stream = self.open_stream(&snapshot.stream)?;
        let (Some(key), true) = (stream.key, snapshot.seq <= stream.head) else {
            let (expected, found) = (snapshot.seq, stream.head);
            return refuse(Error::Conflict { stream: snapshot.stream.clone(), expected, found });
        };
        // One that comes late does not replace a newer one.
        let sql = "INSERT INTO snapshots (stream, tenant, seq, version, data) VALUES (?1, ?2, ?3, ?4, ?5)
                   ON CONFLICT (stream) DO UPDATE SET seq = excluded.seq, version = excluded.version, data = excluded.data
                   WHERE excluded.seq >= seq";
        let values = params![key, self.tenant, int(snapshot.seq.0), snapshot.version, snapshot.data];
        self.execute(sql, values).map(drop)
    }

    fn keep_blob(&self, blob: &NewBlob) -> Applied<()> {
        let data = match blob.body() {
            Body::Inline(bytes) => Some(bytes.as_slice()),
            Body::File | Body::Parts(_) | Body::There => None,
        };
        let sql = "INSERT INTO blobs (tenant, digest, size, taint, data, put_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                   ON CONFLICT (tenant, digest) DO UPDATE
                   SET taint = max(taint, excluded.taint), put_at = max(put_at, excluded.put_at)";
        let digest = blob.digest();
        let values = params![self.tenant, digest.as_bytes(), int(blob.size()), taint_code(blob.taint()), data, self.at];
        self.execute(sql, values).map(drop)
    }
}

impl Applying<'_> {
    /// Each that no event names since whoever looked has seen them all, and that nobody has put of late.
    fn forget(&self, forgotten: &Forgotten) -> Applied<()> {
        let sql = "DELETE FROM blobs WHERE tenant = ?1 AND digest = ?2 AND put_at < ?5 AND NOT EXISTS
                       (SELECT 1 FROM events WHERE position > ?3 AND tenant = ?1 AND instr(data, ?4) > 0)";
        let of_late = self.at.saturating_sub(int(millis(STAGED_FOR)));
        each(&forgotten.digests, |digest| {
            let as_of = int(forgotten.as_of.0);
            let values = params![self.tenant, digest.as_bytes(), as_of, digest.to_string(), of_late];
            self.execute(sql, values).map(drop)
        })
    }
}

fn each<T>(items: &[T], act: impl FnMut(&T) -> Applied<()>) -> Applied<()> {
    items.iter().try_for_each(act)
}

pub(super) fn refuse<T>(error: Error) -> Applied<T> {
    Err(Failure::Refused(error))
}
