//! A store as anybody would write it, with maps in memory and a copy taken before each commit, and the property that the
//! real one answers exactly as it does: for any sequence of commits, alone or many in one transaction.

use std::collections::{BTreeMap, BTreeSet};
use std::task::Poll;

use proptest::prelude::*;
use windlass_domain::{Encoded, MessageId, OwnerId, Seq, Taint, Tenant, TraceId, Wall};
use windlass_store::chain::{Verified, verify};
use windlass_store::lease::{Claim, LeaseChange};
use windlass_store::owner::{NewOwner, OwnerChange};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{
    Commit, Delivery, DeliveryChange, Epoch, Error, Fence, LeaseName, MailboxSeen, Marker, NewEvent, NewMessage,
    NewTimer, Nonce, Position, Standing, Store, StreamId, TimerChange, TimerName,
};

use crate::executor::Executor;
use crate::scratch::scratch;

const NOW: Wall = Wall::from_millis(1_000);
const LATER: Wall = Wall::from_millis(2_000);

/// A commit over a universe so small that its guards often meet.
#[derive(Debug, Clone)]
pub struct Sketch {
    expect: Vec<(u8, u8)>,
    fence: Option<(u8, u8, u8)>,
    /// Of the mailbox, by one that goes to sleep on it.
    seen: Option<BTreeSet<u8>>,
    nonces: Vec<u8>,
    markers: Vec<u8>,
    leases: Vec<Lease>,
    events: Vec<u8>,
    messages: Vec<u8>,
    acks: Vec<u8>,
    deliveries: Vec<Deliver>,
    promote: bool,
    timers: Vec<Timer>,
}

/// What happens to a message; a held one is named with its owner and number.
#[derive(Debug, Clone, Copy)]
enum Deliver {
    Lease(u8, u8),
    Hasten(u8),
    Ack(u8, u8, u8),
    Nack(u8, u8, u8),
    Delay(u8, u8, u8),
    Dead(u8, u8, u8),
    Retry(u8),
    Drop(u8),
}

#[derive(Debug, Clone, Copy)]
enum Lease {
    Take(u8, u8),
    Release(u8, u8, u8),
}

#[derive(Debug, Clone, Copy)]
enum Timer {
    Set(u8, u8),
    Cancel(u8),
    Fired(u8, u8),
}

pub fn sketches() -> impl Strategy<Value = Vec<Sketch>> {
    let lease = prop_oneof![
        (0..2_u8, 0..2_u8).prop_map(|(lease, owner)| Lease::Take(lease, owner)),
        (0..2_u8, 0..2_u8, 1..4_u8).prop_map(|(lease, owner, epoch)| Lease::Release(lease, owner, epoch)),
    ];
    let timer = prop_oneof![
        (0..2_u8, 1..3_u8).prop_map(|(name, due)| Timer::Set(name, due)),
        (0..2_u8).prop_map(Timer::Cancel),
        (0..2_u8, 1..3_u8).prop_map(|(name, due)| Timer::Fired(name, due)),
    ];
    let held = || (0..6_u8, 0..2_u8, 1..4_u8);
    let deliver = prop_oneof![
        4 => (0..6_u8, 0..2_u8).prop_map(|(id, owner)| Deliver::Lease(id, owner)),
        1 => (0..6_u8).prop_map(Deliver::Hasten),
        2 => held().prop_map(|(id, owner, number)| Deliver::Ack(id, owner, number)),
        2 => held().prop_map(|(id, owner, number)| Deliver::Nack(id, owner, number)),
        2 => held().prop_map(|(id, owner, number)| Deliver::Delay(id, owner, number)),
        2 => held().prop_map(|(id, owner, number)| Deliver::Dead(id, owner, number)),
        1 => (0..6_u8).prop_map(Deliver::Retry),
        1 => (0..6_u8).prop_map(Deliver::Drop),
    ];
    let few = |range: std::ops::Range<u8>| prop::collection::vec(range, 0..2);
    let sketch = (
        prop::collection::vec((0..2_u8, 0..4_u8), 0..2),
        prop::option::weighted(0.3, (0..2_u8, 0..2_u8, 1..4_u8)),
        (few(0..20), prop::option::weighted(0.2, prop::collection::btree_set(0..6_u8, 0..6))),
        few(0..20),
        prop::collection::vec(lease, 0..2),
        prop::collection::vec(0..2_u8, 0..3),
        few(0..6),
        few(0..6),
        (prop::collection::vec(deliver, 0..2), prop::bool::weighted(0.2)),
        prop::collection::vec(timer, 0..2),
    );
    let sketch = sketch.prop_map(
        |(expect, fence, (nonces, seen), markers, leases, events, messages, acks, (deliveries, promote), timers)| {
            Sketch { expect, fence, seen, nonces, markers, leases, events, messages, acks, deliveries, promote, timers }
        },
    );
    prop::collection::vec(sketch, 1..40)
}

