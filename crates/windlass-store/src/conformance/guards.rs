//! Guards: when one does not hold, the commit did not happen.

use windlass_domain::{Seq, Taint, Tenant};

use crate::commit::{Commit, LARGEST_COMMIT, Marker, Nonce, TimerChange};
use crate::conformance::fixture::{
    AnyRuntime, AnyStore, NOW, append, commit, event, lease, message, message_id, ok, owner_id, refused, registered,
    stream, taking, tenant, texts, timer,
};
use crate::error::Error;
use crate::lease::Claim;
use crate::owner::{NewOwner, OwnerChange};
use crate::stream::Position;

pub(super) async fn an_expectation_that_does_not_hold_changes_nothing(store: AnyStore, _: AnyRuntime) {
    let a = stream("a");
    ok(&store, append(&a, 0, &["one", "two"])).await;
    for expected in [0, 1, 3] {
        let refusal = refused(&store, append(&a, expected, &["never"])).await;
        assert_eq!(refusal, Error::Conflict { stream: a.clone(), expected: Seq(expected), found: Seq(2) });
    }
    assert_eq!(texts(&store, &a).await, ["one", "two"]);
    assert_eq!(ok(&store, append(&a, 2, &["three"])).await.position, Position(3));
}

pub(super) async fn every_expectation_must_hold(store: AnyStore, _: AnyRuntime) {
    let (a, b) = (stream("a"), stream("b"));
    ok(&store, append(&b, 0, &["b"])).await;
    let mut both = append(&a, 0, &["never"]);
    both.expect.push((b.clone(), Seq(0)));
    assert_eq!(refused(&store, both).await, Error::Conflict { stream: b, expected: Seq(0), found: Seq(1) });
    assert_eq!(store.head(&tenant(), &a).await, Ok(Seq(0)));
}

pub(super) async fn a_nonce_is_used_once(store: AnyStore, _: AnyRuntime) {
    let using = |names: &[&str]| {
        let mut commit = commit();
        commit.nonces = names.iter().map(|name| Nonce((*name).to_owned())).collect();
        commit
    };
    ok(&store, using(&["a", "b"])).await;
    assert_eq!(refused(&store, using(&["c", "a"])).await, Error::NonceUsed { nonce: Nonce("a".into()) });
    assert_eq!(refused(&store, using(&["d", "d"])).await, Error::NonceUsed { nonce: Nonce("d".into()) });
    // What was refused has used nothing.
    ok(&store, using(&["c", "d"])).await;
}

pub(super) async fn a_marker_is_new_once(store: AnyStore, _: AnyRuntime) {
    let marking = |scope: &str, key: &str| {
        let mut commit = commit();
        commit.processed.push(Marker { scope: scope.into(), key: key.into() });
        commit
    };
    ok(&store, marking("execution/1", "event")).await;
    assert!(matches!(refused(&store, marking("execution/1", "event")).await, Error::Duplicate { .. }));
    ok(&store, marking("execution/2", "event")).await;
}

pub(super) async fn what_must_be_absent_is_looked_for(store: AnyStore, _: AnyRuntime) {
    let over = Marker { scope: "task/1".into(), key: "over".into() };
    let telling = |number| {
        let mut commit = commit();
        commit.absent.push(over.clone());
        commit.messages.push(message(number, "box"));
        commit
    };
    ok(&store, telling(1)).await;
    assert_eq!(store.is_marked(&tenant(), &over).await, Ok(false));
    let mut end = commit();
    end.processed.push(over.clone());
    ok(&store, end).await;
    assert_eq!(store.is_marked(&tenant(), &over).await, Ok(true));
    assert_eq!(refused(&store, telling(2)).await, Error::Present { marker: over.clone() });
    assert_eq!(store.message(&tenant(), message_id(2)).await, Ok(None));
    // Another tenant's is another.
    let mut elsewhere = telling(2);
    elsewhere.tenant = Tenant::new("other");
    ok(&store, elsewhere).await;
}

/// One commit that touches every table, refused by its last guard to be looked at.
pub(super) async fn a_refused_commit_leaves_no_trace_of_any_kind(store: AnyStore, _: AnyRuntime) {
    let a = stream("a");
    let owner = registered(&store, 1).await;
    let everything = |store: AnyStore| async move {
        let a = stream("a");
        let mut commit = taking(&lease("l"), owner, Claim::Unheld);
        commit.nonces.push(Nonce("n".into()));
        commit.processed.push(Marker { scope: "s".into(), key: "k".into() });
        let new = NewOwner {
            id: owner_id(2),
            host: String::new(),
            boot_id: String::new(),
            pid: 1,
            level: windlass_domain::JOURNAL_LEVEL,
        };
        commit.owners.push(OwnerChange::Register(new));
        commit.events.push(event(&a, "event"));
        commit.messages.push(message(1, "box"));
        commit.timers.push(TimerChange::Set(timer("t", 1)));
        let blob = store.stage_blob(&tenant(), b"blob".to_vec(), Taint::Auth).await.expect("staged");
        let digest = blob.digest();
        commit.blobs.push(blob);
        (commit, digest)
    };
    let (mut doomed, digest) = everything(store.clone()).await;
    // Looked at last: firing a timer that is not there.
    let not_there = timer("not there", 1);
    doomed.timers.push(TimerChange::Fired { name: not_there.name, due: not_there.due });
    assert!(matches!(refused(&store, doomed).await, Error::Gone { .. }));
    assert_eq!(store.head(&tenant(), &a).await, Ok(Seq(0)));
    assert_eq!(store.mailbox(&tenant(), "box", NOW, 9).await, Ok(Vec::new()));
    assert_eq!(store.timers_due(Some(&tenant()), NOW, 9).await, Ok(Vec::new()));
    assert_eq!(store.lease(&tenant(), &lease("l")).await, Ok(None));
    assert_eq!(store.owner(owner_id(2)).await, Ok(None));
    assert_eq!(store.blob(&tenant(), digest).await, Ok(None));
    // The nonce, the marker and the message id are unused too.
    let (again, _) = everything(store.clone()).await;
    let committed: crate::commit::Committed = ok(&store, again).await;
    assert_eq!(committed.position, Position(1));
}

pub(super) async fn a_commit_that_is_too_large_is_refused(store: AnyStore, _: AnyRuntime) {
    let a = stream("a");
    let huge = "x".repeat(LARGEST_COMMIT);
    let too_large: Commit = append(&a, 0, &[&huge]);
    assert!(matches!(refused(&store, too_large).await, Error::TooLarge { .. }));
    ok(&store, append(&a, 0, &[&huge[..1 << 20]])).await;
}
