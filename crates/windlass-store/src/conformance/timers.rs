//! Timers: each goes off once, at the time it was last set to.

use windlass_domain::{Taint, Tenant, Wall};

use crate::commit::{Commit, TimerChange, TimerName};
use crate::conformance::fixture::{
    AnyRuntime, AnyStore, commit, encoded, event, ok, refused, stream, tenant, texts, timer,
};
use crate::error::Error;

fn change(changes: impl IntoIterator<Item = TimerChange>) -> Commit {
    let mut commit = commit();
    commit.timers.extend(changes);
    commit
}

fn fired(name: &str, due: u64) -> Commit {
    let mut commit = change([TimerChange::Fired { name: TimerName(name.into()), due: Wall::from_millis(due) }]);
    commit.events.push(event(&stream("rang"), name));
    commit
}

async fn due(store: &AnyStore, now: u64) -> Vec<String> {
    let timers = store.timers_due(Some(&tenant()), Wall::from_millis(now), 100).await.expect("readable");
    timers.into_iter().map(|timer| format!("{}@{}", timer.name.0, timer.due.as_millis())).collect()
}

pub(super) async fn timers_of_every_tenant_are_seen_by_a_process(store: AnyStore, _: AnyRuntime) {
    for (name, due) in [("b", 30), ("a", 20), ("c", 10)] {
        let mut set = change([TimerChange::Set(timer("t", due))]);
        set.tenant = Tenant::new(name);
        ok(&store, set).await;
    }
    let all = store.timers_due(None, Wall::from_millis(20), 9).await.expect("readable");
    let found: Vec<(&str, u64)> = all.iter().map(|timer| (timer.tenant.as_str(), timer.due.as_millis())).collect();
    assert_eq!(found, [("c", 10), ("a", 20)]);
    let one = store.timers_due(Some(&Tenant::new("a")), Wall::from_millis(99), 9).await.expect("readable");
    assert_eq!(one.iter().map(|timer| timer.tenant.as_str()).collect::<Vec<_>>(), ["a"]);
}

pub(super) async fn a_timer_is_seen_when_it_is_due(store: AnyStore, _: AnyRuntime) {
    ok(&store, change([TimerChange::Set(timer("b", 20)), TimerChange::Set(timer("a", 30))])).await;
    assert_eq!(due(&store, 19).await, Vec::<String>::new());
    assert_eq!(due(&store, 20).await, ["b@20"]);
    assert_eq!(due(&store, 99).await, ["b@20", "a@30"]);
    let row = store.timers_due(Some(&tenant()), Wall::from_millis(20), 1).await.expect("readable").remove(0);
    assert_eq!((row.queue.as_str(), row.kind.as_str(), row.version), ("alarms", "test.rang", 3));
    assert_eq!((row.data.as_str(), row.taint), (encoded("", "b").data.get(), Taint::Owner));
}

pub(super) async fn a_timer_fires_once(store: AnyStore, _: AnyRuntime) {
    ok(&store, change([TimerChange::Set(timer("a", 10))])).await;
    ok(&store, fired("a", 10)).await;
    assert!(matches!(refused(&store, fired("a", 10)).await, Error::Gone { .. }));
    assert_eq!(texts(&store, &stream("rang")).await, ["a"]);
    assert_eq!(due(&store, 99).await, Vec::<String>::new());
}

pub(super) async fn a_timer_that_was_set_anew_does_not_fire_at_its_old_time(store: AnyStore, _: AnyRuntime) {
    ok(&store, change([TimerChange::Set(timer("a", 10))])).await;
    ok(&store, change([TimerChange::Set(timer("a", 50))])).await;
    assert_eq!(due(&store, 49).await, Vec::<String>::new());
    assert!(matches!(refused(&store, fired("a", 10)).await, Error::Gone { .. }));
    ok(&store, fired("a", 50)).await;
}

pub(super) async fn a_cancelled_timer_is_gone_and_cancelling_again_is_no_error(store: AnyStore, _: AnyRuntime) {
    ok(&store, change([TimerChange::Set(timer("a", 10)), TimerChange::Set(timer("b", 10))])).await;
    let cancel = || change([TimerChange::Cancel(TimerName("a".into()))]);
    ok(&store, cancel()).await;
    ok(&store, cancel()).await;
    assert_eq!(due(&store, 99).await, ["b@10"]);
    assert!(matches!(refused(&store, fired("a", 10)).await, Error::Gone { .. }));
}
