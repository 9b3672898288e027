//! An upgrade while work goes on: a new version of an event is written only when everybody at work reads it.

use serde_json::{Value, json};
use windlass_domain::{Encoded, Older, Seq, Wall};

use crate::commit::{Commit, NewTimer, TimerChange, TimerName};
use crate::conformance::fixture::{AnyRuntime, AnyStore, NOW, commit, event, message, owner_id, stream, tenant};
use crate::error::Error;
use crate::owner::{AT_WORK, NewOwner, Owner, beat, register, retire};

const OLD: u32 = 1;
const NEW: u32 = 2;

/// The second version counts in metres.
const OLDER: &[Older] = &[Older { since: NEW, downcast: in_feet }];

fn in_feet(payload: Value) -> Value {
    json!({ "feet": payload["metres"].as_u64().unwrap_or(0) * 10 / 3 })
}

fn hauled() -> Encoded {
    let data = serde_json::value::to_raw_value(&json!({"metres": 3})).expect("it is JSON");
    Encoded { kind: "winch.hauled", version: 2, data, since: 1, older: OLDER }
}

async fn owner(store: &AnyStore, number: u64, level: u32, at: Wall) -> Result<Owner, Error> {
    let new = NewOwner { id: owner_id(number), host: "ship".into(), boot_id: "boot".into(), pid: 7, level };
    register(&**store, new, at).await
}

fn writing(at: Wall) -> Commit {
    let mut event = event(&stream("a"), "");
    event.encoded = hauled();
    Commit { events: vec![event], at, ..commit() }
}

/// The version and the text of the last event.
async fn last(store: &AnyStore) -> (u16, String) {
    let head = store.head(&tenant(), &stream("a")).await.expect("readable");
    let events = store.stream(&tenant(), &stream("a"), Seq(head.0 - 1), 1).await.expect("readable");
    (events[0].version, events[0].data.clone())
}

fn first_version() -> (u16, String) {
    (1, r#"{"feet":10}"#.to_owned())
}

fn second_version() -> (u16, String) {
    (2, r#"{"metres":3}"#.to_owned())
}

pub(super) async fn a_new_version_is_written_when_the_last_old_owner_has_ended(store: AnyStore, _: AnyRuntime) {
    let old = owner(&store, 1, OLD, NOW).await.expect("it is let in");
    owner(&store, 2, NEW, NOW).await.expect("it is let in");
    store.commit(writing(NOW)).await.expect("written");
    assert_eq!(last(&store).await, first_version(), "an old owner is at work");
    beat(&*store, old, NOW).await.expect("it lives");
    store.commit(writing(NOW)).await.expect("written");
    assert_eq!(last(&store).await, first_version(), "it still is");
    retire(&*store, old, NOW).await.expect("it ends");
    store.commit(writing(NOW)).await.expect("written");
    assert_eq!(last(&store).await, second_version(), "everybody reads it");
}

pub(super) async fn an_old_owner_that_fell_silent_is_not_waited_for_for_ever(store: AnyStore, _: AnyRuntime) {
    owner(&store, 1, OLD, NOW).await.expect("it is let in");
    let later = Wall::from_millis(NOW.as_millis() + u64::try_from(AT_WORK.as_millis()).expect("minutes"));
    owner(&store, 2, NEW, later).await.expect("it is let in");
    store.commit(writing(later)).await.expect("written");
    assert_eq!(last(&store).await, first_version(), "its heart may beat yet");
    let still_later = Wall::from_millis(later.as_millis() + 1);
    store.commit(writing(still_later)).await.expect("written");
    assert_eq!(last(&store).await, second_version());
}

pub(super) async fn who_cannot_read_what_is_written_is_not_let_in(store: AnyStore, _: AnyRuntime) {
    owner(&store, 2, NEW, NOW).await.expect("it is let in");
    owner(&store, 1, OLD, NOW).await.expect("nothing new is written yet");
    let again = owner(&store, 1, NEW, NOW).await.expect("it comes back as a new one");
    store.commit(writing(NOW)).await.expect("written");
    assert_eq!(last(&store).await, second_version(), "what it was before does not count");
    let refused = owner(&store, 3, OLD, NOW).await.expect_err("it could not read that");
    assert!(matches!(refused, Error::TooOld { written: NEW, known: OLD }), "{refused}");
    beat(&*store, again, NOW).await.expect("nothing has happened to the others");
}

/// Nothing of it could be read by whoever is older: it is not written at all, and the commit with it.
pub(super) async fn a_new_kind_is_written_when_the_last_old_owner_has_ended(store: AnyStore, _: AnyRuntime) {
    let old = owner(&store, 1, OLD, NOW).await.expect("it is let in");
    owner(&store, 2, NEW, NOW).await.expect("it is let in");
    let oiled = |at: Wall| {
        let mut writing = writing(at);
        writing.events[0].encoded = Encoded { kind: "winch.oiled", version: 1, since: NEW, older: &[], ..hauled() };
        writing.messages.push(message(7, "queue"));
        writing
    };
    for _ in 0..2 {
        let refused = store.commit(oiled(NOW)).await.expect_err("an old owner is at work");
        assert!(matches!(refused, Error::TooNew { needed: NEW, least: OLD }), "{refused}");
    }
    assert_eq!(store.head(&tenant(), &stream("a")).await.expect("readable"), Seq(0));
    assert!(store.mailbox(&tenant(), "queue", NOW, 9).await.expect("readable").is_empty(), "nothing of it was written");
    store.commit(writing(NOW)).await.expect("a new version of what there was is brought down");
    owner(&store, 3, OLD, NOW).await.expect("the journal holds nothing that it could not read");
    retire(&*store, old, NOW).await.expect("it ends");
    store.commit(oiled(NOW)).await.expect_err("another one is");
    let later = Wall::from_millis(NOW.as_millis() + u64::try_from(AT_WORK.as_millis()).expect("minutes") + 1);
    owner(&store, 4, NEW, later).await.expect("it is let in");
    store.commit(oiled(later)).await.expect("everybody reads it");
    let refused = owner(&store, 5, OLD, later).await.expect_err("it could not read that");
    assert!(matches!(refused, Error::TooOld { written: NEW, known: OLD }), "{refused}");
}

pub(super) async fn messages_and_timers_are_written_for_everybody_too(store: AnyStore, _: AnyRuntime) {
    owner(&store, 1, OLD, NOW).await.expect("it is let in");
    let mut writing = commit();
    let mut message = message(1, "queue");
    message.encoded = hauled();
    writing.messages.push(message);
    let (name, queue) = (TimerName("soon".to_owned()), "queue".to_owned());
    let event = event(&stream("a"), "");
    writing.timers.push(TimerChange::Set(NewTimer { name, due: NOW, queue, encoded: hauled(), taint: event.taint }));
    store.commit(writing).await.expect("written");
    let waiting = store.mailbox(&tenant(), "queue", NOW, 9).await.expect("readable");
    assert_eq!((waiting[0].version, waiting[0].data.clone()), first_version());
    let due = store.timers_due(None, NOW, 9).await.expect("readable");
    assert_eq!((due[0].version, due[0].data.clone()), first_version());
}
