//! Messages that somebody takes by name: those it enqueued itself, and those it was asked for.

use std::time::Duration;

use windlass_domain::queue::QueueMessage;
use windlass_domain::{Seq, Tenant};

use crate::commit::Commit;
use crate::conformance::fixture::{
    AnyRuntime, AnyStore, NOW, at_epoch, lease, message_id, ok, owner_id, registered, stream, taken, tenant,
};
use crate::conformance::scene::{A_LOOK, Scene, done, effect, request, stale, witness};
use crate::delivery::DeliveryChange;
use crate::error::Error as StoreError;
use crate::owner::{Owner, beat};
use crate::queue::{
    Consumer, Leased, Nacked, Queue, RuntimeAuditEvent, TelemetryName, audit_stream, enqueue_taken, retry,
};
use crate::record::Standing;

/// Enqueued and taken by `owner` in one commit.
async fn kept(scene: &Scene, store: &AnyStore, number: u64, owner: Owner) -> Leased {
    let mut commit = Commit::unfenced(tenant(), NOW);
    let delivery = enqueue_taken(&mut commit, Queue::Planner, &request(number), owner.id).expect("as it should be");
    assert_eq!(ok(store, commit).await.deliveries, [delivery]);
    scene.desk().taken(Queue::Planner, request(number), delivery)
}

async fn claim(scene: &Scene, consumer: &mut Consumer, number: u64) -> Option<Leased> {
    let claimed = scene.desk().claim(consumer, &mut witness(), &tenant(), message_id(number)).await;
    claimed.expect("no trouble")
}

pub(super) async fn what_is_taken_where_it_is_enqueued_is_never_another_s(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    let ((_, owner), (mut other, _)) = (scene.consumer(1).await, scene.consumer(2).await);
    let leased = kept(&scene, &store, 1, owner).await;
    assert_eq!((&leased.message, leased.attempt), (&request(1), 1));
    assert!(scene.nothing_to_lease(&mut other).await);
    let audited = store.stream(&tenant(), &audit_stream("planner_queue"), Seq(0), 9).await.expect("readable");
    let kinds: Vec<&str> = audited.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["audit.enqueue", "audit.dequeue"]);
    let taken: RuntimeAuditEvent = serde_json::from_str(&audited[1].data).expect("readable");
    assert_eq!(taken.details["owner"], owner.id.to_string());
    scene.desk().ack(&leased, effect(&leased)).await.expect("it is ours");
    assert_eq!((done(&store).await.len(), scene.standing(1).await), (1, None));
    assert_eq!(scene.measured(TelemetryName::QueueWaitMs).len(), 1);
    assert_eq!(scene.measured(TelemetryName::LeaseDurationMs).len(), 1);
}

pub(super) async fn what_is_enqueued_for_nobody_is_not_enqueued(store: AnyStore, _: AnyRuntime) {
    let mut commit = Commit::unfenced(tenant(), NOW);
    enqueue_taken(&mut commit, Queue::Planner, &request(1), owner_id(9)).expect("as it should be");
    assert!(matches!(store.commit(commit).await, Err(StoreError::Gone { .. })));
    assert_eq!(store.message(&tenant(), message_id(1)).await, Ok(None));
    assert_eq!(store.head(&tenant(), &audit_stream("planner_queue")).await, Ok(Seq(0)));
    // What may not enter adds nothing to the commit.
    let mut commit = Commit::unfenced(tenant(), NOW);
    let elsewhere = QueueMessage { scope_id: Tenant::new("other"), ..request(1) };
    enqueue_taken(&mut commit, Queue::Planner, &elsewhere, owner_id(9)).expect_err("another tenant's");
    assert!(commit.messages.is_empty() && commit.events.is_empty() && commit.deliveries.is_empty());
}

pub(super) async fn a_taken_message_outlives_its_owner(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    let ((_, owner), (mut other, _)) = (scene.consumer(1).await, scene.consumer(2).await);
    let lost = kept(&scene, &store, 1, owner).await;
    let taken = scene.watch(&mut other, &mut witness()).await;
    let [again] = &taken[..] else { panic!("it was taken over") };
    assert_eq!((&again.message, again.attempt), (&lost.message, 2));
    assert!(stale(scene.desk().ack(&lost, effect(&lost)).await));
    scene.desk().ack(again, effect(again)).await.expect("it is the other's");
}