fn stream(number: u8) -> StreamId {
    StreamId::new("test", number)
}

fn lease(number: u8) -> LeaseName {
    LeaseName::new("test", number)
}

fn owner(number: u8) -> OwnerId {
    OwnerId::new(NOW, u128::from(number) << 64)
}

fn message(number: u8) -> MessageId {
    MessageId::new(NOW, u128::from(number) << 64)
}

fn encoded(number: u8) -> Encoded {
    let data = serde_json::value::to_raw_value(&number).expect("a number is JSON");
    Encoded { kind: "test.happened", version: 1, data, since: 1, older: &[] }
}

fn fence((lease_number, owner_number, epoch): (u8, u8, u8)) -> Fence {
    Fence { lease: lease(lease_number), owner: owner(owner_number), epoch: Epoch(epoch.into()) }
}

impl Sketch {
    /// `number` tells its rows from those of other commits.
    fn commit(&self, number: u8) -> Commit {
        let mut commit = Commit::unfenced(Tenant::local(), NOW);
        commit.expect = self.expect.iter().map(|(name, seq)| (stream(*name), Seq((*seq).into()))).collect();
        commit.fence = self.fence.map(fence);
        let read = |seen: &BTreeSet<u8>| seen.iter().map(|id| message(*id)).collect();
        let mailbox = || "box".to_owned();
        commit.unread.extend(self.seen.as_ref().map(|seen| MailboxSeen { mailbox: mailbox(), seen: read(seen) }));
        commit.nonces = self.nonces.iter().map(|nonce| Nonce(nonce.to_string())).collect();
        let marker = |key: &u8| Marker { scope: "test".into(), key: key.to_string() };
        commit.processed = self.markers.iter().map(marker).collect();
        commit.leases = self
            .leases
            .iter()
            .map(|change| match *change {
                Lease::Take(name, by) => {
                    LeaseChange::Take { lease: lease(name), owner: owner(by), claim: Claim::Unheld }
                }
                Lease::Release(name, by, epoch) => LeaseChange::Release(fence((name, by, epoch))),
            })
            .collect();
        let event =
            |name: &u8| NewEvent { stream: stream(*name), encoded: encoded(number), taint: Taint::Auth, at: NOW };
        commit.events = self.events.iter().map(event).collect();
        let new_message = |id: &u8| NewMessage {
            message_id: message(*id),
            queue: "box".into(),
            subject: None,
            trace_id: TraceId::new(NOW, 0),
            encoded: encoded(number),
            taint: Taint::Auth,
            priority: 0,
            not_before: None,
        };
        commit.messages = self.messages.iter().map(new_message).collect();
        commit.acks = self.acks.iter().map(|id| message(*id)).collect();
        commit.deliveries = self.deliveries.iter().map(|change| change.change()).collect();
        commit.promote = self.promote.then_some(LATER);
        commit.timers = self.timers.iter().map(|change| change.change(number)).collect();
        commit
    }
}

impl Deliver {
    fn change(self) -> DeliveryChange {
        let held = |(id, by, number): (u8, u8, u8)| Delivery {
            message_id: message(id),
            owner: owner(by),
            number: number.into(),
        };
        match self {
            Self::Lease(id, by) => DeliveryChange::Lease { message: message(id), owner: owner(by), from: None },
            Self::Hasten(id) => DeliveryChange::Hasten(message(id)),
            Self::Ack(id, by, number) => DeliveryChange::Ack(held((id, by, number))),
            Self::Nack(id, by, number) => DeliveryChange::Nack { delivery: held((id, by, number)), not_before: None },
            Self::Delay(id, by, number) => {
                DeliveryChange::Nack { delivery: held((id, by, number)), not_before: Some(LATER) }
            }
            Self::Dead(id, by, number) => {
                DeliveryChange::Dead { delivery: held((id, by, number)), reason: "no".into() }
            }
            Self::Retry(id) => DeliveryChange::Retry(message(id)),
            Self::Drop(id) => DeliveryChange::Drop(message(id)),
        }
    }
}

