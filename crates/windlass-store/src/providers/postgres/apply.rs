//! One commit as statements. Guards come first. What can be told from the ground alone, where streams stand, is judged here,
//! before anything is sent. What happens to messages in shared queues is in `deliver`.

use windlass_domain::{Digest, MessageId, OwnerId, Seq, millis as in_millis};

use crate::blob::{Body, NewBlob, STAGED_FOR};
use crate::chain::{ChainHead, Row as ChainRow, write_row};
use crate::commit::{Commit, Committed, Forgotten, MailboxSeen, NewMessage, Snapshot, TimerChange};
use crate::error::Error;
use crate::lease::{Claim, Epoch, Fence, LeaseChange, LeaseName};
use crate::owner::{AT_WORK, NewOwner, Owner, OwnerChange};
use crate::providers::postgres::codec::{Columns as _, Text, int, millis, taint_code, uuid};
use crate::providers::postgres::failure::Failure;
use crate::providers::postgres::ground::Ground;
use crate::providers::postgres::step::{Plan, Step, values};
use crate::stream::StreamId;

/// The scope of the markers that acked messages leave.
const MESSAGE: &str = "message";

const HELD: &str = "SELECT 1 FROM leases WHERE tenant = $1 AND name = $2 AND epoch = $3 AND owner = $4";

const TAKE: &str = "
    WITH held AS (
        SELECT epoch, owner FROM leases
        WHERE tenant = $1 AND name = $2 AND owner IS NOT NULL
          AND (epoch = $5 AND owner = $6
               AND EXISTS (SELECT FROM owners WHERE id = $6 AND owners.epoch = $7 AND beat = $8)) IS NOT TRUE
    ), taken AS (
        INSERT INTO leases AS lease (tenant, name, epoch, owner, taken_at)
        SELECT $1, $2, 1, $3, $4
        WHERE NOT EXISTS (SELECT FROM held) AND EXISTS (SELECT FROM owners WHERE id = $3 AND NOT retired)
        ON CONFLICT (tenant, name) DO UPDATE
            SET epoch = lease.epoch + 1, owner = excluded.owner, taken_at = excluded.taken_at
        RETURNING epoch
    )
    SELECT (SELECT epoch FROM taken), (SELECT epoch FROM held), (SELECT owner FROM held)";

const ENQUEUE: &str = "
    INSERT INTO messages (id, tenant, queue, subject, trace_id, kind, version, taint, priority, not_before, enqueued_at, data)
    SELECT $1::uuid, $2::text, $3::text, $4::text, $5::uuid, $6::text, $7::integer, $8::smallint, $9::integer, $10::bigint,
           $11::bigint, $12::text
    WHERE NOT EXISTS (SELECT FROM processed WHERE tenant = $2 AND scope = 'message' AND key = uuid_send($1))
    ON CONFLICT (tenant, id) DO NOTHING
    RETURNING 1";

const APPEND: &str = "
    INSERT INTO events (position, tenant, stream, seq, kind, version, taint, at, data, chain)
    VALUES ($1, $2, (SELECT key FROM streams WHERE tenant = $2 AND name = $3), $4, $5, $6, $7, $8, $9, $10)";

/// Plans a commit that builds on `ground`, and changes `ground` to what it will be after it. The plan of one that is refused
/// leaves `ground` in whatever state.
pub(super) fn plan<'a>(commit: &'a Commit, ground: &mut Ground) -> Plan<'a> {
    let committed = Committed { position: ground.last, ..Committed::default() };
    let mut applying = Applying {
        commit,
        tenant: Text(commit.tenant.as_str()),
        at: millis(commit.at),
        ground,
        steps: Vec::new(),
        committed,
    };
    let refused = applying.run().err();
    let writes_in_vain = refused.is_some() && applying.steps.iter().any(|step| step.sql != HELD);
    Plan { steps: applying.steps, refused, writes_in_vain, committed: applying.committed }
}

pub(super) struct Applying<'a, 'g> {
    commit: &'a Commit,
    pub(super) tenant: Text<'a>,
    pub(super) at: i64,
    ground: &'g mut Ground,
    steps: Vec<Step<'a>>,
    committed: Committed,
}

