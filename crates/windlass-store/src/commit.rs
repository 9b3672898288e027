//! The one thing that can be written: a commit. It is all or nothing. Its guards (`expect`, `fence`, `nonces`, `processed`,
//! `absent`, `unread`, and what a lease, delivery, ack or fired timer needs to find) are looked at first; if one does not hold,
//! nothing is written and the error names it. Who decides what to commit does so elsewhere; a commit knows only rows.

use windlass_domain::{Digest, Encoded, MessageId, OwnerId, Seq, Taint, Tenant, TraceId, Wall};

use crate::blob::NewBlob;
use crate::chain::ChainHead;
use crate::delivery::{Delivery, DeliveryChange};
use crate::lease::{Epoch, Fence, LeaseChange, LeaseName};
use crate::owner::OwnerChange;
use crate::stream::{Position, StreamId};

/// So few that a queue whose messages all come due at once does not hold up the others.
pub const MOST_PROMOTED: usize = 1_000;

/// The same for every provider. What is larger belongs into blobs.
pub const LARGEST_COMMIT: usize = 16 << 20;

#[derive(Debug, Clone)]
pub struct Commit {
    pub tenant: Tenant,
    /// When, for people; nothing is ordered or expired by it.
    pub at: Wall,
    /// The stream must be at exactly this record; `Seq(0)`: it must not exist.
    pub expect: Vec<(StreamId, Seq)>,
    pub fence: Option<Fence>,
    /// Each must never have been used by this tenant.
    pub nonces: Vec<Nonce>,
    /// Each must be new: what it marks has not been done before.
    pub processed: Vec<Marker>,
    /// None of them may be there: what it marks has not happened.
    pub absent: Vec<Marker>,
    /// For whoever goes to sleep on its mailboxes: none may hold a message that it has not read. What this very commit puts
    /// into one does not count.
    pub unread: Vec<MailboxSeen>,
    pub owners: Vec<OwnerChange>,
    pub leases: Vec<LeaseChange>,
    /// Appended in this order, each at the end of its stream.
    pub events: Vec<NewEvent>,
    pub messages: Vec<NewMessage>,
    /// Takes these messages out of their mailboxes for good: queues with one reader, who is fenced by a lease instead of a
    /// delivery. Each must still be there, and nobody may hold it.
    pub acks: Vec<MessageId>,
    /// In this order, after `messages` and `acks`.
    pub deliveries: Vec<DeliveryChange>,
    /// Makes messages ready that were delayed until this time or earlier, whoever's they are; at most `MOST_PROMOTED`, the
    /// earliest first.
    pub promote: Option<Wall>,
    pub timers: Vec<TimerChange>,
    pub snapshots: Vec<Snapshot>,
    pub blobs: Vec<NewBlob>,
    /// Blobs that go, after `blobs`.
    pub forgotten: Option<Forgotten>,
}

/// Blobs that nothing refers to any more, as far as whoever looked has seen: all of the tenant's events up to `as_of`. One that an
/// event names since then stays, and so does one that somebody has put of late and may be about to name; that is looked at in the
/// commit itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forgotten {
    pub digests: Vec<Digest>,
    pub as_of: Position,
}

impl Commit {
    /// A commit by whoever holds a lease: it is refused once the lease is another's.
    pub fn fenced(tenant: Tenant, at: Wall, fence: Fence) -> Self {
        Self { fence: Some(fence), ..Self::unfenced(tenant, at) }
    }

    /// A commit from outside: a front door that enqueues, a process that registers or takes a lease.
    pub fn unfenced(tenant: Tenant, at: Wall) -> Self {
        Self {
            tenant,
            at,
            expect: Vec::new(),
            fence: None,
            nonces: Vec::new(),
            processed: Vec::new(),
            absent: Vec::new(),
            unread: Vec::new(),
            owners: Vec::new(),
            leases: Vec::new(),
            events: Vec::new(),
            messages: Vec::new(),
            acks: Vec::new(),
            deliveries: Vec::new(),
            promote: None,
            timers: Vec::new(),
            snapshots: Vec::new(),
            blobs: Vec::new(),
            forgotten: None,
        }
    }

    /// Whether anything in it is of a version that somebody may not read yet.
    pub fn is_of_levels(&self) -> bool {
        self.payloads().any(|encoded| encoded.level() > 1)
    }

    /// From which level on all of it can be read.
    pub fn level(&self) -> u32 {
        self.payloads().map(Encoded::level).max().unwrap_or(1)
    }

    /// As those read it who are at `level`.
    #[must_use]
    pub fn for_level(mut self, level: u32) -> Self {
        let events = self.events.iter_mut().map(|event| &mut event.encoded);
        let messages = self.messages.iter_mut().map(|message| &mut message.encoded);
        let timers = self.timers.iter_mut().filter_map(|change| match change {
            TimerChange::Set(timer) => Some(&mut timer.encoded),
            TimerChange::Cancel(_) | TimerChange::Fired { .. } => None,
        });
        events.chain(messages).chain(timers).for_each(|encoded| *encoded = encoded.clone().for_level(level));
        self
    }

