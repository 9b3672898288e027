//! Wake-ups: they come when they should, and nothing depends on them.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use windlass_domain::Tenant;

use crate::conformance::fixture::{AnyRuntime, AnyStore, append, commit, message, ok, stream, tenant};
use crate::notifier::Topic;

/// Far longer than any test may take.
const FOR_EVER: Duration = Duration::from_secs(3_600);

fn mailbox(name: &str) -> Topic {
    Topic::Mailbox { tenant: tenant(), mailbox: name.to_owned() }
}

pub(super) async fn a_commit_wakes_who_waits_for_it(store: AnyStore, runtime: AnyRuntime) {
    let mut waiting_for_message = store.notifier().subscribe(mailbox("box"));
    let mut waiting_for_event = store.notifier().subscribe(Topic::Events { tenant: tenant() });
    let writing = store.clone();
    runtime.spawn(Box::pin(async move {
        let mut both = append(&stream("a"), 0, &["x"]);
        both.messages.push(message(1, "box"));
        ok(&writing, both).await;
    }));
    waiting_for_message.changed(FOR_EVER).await;
    waiting_for_event.changed(FOR_EVER).await;
}

pub(super) async fn a_commit_between_reading_and_waiting_is_not_missed(store: AnyStore, _: AnyRuntime) {
    let mut subscription = store.notifier().subscribe(Topic::Events { tenant: tenant() });
    ok(&store, append(&stream("a"), 0, &["x"])).await;
    subscription.changed(FOR_EVER).await;
}

pub(super) async fn other_topics_do_not_wake(store: AnyStore, _: AnyRuntime) {
    let mut others = vec![
        store.notifier().subscribe(mailbox("other box")),
        store.notifier().subscribe(Topic::Events { tenant: Tenant::new("other") }),
    ];
    let mut enqueue = commit();
    enqueue.messages.push(message(1, "box"));
    ok(&store, enqueue).await;
    for other in &mut others {
        let mut waiting = pin!(other.changed(FOR_EVER));
        let woken = poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context).is_ready())).await;
        assert!(!woken);
    }
}

pub(super) async fn without_hints_waiting_still_ends(store: AnyStore, _: AnyRuntime) {
    let mut subscription = store.notifier().subscribe(Topic::Events { tenant: tenant() });
    store.notifier().drop_hints();
    ok(&store, append(&stream("a"), 0, &["x"])).await;
    {
        let mut waiting = pin!(subscription.changed(FOR_EVER));
        let woken = poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context).is_ready())).await;
        assert!(!woken, "the hint was to be dropped");
    }
    subscription.changed(Duration::ZERO).await;
}