pub(super) async fn an_ack_may_be_part_of_a_bigger_commit(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    let (_, owner) = scene.consumer(1).await;
    let leased = kept(&scene, &store, 1, owner).await;
    let fence = taken(&store, &lease("task"), owner).await;
    let bigger = |epoch| {
        let mut commit = Commit { fence: Some(at_epoch(&fence, epoch)), ..effect(&leased) };
        commit.expect.push((stream("done"), Seq(0)));
        commit.deliveries.push(DeliveryChange::Ack(leased.delivery));
        commit
    };
    scene.clock.pass(Duration::from_millis(30));
    // It lost its lease, and so it acks nothing.
    assert!(matches!(store.commit(bigger(7)).await, Err(StoreError::Fenced { .. })));
    assert!(matches!(scene.standing(1).await, Some(Standing::Leased { .. })));
    ok(&store, bigger(1)).await;
    scene.desk().tell_acked(&leased);
    assert_eq!((done(&store).await.len(), scene.standing(1).await), (1, None));
    let [lasted] = &scene.measured(TelemetryName::LeaseDurationMs)[..] else { panic!("one was acked") };
    assert_eq!((lasted.value, lasted.labels["ended_by"].as_str()), (30, "ack"));
}

pub(super) async fn a_message_is_claimed_when_it_is_ready_or_delayed(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store, runtime);
    let (mut consumer, _) = scene.consumer(1).await;
    scene.put([request(1), request(2)]).await;
    // Not the first in the queue.
    let claimed = claim(&scene, &mut consumer, 2).await.expect("it is ready");
    assert_eq!((claimed.message.message_id, claimed.attempt), (message_id(2), 1));
    let Nacked::Later { .. } = scene.desk().nack(&claimed, "no luck").await.expect("it is ours") else {
        panic!("it has tries left")
    };
    assert!(matches!(scene.standing(2).await, Some(Standing::Delayed { .. })));
    let again = claim(&scene, &mut consumer, 2).await.expect("it need not wait");
    assert_eq!((again.message.message_id, again.attempt), (message_id(2), 2));
    assert!(stale(scene.desk().ack(&claimed, effect(&claimed)).await));
    scene.desk().ack(&again, effect(&again)).await.expect("it is ours");
}

pub(super) async fn a_message_is_claimed_from_the_dead_and_never_from_the_living(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    let ((_, owner), (mut other, _)) = (scene.consumer(1).await, scene.consumer(2).await);
    let lost = kept(&scene, &store, 1, owner).await;
    let (mut witness, desk) = (witness(), scene.desk());
    for _ in 0..9 {
        beat(&*store, owner, NOW).await.expect("it lives");
        let claimed = desk.claim(&mut other, &mut witness, &tenant(), message_id(1)).await;
        assert_eq!(claimed.expect("no trouble"), None, "its heart beats");
        scene.clock.pass(A_LOOK);
    }
    assert_eq!(desk.heartbeat(&mut lost.clone()).await, Ok(()));
    let mut claimed = Vec::new();
    for _ in 0..4 {
        claimed.extend(desk.claim(&mut other, &mut witness, &tenant(), message_id(1)).await.expect("no trouble"));
        scene.clock.pass(A_LOOK);
    }
    let [claimed] = &claimed[..] else { panic!("it is silent for longer than it may be") };
    assert_eq!((claimed.attempt, claimed.delivery.owner), (2, other.owner));
    assert_eq!(scene.measured(TelemetryName::LeaseExpired).len(), 1);
    assert!(stale(desk.ack(&lost, effect(&lost)).await));
    // Nobody takes from itself.
    assert_eq!(desk.claim(&mut other, &mut witness, &tenant(), message_id(1)).await, Ok(None));
    desk.ack(claimed, effect(claimed)).await.expect("it is the other's");
    assert_eq!(done(&store).await.len(), 1);
}

pub(super) async fn what_is_dead_or_not_there_or_elsewhere_is_not_claimed(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    let (mut consumer, _) = scene.consumer(1).await;
    scene.put([request(1)]).await;
    assert_eq!(claim(&scene, &mut consumer, 9).await, None);
    let mut elsewhere = Consumer::new(Queue::Proxy, registered(&store, 2).await.id);
    assert_eq!(claim(&scene, &mut elsewhere, 1).await, None);
    let other = Tenant::new("other");
    assert_eq!(scene.desk().claim(&mut consumer, &mut witness(), &other, message_id(1)).await, Ok(None));
    let leased = claim(&scene, &mut consumer, 1).await.expect("it was there all the time");
    assert_eq!(leased.delivery.number, 1, "nobody had it before");
    scene.desk().dead_letter(&leased, "no").await.expect("it is ours");
    assert_eq!(claim(&scene, &mut consumer, 1).await, None);
    retry(&*store, &tenant(), message_id(1), NOW).await.expect("it is dead");
    assert!(claim(&scene, &mut consumer, 1).await.is_some());
}