    fn payloads(&self) -> impl Iterator<Item = &Encoded> {
        let events = self.events.iter().map(|event| &event.encoded);
        let messages = self.messages.iter().map(|message| &message.encoded);
        let timers = self.timers.iter().filter_map(|change| match change {
            TimerChange::Set(timer) => Some(&timer.encoded),
            TimerChange::Cancel(_) | TimerChange::Fired { .. } => None,
        });
        events.chain(messages).chain(timers)
    }

    /// About what it weighs in memory and in the log. It is what a bounded queue counts, so it need not be exact.
    pub fn bytes(&self) -> usize {
        const ROW: usize = 128;
        let events: usize = self.events.iter().map(|event| ROW + event.encoded.data.get().len()).sum();
        let messages: usize = self.messages.iter().map(|message| ROW + message.encoded.data.get().len()).sum();
        let timers: usize = self.timers.iter().map(|timer| ROW + timer.payload_bytes()).sum();
        let snapshots: usize = self.snapshots.iter().map(|snapshot| ROW + snapshot.data.len()).sum();
        let blobs: usize = self.blobs.iter().map(|blob| ROW + blob.inline_bytes()).sum();
        let deliveries: usize = self.deliveries.iter().map(|change| ROW + change.reason_bytes()).sum();
        let seen: usize = self.unread.iter().map(|mailbox| 1 + mailbox.seen.len()).sum();
        let rows = seen
            + self.expect.len()
            + self.nonces.len()
            + self.processed.len()
            + self.absent.len()
            + self.owners.len()
            + self.leases.len()
            + self.acks.len()
            + self.forgotten.iter().map(|forgotten| forgotten.digests.len()).sum::<usize>();
        ROW * (1 + rows) + events + messages + timers + snapshots + blobs + deliveries
    }
}

/// What a commit did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Committed {
    /// The last of its events; without events, the last there was.
    pub position: Position,
    /// Where each stream it appended to stands now.
    pub heads: Vec<(StreamId, Seq)>,
    /// The epoch of each lease it took.
    pub leases: Vec<(LeaseName, Epoch)>,
    /// The epoch of each owner it registered.
    pub owners: Vec<(OwnerId, Epoch)>,
    /// Each message it leased, in the order in which it did.
    pub deliveries: Vec<Delivery>,
    /// Queues in which messages that were there before became ready.
    pub readied: Vec<(Tenant, String)>,
    /// Where the tenant's chain stands after it; `None` for a commit without events.
    pub chain: Option<ChainHead>,
}

#[derive(Debug, Clone)]
pub struct NewEvent {
    pub stream: StreamId,
    pub encoded: Encoded,
    pub taint: Taint,
    pub at: Wall,
}

/// Work for whoever reads `queue`. It stays until it is acked, and an id that was ever accepted is not accepted again.
#[derive(Debug, Clone)]
pub struct NewMessage {
    pub message_id: MessageId,
    pub queue: String,
    /// The stream it is about.
    pub subject: Option<StreamId>,
    pub trace_id: TraceId,
    pub encoded: Encoded,
    pub taint: Taint,
    /// Higher goes first; among equals the older.
    pub priority: i32,
    /// `None`: it may be taken at once.
    pub not_before: Option<Wall>,
}

/// A word that may be used once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Nonce(pub String);

/// That something from outside has been taken in: an observation's event id, say, within its execution.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Marker {
    pub scope: String,
    pub key: String,
}

/// What its reader has seen of a mailbox: acked in the same commit, or left for later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailboxSeen {
    pub mailbox: String,
    pub seen: Vec<MessageId>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimerName(pub String);

#[derive(Debug, Clone)]
pub struct NewTimer {
    pub name: TimerName,
    pub due: Wall,
    /// Who is woken.
    pub queue: String,
    pub encoded: Encoded,
    pub taint: Taint,
}

#[derive(Debug, Clone)]
pub enum TimerChange {
    /// Sets it, or sets it anew.
    Set(NewTimer),
    /// Whether or not it is there.
    Cancel(TimerName),
    /// It went off and this commit is the consequence: it must still stand at `due`, so that it has one consequence.
    Fired { name: TimerName, due: Wall },
}

impl TimerChange {
    fn payload_bytes(&self) -> usize {
        match self {
            Self::Set(timer) => timer.encoded.data.get().len(),
            Self::Cancel(_) | Self::Fired { .. } => 0,
        }
    }
}

/// A fold of a stream up to `seq`, so that reading it need not start at the beginning. Only the newest is kept, and it may
/// be deleted at any time: it is never the only place where something is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    pub stream: StreamId,
    pub seq: Seq,
    /// Of the format; whoever reads one it does not know folds from the beginning.
    pub version: u16,
    pub data: Vec<u8>,
}
