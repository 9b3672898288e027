//! Work that can be done in one place alone: who gets it, and that a queue with places is still one queue.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use windlass_domain::queue::{QueueMessage, Urgency};
use windlass_domain::{Seq, TaskId, Tenant};

use crate::commit::Commit;
use crate::conformance::fixture::{AnyRuntime, AnyStore, NOW, message_id, ok, tenant};
use crate::conformance::scene::{Scene, effect, request, stale, witness};
use crate::notifier::Topic;
use crate::owner::Witness;
use crate::queue::{Consumer, Error, Invalid, Leased, Queue, RuntimeAuditEvent, audit_stream, enqueue, retry};
use crate::record::Depth;
use crate::stream::StreamId;

fn at(place: &str, number: u64) -> QueueMessage {
    QueueMessage { placement: Some(place.to_owned()), ..request(number) }
}

fn number(leased: &Leased) -> u64 {
    leased.message.content.parse().expect("requests say their number")
}

async fn all(scene: &Scene, consumer: &mut Consumer) -> Vec<u64> {
    let mut taken = Vec::new();
    while let Some(leased) = scene.desk().lease(consumer).await.expect("no trouble") {
        taken.push(number(&leased));
    }
    taken
}

pub(super) async fn what_names_a_place_is_taken_there_and_what_names_none_by_anybody(
    store: AnyStore,
    runtime: AnyRuntime,
) {
    let scene = Scene::new(store, runtime);
    let ((nowhere, _), (ship, _), (both, _)) =
        (scene.consumer(1).await, scene.consumer(2).await, scene.consumer(3).await);
    let (mut nowhere, mut ship, mut both) = (nowhere, ship.at("ship"), both.at("ship").at("shore"));
    scene.put([request(1), at("ship", 2), at("shore", 3), at("ship", 4), at("ship-2", 5)]).await;
    assert_eq!(all(&scene, &mut nowhere).await, [1]);
    assert_eq!(all(&scene, &mut ship).await, [2, 4]);
    assert_eq!(all(&scene, &mut both).await, [3]);
    scene.put([request(6)]).await;
    assert_eq!(all(&scene, &mut ship).await, [6], "a place is no reason to do nothing else");
    let (other, _) = scene.consumer(4).await;
    assert_eq!(all(&scene, &mut other.at("ship-2")).await, [5], "it waited for whoever has its place");
}

pub(super) async fn priority_age_and_turns_hold_over_places(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    let urgent = |message| QueueMessage { urgency: Urgency::NeedsAttention, ..message };
    let later = |message| QueueMessage { urgency: Urgency::Background, ..message };
    scene.put([at("ship", 1), request(2), urgent(at("shore", 3)), urgent(request(4)), later(at("ship", 5))]).await;
    let whole = scene.consumer(1).await.0.at("ship").at("shore");
    assert_eq!(all(&scene, &mut whole.clone()).await, [3, 4, 1, 2, 5]);
    // A tenant with much at one place keeps nobody waiting at another.
    let mut commit = Commit::unfenced(Tenant::new("a"), NOW);
    for number in 10..20 {
        let of_a = QueueMessage { scope_id: Tenant::new("a"), ..urgent(at("ship", number)) };
        enqueue(&mut commit, Queue::Planner, &of_a).expect("as it should be");
    }
    ok(&store, commit).await;
    scene.put([later(request(20)), at("shore", 21)]).await;
    let taken = all(&scene, &mut whole.clone()).await;
    assert_eq!(taken[..4], [10, 21, 11, 20]);
    assert_eq!(taken[4..], [12, 13, 14, 15, 16, 17, 18, 19]);
}

pub(super) async fn what_was_left_at_a_place_is_taken_over_and_claimed_there_alone(
    store: AnyStore,
    runtime: AnyRuntime,
) {
    let scene = Scene::new(store.clone(), runtime);
    scene.put([at("ship", 1), at("ship", 2)]).await;
    let mut dead = scene.consumer(1).await.0.at("ship");
    let lost = scene.lease(&mut dead).await;
    let mut elsewhere = scene.consumer(2).await.0.at("shore");
    let mut there = scene.consumer(3).await.0.at("ship");
    assert_eq!(scene.watch(&mut elsewhere, &mut witness()).await, []);
    let claim = async |consumer: &mut Consumer, witness: &mut Witness, number| {
        scene.desk().claim(consumer, witness, &tenant(), message_id(number)).await.expect("no trouble")
    };
    assert_eq!(claim(&mut elsewhere, &mut witness(), 2).await, None);
    assert_eq!(claim(&mut there, &mut witness(), 2).await.map(|leased| number(&leased)), Some(2));
    let taken = scene.watch(&mut there, &mut witness()).await;
    let again = taken.iter().find(|leased| number(leased) == 1).expect("its owner is gone");
    assert!(stale(scene.desk().ack(&lost, effect(&lost)).await));
    // Dead and retried, it is where it was.
    scene.desk().dead_letter(again, "no").await.expect("it is ours");
    retry(&*store, &tenant(), message_id(1), NOW).await.expect("it is dead");
    assert!(scene.nothing_to_lease(&mut elsewhere).await);
    assert_eq!(all(&scene, &mut there).await, [1]);
}

pub(super) async fn a_queue_is_asked_about_all_its_places(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    let task = TaskId::new(NOW, 5 << 64);
    let about = |message: QueueMessage| QueueMessage { task_id: Some(task), ..message };
    let mut woken = store.notifier().subscribe(Topic::Queue { queue: "planner_queue".to_owned() });
    scene.put([about(at("shore", 3))]).await;
    let mut waiting = pin!(woken.changed(Duration::from_secs(3_600)));
    let is_woken = poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context).is_ready())).await;
    assert!(is_woken, "whoever waits for a queue waits for its places");
    scene.put([about(request(2)), about(at("ship", 1)), at("ship", 4)]).await;
    scene.lease(&mut scene.consumer(1).await.0.at("ship")).await;
    let found = store.about(&tenant(), "planner_queue", &StreamId::new("task", task)).await.expect("readable");
    let numbers: Vec<_> = found.iter().map(|message| message.message_id).collect();
    assert_eq!(numbers, [3, 2, 1].map(message_id), "the oldest first, wherever it is");
    assert_eq!(store.depth("planner_queue").await, Ok(Depth { ready: 3, leased: 1 }));
    assert_eq!(store.depth("planner").await, Ok(Depth { ready: 0, leased: 0 }));
    let audited = store.stream(&tenant(), &audit_stream("planner_queue"), Seq(0), 9).await.expect("readable");
    let first: RuntimeAuditEvent = serde_json::from_str(&audited[0].data).expect("readable");
    assert_eq!((&first.details["queue"], &first.details["placement"]), (&"planner_queue".into(), &"shore".into()));
    assert_eq!(audited.len(), 5, "a queue has one audit");
}

pub(super) async fn what_is_no_place_is_refused(_: AnyStore, _: AnyRuntime) {
    for wrong in ["", "ship@sea", "a ship"] {
        let mut commit = Commit::unfenced(tenant(), NOW);
        let refusal = enqueue(&mut commit, Queue::Planner, &at(wrong, 1));
        assert!(matches!(refusal, Err(Error::Invalid { why: Invalid::BadPlacement, .. })), "{wrong}");
        assert!(commit.messages.is_empty() && commit.events.is_empty());
    }
}