impl Timer {
    fn change(self, number: u8) -> TimerChange {
        let name = |name: u8| TimerName(name.to_string());
        let due = |due: u8| Wall::from_millis(due.into());
        match self {
            Self::Set(timer, at) => TimerChange::Set(NewTimer {
                name: name(timer),
                due: due(at),
                queue: "box".into(),
                encoded: encoded(number),
                taint: Taint::Auth,
            }),
            Self::Cancel(timer) => TimerChange::Cancel(name(timer)),
            Self::Fired(timer, at) => TimerChange::Fired { name: name(timer), due: due(at) },
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Model {
    /// In commit order: stream, its own number, whose commit.
    events: Vec<(u8, u64, u8)>,
    nonces: BTreeSet<u8>,
    markers: BTreeSet<u8>,
    leases: BTreeMap<u8, (u64, Option<u8>)>,
    /// In the order in which they came.
    messages: Vec<Letter>,
    done: BTreeSet<u8>,
    timers: BTreeMap<u8, (u8, u8)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Letter {
    id: u8,
    /// Whose commit it came with.
    from: u8,
    deliveries: u8,
    forgiven: u8,
    place: Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Ready,
    Delayed,
    With(u8),
    Dead,
}

/// Which guard did not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    Conflict,
    Fenced,
    NonceUsed,
    Duplicate,
    LeaseHeld,
    Gone,
    NotReady,
    StaleDelivery,
    Unread,
}

impl Refusal {
    fn of(error: &Error) -> Self {
        match error {
            Error::Conflict { .. } => Self::Conflict,
            Error::Fenced { .. } => Self::Fenced,
            Error::NonceUsed { .. } => Self::NonceUsed,
            Error::Duplicate { .. } => Self::Duplicate,
            Error::LeaseHeld { .. } => Self::LeaseHeld,
            Error::Gone { .. } => Self::Gone,
            Error::NotReady { .. } => Self::NotReady,
            Error::StaleDelivery { .. } => Self::StaleDelivery,
            Error::Unread { .. } => Self::Unread,
            other => panic!("no guard says {other}"),
        }
    }
}

impl Model {
    fn head(&self, stream: u8) -> u64 {
        self.events.iter().filter(|(name, ..)| *name == stream).count() as u64
    }

    fn commit(&mut self, sketch: &Sketch, number: u8) -> Result<(), Refusal> {
        let mut after = self.clone();
        after.apply(sketch, number)?;
        *self = after;
        Ok(())
    }

    fn require(holds: bool, refusal: Refusal) -> Result<(), Refusal> {
        if holds { Ok(()) } else { Err(refusal) }
    }

    fn holds(&self, lease: u8, owner: u8, epoch: u8) -> bool {
        self.leases.get(&lease) == Some(&(epoch.into(), Some(owner)))
    }

    fn apply(&mut self, sketch: &Sketch, number: u8) -> Result<(), Refusal> {
        if let Some((lease, owner, epoch)) = sketch.fence {
            Self::require(self.holds(lease, owner, epoch), Refusal::Fenced)?;
        }
        for (stream, seq) in &sketch.expect {
            Self::require(self.head(*stream) == u64::from(*seq), Refusal::Conflict)?;
        }
        if let Some(seen) = &sketch.seen {
            let mut waiting =
                self.messages.iter().filter(|letter| matches!(letter.place, Place::Ready | Place::Delayed));
            Self::require(waiting.all(|letter| seen.contains(&letter.id)), Refusal::Unread)?;
        }
        for nonce in &sketch.nonces {
            Self::require(self.nonces.insert(*nonce), Refusal::NonceUsed)?;
        }
        for marker in &sketch.markers {
            Self::require(self.markers.insert(*marker), Refusal::Duplicate)?;
        }
        for change in &sketch.leases {
            self.change_lease(*change)?;
        }
        for stream in &sketch.events {
            self.events.push((*stream, self.head(*stream) + 1, number));
        }
        for id in &sketch.messages {
            let known = self.done.contains(id) || self.messages.iter().any(|letter| letter.id == *id);
            Self::require(!known, Refusal::Duplicate)?;
            self.messages.push(Letter { id: *id, from: number, deliveries: 0, forgiven: 0, place: Place::Ready });
        }
        for id in &sketch.acks {
            self.letter(*id, Refusal::Gone, |letter| matches!(letter.place, Place::Ready | Place::Delayed))?;
            self.finish(*id);
        }
        sketch.deliveries.iter().try_for_each(|change| self.deliver(*change))?;
        if sketch.promote {
            let delayed = self.messages.iter_mut().filter(|letter| letter.place == Place::Delayed);
            delayed.for_each(|letter| letter.place = Place::Ready);
        }
        sketch.timers.iter().try_for_each(|change| self.change_timer(*change, number))
    }

    fn letter(&mut self, id: u8, refusal: Refusal, is_right: impl Fn(&Letter) -> bool) -> Result<&mut Letter, Refusal> {
        self.messages.iter_mut().find(|letter| letter.id == id && is_right(letter)).ok_or(refusal)
    }

    fn finish(&mut self, id: u8) {
        self.messages.retain(|letter| letter.id != id);
        self.done.insert(id);
    }

    fn held(&mut self, id: u8, owner: u8, number: u8) -> Result<&mut Letter, Refusal> {
        let is_held = |letter: &Letter| letter.place == Place::With(owner) && letter.deliveries == number;
        self.letter(id, Refusal::StaleDelivery, is_held)
    }

    fn deliver(&mut self, change: Deliver) -> Result<(), Refusal> {
        let dead = |letter: &Letter| letter.place == Place::Dead;
        match change {
            Deliver::Nack(id, owner, number) => self.held(id, owner, number)?.place = Place::Ready,
            Deliver::Delay(id, owner, number) => self.held(id, owner, number)?.place = Place::Delayed,
            Deliver::Dead(id, owner, number) => self.held(id, owner, number)?.place = Place::Dead,
            Deliver::Ack(id, owner, number) => {
                self.held(id, owner, number)?;
                self.finish(id);
            }
            Deliver::Lease(id, owner) => {
                let letter = self.letter(id, Refusal::NotReady, |letter| letter.place == Place::Ready)?;
                letter.place = Place::With(owner);
                letter.deliveries += 1;
            }
            Deliver::Hasten(id) => {
                let is_delayed = |letter: &Letter| letter.place == Place::Delayed;
                self.letter(id, Refusal::NotReady, is_delayed)?.place = Place::Ready;
            }
            Deliver::Retry(id) => {
                let letter = self.letter(id, Refusal::Gone, dead)?;
                (letter.place, letter.forgiven) = (Place::Ready, letter.deliveries);
            }
            Deliver::Drop(id) => {
                self.letter(id, Refusal::Gone, dead)?;
                self.finish(id);
            }
        }
        Ok(())
    }

    fn change_lease(&mut self, change: Lease) -> Result<(), Refusal> {
        match change {
            Lease::Take(lease, owner) => {
                let (epoch, holder) = self.leases.entry(lease).or_insert((0, None));
                Self::require(holder.is_none(), Refusal::LeaseHeld)?;
                (*epoch, *holder) = (*epoch + 1, Some(owner));
            }
            Lease::Release(lease, owner, epoch) => {
                Self::require(self.holds(lease, owner, epoch), Refusal::Fenced)?;
                self.leases.insert(lease, (epoch.into(), None));
            }
        }
        Ok(())
    }

    fn change_timer(&mut self, change: Timer, number: u8) -> Result<(), Refusal> {
        match change {
            Timer::Set(name, due) => drop(self.timers.insert(name, (due, number))),
            Timer::Cancel(name) => drop(self.timers.remove(&name)),
            Timer::Fired(name, due) => {
                Self::require(self.timers.get(&name).is_some_and(|(at, _)| *at == due), Refusal::Gone)?;
                self.timers.remove(&name);
            }
        }
        Ok(())
    }
}

async fn register_owners(store: &dyn Store) {
    let mut commit = Commit::unfenced(Tenant::local(), NOW);
    for number in 0..2 {
        let new = NewOwner {
            id: owner(number),
            host: "ship".into(),
            boot_id: "boot".into(),
            pid: 1,
            level: windlass_domain::JOURNAL_LEVEL,
        };
        commit.owners.push(OwnerChange::Register(new));
    }
    store.commit(commit).await.expect("anybody may register");
}

/// What can be read of a store, in the model's terms. Nonces and markers cannot be read; the commits that follow tell.
async fn compare(store: &dyn Store, model: &Model) {
    let tenant = Tenant::local();
    let events = store.events(&tenant, Position(0), usize::MAX).await.expect("readable");
    let positions: Vec<u64> = events.iter().map(|event| event.position.0).collect();
    assert_eq!(positions, (1..=model.events.len() as u64).collect::<Vec<_>>());
    let events: Vec<(StreamId, u64, String)> =
        events.into_iter().map(|event| (event.stream, event.seq.0, event.data)).collect();
    let expected = model.events.iter().map(|(name, seq, number)| (stream(*name), *seq, number.to_string()));
    assert_eq!(events, expected.collect::<Vec<_>>());
    let messages = store.mailbox(&tenant, "box", NOW, usize::MAX).await.expect("readable");
    let messages: Vec<(MessageId, String)> = messages.into_iter().map(|found| (found.message_id, found.data)).collect();
    let ready = model.messages.iter().filter(|letter| letter.place == Place::Ready);
    assert_eq!(messages, ready.map(|letter| (message(letter.id), letter.from.to_string())).collect::<Vec<_>>());
    for id in 0..6 {
        let found = store.message(&tenant, message(id)).await.expect("readable");
        let found = found.map(|found| (found.standing, found.deliveries, found.forgiven, found.data));
        let expected = model.messages.iter().find(|letter| letter.id == id).map(|letter| {
            let standing = match letter.place {
                Place::Ready => Standing::Ready,
                Place::Delayed => Standing::Delayed { not_before: LATER },
                Place::With(by) => Standing::Leased { owner: owner(by), at: NOW },
                Place::Dead => Standing::Dead { reason: "no".into(), at: NOW },
            };
            (standing, letter.deliveries.into(), letter.forgiven.into(), letter.from.to_string())
        });
        assert_eq!(found, expected, "message {id}");
    }
    let chain = verify(store, &tenant, None, None).await.expect("readable");
    let events = model.events.len() as u64;
    assert!(matches!(chain, Verified::Intact { events: found, .. } if found == events), "{chain:?}");
    let timers = store.timers_due(Some(&tenant), NOW, usize::MAX).await.expect("readable");
    let timers: BTreeMap<String, (u64, String)> =
        timers.into_iter().map(|timer| (timer.name.0, (timer.due.as_millis(), timer.data))).collect();
    let expected =
        model.timers.iter().map(|(name, (due, number))| (name.to_string(), (u64::from(*due), number.to_string())));
    assert_eq!(timers, expected.collect::<BTreeMap<_, _>>());
    for number in 0..2 {
        let row = store.lease(&tenant, &lease(number)).await.expect("readable");
        let found = row.map(|row| (row.epoch.0, row.holder.map(|holder| holder.id)));
        let expected = model.leases.get(&number).map(|(epoch, holder)| (*epoch, holder.map(owner)));
        assert_eq!(found, expected);
        assert_eq!(store.head(&tenant, &stream(number)).await, Ok(Seq(model.head(number))));
    }
}

fn numbered(sketches: &[Sketch]) -> impl Iterator<Item = (&Sketch, u8)> {
    sketches.iter().zip(0..)
}

pub async fn answers_in_turn(store: &dyn Store, sketches: &[Sketch]) {
    let mut model = Model::default();
    register_owners(store).await;
    for (sketch, number) in numbered(sketches) {
        let outcome = store.commit(sketch.commit(number)).await;
        let outcome = outcome.map(drop).map_err(|error| Refusal::of(&error));
        assert_eq!(outcome, model.commit(sketch, number), "commit {number}");
    }
    compare(store, &model).await;
}

/// All are handed over at once, so the writer takes them in their order and in as few transactions as it can.
pub async fn answers_at_once(store: &dyn Store, sketches: &[Sketch]) {
    let mut model = Model::default();
    register_owners(store).await;
    let mut pending: Vec<_> = numbered(sketches).map(|(sketch, number)| store.commit(sketch.commit(number))).collect();
    let mut outcomes = vec![None; pending.len()];
    std::future::poll_fn(|context| {
        for (commit, outcome) in pending.iter_mut().zip(&mut outcomes) {
            if outcome.is_none()
                && let Poll::Ready(ready) = commit.as_mut().poll(context)
            {
                *outcome = Some(ready);
            }
        }
        if outcomes.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    for ((sketch, number), outcome) in numbered(sketches).zip(outcomes) {
        let outcome = outcome.expect("every commit is answered").map(drop).map_err(|error| Refusal::of(&error));
        assert_eq!(outcome, model.commit(sketch, number), "commit {number}");
    }
    compare(store, &model).await;
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn one_commit_after_another_is_answered_as_the_model_answers(sketches in sketches()) {
        let executor = Executor::new();
        let store = SqliteStore::in_memory(executor.runtime()).expect("a store");
        executor.run(answers_in_turn(&store, &sketches));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(60) })]

    #[test]
    fn commits_that_share_a_transaction_are_answered_as_the_model_answers(sketches in sketches()) {
        let (folder, executor) = (scratch(), Executor::new());
        let store = SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("a store");
        executor.run(answers_at_once(&store, &sketches));
    }
}