impl<'a> Applying<'a, '_> {
    /// In the order in which guards are named to callers.
    fn run(&mut self) -> Result<(), Error> {
        let commit = self.commit;
        if let Some(fence) = &commit.fence {
            self.require_held(fence);
        }
        for (stream, expected) in &commit.expect {
            let found = self.ground.head(&commit.tenant, stream);
            if found != *expected {
                return Err(Error::Conflict { stream: stream.clone(), expected: *expected, found });
            }
        }
        self.look();
        self.note_level();
        commit.owners.iter().for_each(|change| self.change_owner(change));
        commit.leases.iter().for_each(|change| self.change_lease(change));
        self.append();
        commit.messages.iter().for_each(|message| self.enqueue(message));
        commit.acks.iter().for_each(|message| self.ack(*message));
        commit.deliveries.iter().for_each(|change| self.change_delivery(change));
        if let Some(now) = commit.promote {
            self.promote(now);
        }
        commit.timers.iter().for_each(|change| self.change_timer(change));
        for snapshot in &commit.snapshots {
            self.keep_snapshot(snapshot)?;
        }
        commit.blobs.iter().for_each(|blob| self.keep_blob(blob));
        commit.forgotten.iter().for_each(|forgotten| self.forget(forgotten));
        Ok(())
    }

    /// What the journal then holds.
    fn note_level(&mut self) {
        let level = self.commit.level();
        if level > 1 {
            let behind =
                "SELECT level FROM owners WHERE NOT retired AND beat_at >= $1 AND level < $2 ORDER BY level LIMIT 1";
            let since = self.at.saturating_sub(int(in_millis(AT_WORK)));
            self.push(Step::ask(behind, values![since, i64::from(level)], move |rows, _| match rows.first() {
                None => Ok(()),
                Some(row) => {
                    let least = u32::try_from(row.uint(0)?).unwrap_or(u32::MAX);
                    Err(Failure::Refused(Error::TooNew { needed: level, least }))
                }
            }));
            let sql = "UPDATE journal SET level = $1 WHERE level < $1";
            self.push(Step::run(sql, values![i64::from(level)]));
        }
    }

    /// Each that no event names since whoever looked has seen them all, and that nobody has put of late.
    fn forget(&mut self, forgotten: &Forgotten) {
        let sql = "DELETE FROM blobs WHERE tenant = $1 AND digest = $2 AND put_at < $5 AND NOT EXISTS
                       (SELECT FROM events WHERE position > $3 AND tenant = $1 AND strpos(data, $4) > 0)";
        let of_late = self.at.saturating_sub(int(in_millis(STAGED_FOR)));
        for digest in &forgotten.digests {
            let (bytes, as_of) = (digest.as_bytes().to_vec(), int(forgotten.as_of.0));
            self.push(Step::run(sql, values![self.tenant, bytes, as_of, digest.to_string(), of_late]));
        }
    }

    pub(super) fn push(&mut self, step: Step<'a>) {
        self.steps.push(step);
    }

    fn require_held(&mut self, fence: &'a Fence) {
        let values = values![self.tenant, Text(fence.lease.as_str()), int(fence.epoch.0), uuid(&fence.owner)];
        self.push(Step::must_find(HELD, values, || fenced(fence)));
    }

    /// What must not be there, and what must be new.
    fn look(&mut self) {
        let (commit, tenant, at) = (self.commit, self.tenant, self.at);
        for marker in &commit.absent {
            let sql = "SELECT 1 FROM processed WHERE tenant = $1 AND scope = $2 AND key = $3";
            let values = values![tenant, Text(marker.scope.as_str()), marker.key.as_bytes()];
            self.push(Step::must_miss(sql, values, || Error::Present { marker: marker.clone() }));
        }
        for MailboxSeen { mailbox, seen } in &commit.unread {
            let sql =
                "SELECT 1 FROM messages WHERE queue = $1 AND tenant = $2 AND leased_by IS NULL AND dead_reason IS NULL
                         AND id <> ALL ($3) LIMIT 1";
            let seen: Vec<uuid::Uuid> = seen.iter().map(uuid).collect();
            let values = values![Text(mailbox.as_str()), tenant, seen];
            self.push(Step::must_miss(sql, values, || Error::Unread { mailbox: mailbox.clone() }));
        }
        for nonce in &commit.nonces {
            let sql = "INSERT INTO nonces (tenant, nonce, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING 1";
            let values = values![tenant, Text(nonce.0.as_str()), at];
            self.push(Step::must_find(sql, values, || Error::NonceUsed { nonce: nonce.clone() }));
        }
        for marker in &commit.processed {
            let sql = "INSERT INTO processed (tenant, scope, key, at) VALUES ($1, $2, $3, $4)
                       ON CONFLICT DO NOTHING RETURNING 1";
            let values = values![tenant, Text(marker.scope.as_str()), marker.key.as_bytes(), at];
            let refusal = || Error::Duplicate { what: format!("{} of {}", marker.key, marker.scope) };
            self.push(Step::must_find(sql, values, refusal));
        }
    }

    fn change_owner(&mut self, change: &'a OwnerChange) {
        match change {
            OwnerChange::Register(new) => self.register(new),
            OwnerChange::Beat(owner) => {
                let sql = "UPDATE owners SET beat = beat + 1, beat_at = $3 WHERE id = $1 AND epoch = $2 AND NOT retired
                           RETURNING 1";
                let values = values![uuid(&owner.id), int(owner.epoch.0), self.at];
                let refusal = || Error::Gone { what: format!("owner {} at epoch {}", owner.id, owner.epoch.0) };
                self.push(Step::must_find(sql, values, refusal));
            }
            OwnerChange::Retire(owner) => self.retire(owner),
        }
    }

    fn register(&mut self, new: &'a NewOwner) {
        let (known, sql) = (new.level, "SELECT level FROM journal WHERE level > $1");
        self.push(Step::ask(sql, values![i64::from(known)], move |rows, _| match rows.first() {
            None => Ok(()),
            Some(row) => {
                let written = u32::try_from(row.uint(0)?).unwrap_or(u32::MAX);
                Err(Failure::Refused(Error::TooOld { written, known }))
            }
        }));
        let sql = "INSERT INTO owners AS owner (id, epoch, host, boot_id, pid, beat, beat_at, retired, level)
                   VALUES ($1, 1, $2, $3, $4, 0, $5, false, $6)
                   ON CONFLICT (id) DO UPDATE SET epoch = owner.epoch + 1, host = excluded.host, boot_id = excluded.boot_id,
                       pid = excluded.pid, beat = 0, beat_at = excluded.beat_at, retired = false, level = excluded.level
                   RETURNING epoch";
        let values = values![
            uuid(&new.id),
            Text(new.host.as_str()),
            Text(new.boot_id.as_str()),
            i64::from(new.pid),
            self.at,
            i64::from(new.level),
        ];
        self.push(Step::ask(sql, values, |rows, committed| {
            let epoch = first(&rows)?.uint(0)?;
            committed.owners.push((new.id, Epoch(epoch)));
            Ok(())
        }));
        self.push(Step::run("UPDATE leases SET owner = NULL WHERE owner = $1", values![uuid(&new.id)]));
        self.ready_what_was_delivered_to(new.id);
    }

    /// An incarnation that is gone already has nothing that could be freed.
    fn retire(&mut self, owner: &Owner) {
        let which = || values![uuid(&owner.id), int(owner.epoch.0)];
        self.push(Step::run("UPDATE owners SET retired = true WHERE id = $1 AND epoch = $2", which()));
        let sql = "UPDATE leases SET owner = NULL
                   WHERE owner = $1 AND EXISTS (SELECT FROM owners WHERE id = $1 AND epoch = $2)";
        self.push(Step::run(sql, which()));
        self.ready_what_was_delivered_to_retired(owner);
    }

    fn change_lease(&mut self, change: &'a LeaseChange) {
        match change {
            LeaseChange::Take { lease, owner, claim } => self.take(lease, *owner, claim),
            LeaseChange::Release(fence) => {
                let sql = "UPDATE leases SET owner = NULL WHERE tenant = $1 AND name = $2 AND epoch = $3 AND owner = $4
                           RETURNING 1";
                let values = values![self.tenant, Text(fence.lease.as_str()), int(fence.epoch.0), uuid(&fence.owner)];
                self.push(Step::must_find(sql, values, || fenced(fence)));
            }
        }
    }

    fn take(&mut self, lease: &'a LeaseName, owner: OwnerId, claim: &Claim) {
        let mut values = values![self.tenant, Text(lease.as_str()), uuid(&owner), self.at];
        values.extend(match claim {
            Claim::Unheld => values![None::<i64>, None::<uuid::Uuid>, None::<i64>, None::<i64>],
            Claim::Abandoned { epoch, holder } => {
                let Owner { id, epoch: incarnation } = holder.owner();
                values![int(epoch.0), uuid(&id), int(incarnation.0), int(holder.beat())]
            }
        });
        self.push(Step::ask(TAKE, values, move |rows, committed| {
            let row = first(&rows)?;
            if !row.is_null(1) {
                let (owner, epoch) = (row.id(2)?, Epoch(row.uint(1)?));
                return Err(Failure::Refused(Error::LeaseHeld { lease: lease.clone(), owner, epoch }));
            }
            if row.is_null(0) {
                return Err(Failure::Refused(Error::Gone { what: format!("owner {owner}") }));
            }
            committed.leases.push((lease.clone(), Epoch(row.uint(0)?)));
            Ok(())
        }));
    }

    fn append(&mut self) {
        let (commit, tenant) = (self.commit, self.tenant);
        let Some(last) = commit.events.len().checked_sub(1) else { return };
        let after = self.ground.chain(&commit.tenant);
        let (mut bytes, mut appended) = (Vec::new(), Vec::<(StreamId, Seq)>::new());
        for (index, event) in commit.events.iter().enumerate() {
            let is_new = self.ground.head(&commit.tenant, &event.stream) == Seq(0);
            if is_new {
                let sql = "INSERT INTO streams (tenant, name) VALUES ($1, $2)";
                self.push(Step::run(sql, values![tenant, Text(event.stream.as_str())]));
            }
            let seq = self.ground.advance(&commit.tenant, &event.stream);
            let position = self.ground.last;
            let (kind, version, data) = (event.encoded.kind, event.encoded.version, event.encoded.data.get());
            let (stream, taint, at) = (&event.stream, event.taint, event.at);
            write_row(&mut bytes, &ChainRow { position, stream, seq, kind, version, taint, at, data });
            let digest = (index == last).then(|| after.chain(&bytes));
            let chain = digest.as_ref().map(|digest| digest.as_bytes().to_vec());
            let row = values![
                int(position.0),
                tenant,
                Text(stream.as_str()),
                int(seq.0),
                kind,
                i32::from(version),
                taint_code(taint),
                millis(at),
                data,
                chain,
            ];
            self.push(Step::run(APPEND, row));
            match appended.iter_mut().find(|(name, _)| name == stream) {
                Some((_, head)) => *head = seq,
                None => appended.push((stream.clone(), seq)),
            }
            self.close(digest);
        }
        self.committed.heads = appended;
    }

    fn close(&mut self, digest: Option<Digest>) {
        let position = self.ground.last;
        self.committed.position = position;
        if let Some(digest) = digest {
            let head = ChainHead { position, digest };
            self.ground.close(&self.commit.tenant, head);
            self.committed.chain = Some(head);
        }
    }

    fn enqueue(&mut self, message: &'a NewMessage) {
        let values = values![
            uuid(&message.message_id),
            self.tenant,
            Text(message.queue.as_str()),
            message.subject.as_ref().map(|subject| Text(subject.as_str())),
            uuid(&message.trace_id),
            message.encoded.kind,
            i32::from(message.encoded.version),
            taint_code(message.taint),
            message.priority,
            message.not_before.map(millis),
            self.at,
            message.encoded.data.get(),
        ];
        let refusal = || Error::Duplicate { what: format!("message {}", message.message_id) };
        self.push(Step::must_find(ENQUEUE, values, refusal));
    }

    fn ack(&mut self, message: MessageId) {
        let sql = "DELETE FROM messages WHERE tenant = $1 AND id = $2 AND leased_by IS NULL AND dead_reason IS NULL
                   RETURNING 1";
        let refusal = move || Error::Gone { what: format!("message {message}") };
        self.push(Step::must_find(sql, values![self.tenant, uuid(&message)], refusal));
        self.never_again(message);
    }

    /// A message that is gone for good: its id is not accepted again.
    pub(super) fn never_again(&mut self, message: MessageId) {
        let sql = "INSERT INTO processed (tenant, scope, key, at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
        let key = uuid(&message).as_bytes().to_vec();
        self.push(Step::run(sql, values![self.tenant, MESSAGE, key, self.at]));
    }

    fn change_timer(&mut self, change: &'a TimerChange) {
        match change {
            TimerChange::Set(timer) => {
                let sql = "INSERT INTO timers (tenant, name, due, queue, kind, version, taint, data)
                           VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
                           ON CONFLICT (tenant, name) DO UPDATE SET due = excluded.due, queue = excluded.queue,
                               kind = excluded.kind, version = excluded.version, taint = excluded.taint, data = excluded.data";
                let values = values![
                    self.tenant,
                    Text(timer.name.0.as_str()),
                    millis(timer.due),
                    Text(timer.queue.as_str()),
                    timer.encoded.kind,
                    i32::from(timer.encoded.version),
                    taint_code(timer.taint),
                    timer.encoded.data.get(),
                ];
                self.push(Step::run(sql, values));
            }
            TimerChange::Cancel(name) => {
                let sql = "DELETE FROM timers WHERE tenant = $1 AND name = $2";
                self.push(Step::run(sql, values![self.tenant, Text(name.0.as_str())]));
            }
            TimerChange::Fired { name, due } => {
                let sql = "DELETE FROM timers WHERE tenant = $1 AND name = $2 AND due = $3 RETURNING 1";
                let values = values![self.tenant, Text(name.0.as_str()), millis(*due)];
                self.push(Step::must_find(sql, values, || Error::Gone { what: format!("timer {}", name.0) }));
            }
        }
    }

    fn keep_snapshot(&mut self, snapshot: &'a Snapshot) -> Result<(), Error> {
        let found = self.ground.head(&self.commit.tenant, &snapshot.stream);
        if found == Seq(0) || snapshot.seq > found {
            return Err(Error::Conflict { stream: snapshot.stream.clone(), expected: snapshot.seq, found });
        }
        // One that comes late does not replace a newer one.
        let sql = "INSERT INTO snapshots AS kept (stream, tenant, seq, version, data)
                   VALUES ((SELECT key FROM streams WHERE tenant = $1 AND name = $2), $1, $3, $4, $5)
                   ON CONFLICT (stream) DO UPDATE SET seq = excluded.seq, version = excluded.version, data = excluded.data
                   WHERE excluded.seq >= kept.seq";
        let (stream, version) = (Text(snapshot.stream.as_str()), i32::from(snapshot.version));
        let values = values![self.tenant, stream, int(snapshot.seq.0), version, snapshot.data.as_slice()];
        self.push(Step::run(sql, values));
        Ok(())
    }

    fn keep_blob(&mut self, blob: &'a NewBlob) {
        let digest = blob.digest().as_bytes().to_vec();
        let (data, body) = match blob.body() {
            Body::Inline(bytes) => (Some(bytes.as_slice()), None),
            Body::Parts(body) => (None, Some(uuid::Uuid::from_u128(*body))),
            Body::File | Body::There => (None, None),
        };
        // A body that was staged so long ago that it has been swept is no blob any more.
        let sql = "INSERT INTO blobs AS kept (tenant, digest, size, taint, data, body, put_at)
                   SELECT $1::text, $2::bytea, $3::bigint, $4::smallint, $5::bytea, $6::uuid, $7::bigint
                   WHERE $5::bytea IS NOT NULL OR EXISTS (SELECT FROM blob_parts WHERE body = $6 AND number = 0)
                   ON CONFLICT (tenant, digest) DO NOTHING";
        let (size, taint) = (int(blob.size()), taint_code(blob.taint()));
        self.push(Step::run(sql, values![self.tenant, digest.clone(), size, taint, data, body, self.at]));
        let sql = "UPDATE blobs SET taint = greatest(taint, $3), put_at = greatest(put_at, $4)
                   WHERE tenant = $1 AND digest = $2 RETURNING 1";
        let values = values![self.tenant, digest, taint, self.at];
        let refusal = || Error::Gone { what: format!("the staged blob {}", blob.digest()) };
        self.push(Step::must_find(sql, values, refusal));
    }
}

fn fenced(fence: &Fence) -> Error {
    Error::Fenced { lease: fence.lease.clone(), epoch: fence.epoch }
}

pub(super) fn first(rows: &[tokio_postgres::Row]) -> Result<&tokio_postgres::Row, Failure> {
    rows.first().ok_or(Failure::unreadable("a statement that gives a row gave none"))
}
