//! Consumers that do one message after another, and several beside one another.

use std::collections::BTreeSet;

use windlass_domain::queue::QueueMessage;
use windlass_domain::{MessageId, Seq, Tenant};

use crate::commit::Commit;
use crate::conformance::fixture::{
    AnyRuntime, AnyStore, NOW, commit, message as plain_message, message_id, ok, stream,
};
use crate::conformance::scene::{Scene, done, effect, request, stale, witness};
use crate::queue::{Queue, TelemetryName, enqueue};
use crate::record::{Depth, Standing};

pub(super) async fn one_is_acked_and_the_next_taken(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    scene.put([request(1), request(2), request(3)]).await;
    let mut elsewhere = commit();
    elsewhere.messages.push(plain_message(9, "elsewhere"));
    ok(&store, elsewhere).await;
    let (mut consumer, _) = scene.consumer(1).await;
    let mut in_hand = Some(scene.lease(&mut consumer).await);
    let mut taken = Vec::new();
    while let Some(leased) = in_hand {
        let turn = scene.desk().ack_and_lease(&leased, effect(&leased), &mut consumer).await;
        turn.acked.expect("it is ours");
        taken.push((leased.message.content.clone(), leased.delivery.number, leased.attempt));
        in_hand = turn.next.expect("no trouble");
    }
    let expected = ["1", "2", "3"].map(|number| (number.to_owned(), 1, 1));
    assert_eq!(taken, expected);
    assert_eq!(done(&store).await, ["1", "2", "3"]);
    assert_eq!(scene.measured(TelemetryName::LeaseDurationMs).len(), 3);
    assert_eq!(store.depth("planner_queue").await, Ok(Depth { ready: 0, leased: 0 }));
}

pub(super) async fn turns_are_taken_between_tenants_and_what_is_unreadable_put_aside(
    store: AnyStore,
    runtime: AnyRuntime,
) {
    let scene = Scene::new(store.clone(), runtime);
    scene.put([request(1), request(2)]).await;
    let other = Tenant::new("other");
    let mut theirs = Commit::unfenced(other.clone(), NOW);
    enqueue(&mut theirs, Queue::Planner, &QueueMessage { scope_id: other.clone(), ..request(3) }).expect("fine");
    ok(&store, theirs).await;
    let (mut consumer, _) = scene.consumer(1).await;
    let mine = scene.lease(&mut consumer).await;
    let turn = scene.desk().ack_and_lease(&mine, effect(&mine), &mut consumer).await;
    turn.acked.expect("it is ours");
    let theirs = turn.next.expect("no trouble").expect("there is one");
    assert_eq!(theirs.message.scope_id, other);
    let mut unreadable = commit();
    unreadable.messages.push(crate::commit::NewMessage { priority: 99, ..plain_message(4, "planner_queue") });
    ok(&store, unreadable).await;
    let effects = Commit { tenant: other, ..effect(&theirs) };
    let turn = scene.desk().ack_and_lease(&theirs, effects, &mut consumer).await;
    turn.acked.expect("it is ours");
    let last = turn.next.expect("no trouble").expect("there is one");
    assert_eq!(last.message.message_id, message_id(2));
    assert!(matches!(scene.standing(4).await, Some(Standing::Dead { .. })));
}

pub(super) async fn an_ack_that_is_refused_does_not_keep_the_next_from_being_taken(
    store: AnyStore,
    runtime: AnyRuntime,
) {
    let scene = Scene::new(store.clone(), runtime);
    scene.put([request(1)]).await;
    let ((mut slow, _), (mut other, _)) = (scene.consumer(1).await, scene.consumer(2).await);
    let lost = scene.lease(&mut slow).await;
    let taken = scene.watch(&mut other, &mut witness()).await;
    scene.put([request(2), request(3)]).await;
    let turn = scene.desk().ack_and_lease(&lost, effect(&lost), &mut slow).await;
    assert!(stale(turn.acked));
    let next = turn.next.expect("no trouble").expect("there is one");
    assert_eq!(next.message.message_id, message_id(2));
    // So with effects that may not be.
    let late = Commit { expect: vec![(stream("done"), Seq(7))], ..effect(&next) };
    let turn = scene.desk().ack_and_lease(&next, late, &mut slow).await;
    assert_eq!(turn.acked.expect_err("out of order").refusal(), Some("out_of_order"));
    assert_eq!(turn.next.expect("no trouble").map(|leased| leased.message.message_id), Some(message_id(3)));
    assert_eq!(done(&store).await, Vec::<String>::new());
    assert_eq!(store.depth("planner_queue").await, Ok(Depth { ready: 0, leased: 3 }));
    scene.desk().ack(&taken[0], effect(&taken[0])).await.expect("it is the other's");
}

pub(super) async fn consumers_beside_one_another_take_each_message_once_and_none_is_left(
    store: AnyStore,
    runtime: AnyRuntime,
) {
    let scene = Scene::new(store.clone(), runtime);
    scene.put((1..=40).map(request)).await;
    let (first, _) = scene.consumer(1).await;
    let mut consumers = [first.clone(), first.clone(), first];
    let mut taken: Vec<MessageId> = Vec::new();
    for turn in 0..40 {
        // What is new while others have seen a page is found when that is used up.
        if turn == 5 {
            scene.put([request(41)]).await;
        }
        taken.push(scene.lease(&mut consumers[turn % 3]).await.message.message_id);
    }
    taken.push(scene.lease(&mut consumers[0]).await.message.message_id);
    for consumer in &mut consumers {
        assert!(scene.nothing_to_lease(consumer).await);
    }
    assert_eq!(taken, (1..=41).map(message_id).collect::<Vec<_>>(), "in their order");
    assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), 41);
}
