//! Queues that many tenants write and many consumers read: whose turn it is, and what can be asked of them.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use windlass_domain::{MessageId, Tenant, Wall};

use crate::commit::{Commit, MOST_PROMOTED, NewMessage};
use crate::conformance::fixture::{
    AnyRuntime, AnyStore, NOW, commit, delivered, delivering, message, message_id, ok, registered, stream, tenant, text,
};
use crate::delivery::{Delivery, DeliveryChange};
use crate::notifier::{Subscription, Topic};
use crate::record::{Delayed, Depth, MOST_COUNTED, Standing, StoredMessage};

async fn put(store: &AnyStore, name: &str, messages: impl IntoIterator<Item = NewMessage>) {
    let mut commit = Commit::unfenced(Tenant::new(name), NOW);
    commit.messages.extend(messages);
    ok(store, commit).await;
}

fn with_priority(number: u64, priority: i32) -> NewMessage {
    NewMessage { priority, ..message(number, "queue") }
}

fn delayed(number: u64, millis: u64) -> NewMessage {
    NewMessage { not_before: Some(at(millis)), ..message(number, "queue") }
}

/// So long after now.
fn at(millis: u64) -> Wall {
    Wall::from_millis(NOW.as_millis() + millis)
}

/// The head of the queue as `tenant:number`.
async fn next(store: &AnyStore, after: Option<&str>, limit: usize) -> String {
    let after = after.map(Tenant::new);
    let next = store.next("queue", after.as_ref(), NOW, limit).await.expect("readable");
    let name = |message: &StoredMessage| format!("{}:{}", message.tenant, text(&message.data));
    next.ready.iter().map(name).collect::<Vec<_>>().join(" ")
}

pub(super) async fn tenants_take_turns_then_priority_then_age(store: AnyStore, _: AnyRuntime) {
    put(&store, "b", [with_priority(1, 0), with_priority(2, 5), with_priority(3, 5)]).await;
    put(&store, "a", [with_priority(4, -1)]).await;
    put(&store, "c", [with_priority(5, 99)]).await;
    put(&store, "z", [message(6, "other")]).await;
    assert_eq!(next(&store, None, 1).await, "a:4");
    assert_eq!(next(&store, Some("a"), 1).await, "b:2");
    assert_eq!(next(&store, Some("b"), 1).await, "c:5");
    assert_eq!(next(&store, Some("c"), 1).await, "a:4");
    // One that has nothing any more still has its place in the order.
    assert_eq!(next(&store, Some("bb"), 1).await, "c:5");
    assert_eq!(next(&store, Some("zzz"), 1).await, "a:4");
    assert_eq!(next(&store, Some(""), 1).await, "a:4");
}

pub(super) async fn a_page_has_one_of_each_tenant_before_a_second_of_any(store: AnyStore, _: AnyRuntime) {
    assert_eq!(next(&store, None, 9).await, "");
    put(&store, "a", (1..=5).map(|number| message(number, "queue"))).await;
    put(&store, "b", [message(6, "queue")]).await;
    put(&store, "c", [message(7, "queue"), message(8, "queue")]).await;
    assert_eq!(next(&store, None, 0).await, "");
    assert_eq!(next(&store, None, 4).await, "a:1 b:6 c:7 a:2");
    assert_eq!(next(&store, Some("a"), 6).await, "b:6 c:7 a:1 c:8 a:2");
    assert_eq!(next(&store, Some("c"), 2).await, "a:1 b:6");
}

pub(super) async fn what_is_delayed_leased_or_dead_is_not_next(store: AnyStore, _: AnyRuntime) {
    let owner = registered(&store, 1).await;
    let all = [delayed(1, 1), message(2, "queue"), message(3, "queue"), message(4, "queue")];
    put(&store, tenant().as_str(), all).await;
    delivered(&store, 2, owner).await;
    let delivery = delivered(&store, 3, owner).await;
    ok(&store, delivering(&tenant(), [DeliveryChange::Dead { delivery, reason: "no".into() }])).await;
    assert_eq!(next(&store, None, 9).await, format!("{}:4", tenant()));
}

pub(super) async fn promoting_takes_the_earliest_and_not_too_many(store: AnyStore, _: AnyRuntime) {
    let many = MOST_PROMOTED as u64 + 10;
    put(&store, "a", (0..many).map(|number| delayed(number, 1_000 + number))).await;
    put(&store, "b", [delayed(5_000, 1)]).await;
    let delays = store.due_delayed(at(1_000)).await.expect("readable");
    assert_eq!(delays, Delayed { due: 2, next: Some(at(1_001)) });
    assert_eq!(store.due_delayed(NOW).await, Ok(Delayed { due: 0, next: Some(at(1)) }));
    assert_eq!(store.due_delayed(at(9_000)).await, Ok(Delayed { due: MOST_PROMOTED, next: None }));
    let promote = |millis| {
        let mut promote = commit();
        promote.promote = Some(at(millis));
        promote
    };
    let mut readied = ok(&store, promote(9_000)).await.readied;
    readied.sort();
    assert_eq!(readied, ["a", "b"].map(|name| (Tenant::new(name), "queue".to_owned())));
    let depth = store.depth("queue").await.expect("readable");
    assert_eq!(depth, Depth { ready: MOST_PROMOTED as u64, leased: 0 });
    // The last ten and the one that took b's place.
    assert_eq!(store.due_delayed(at(9_000)).await, Ok(Delayed { due: 11, next: None }));
    assert_eq!(next(&store, None, 2).await, "a:0 b:5000");
    ok(&store, promote(9_000)).await;
    assert_eq!(store.depth("queue").await.expect("readable").ready, many + 1);
    assert_eq!(ok(&store, promote(9_000)).await.readied, []);
}

pub(super) async fn every_holder_is_listed_however_many_messages_another_holds(store: AnyStore, _: AnyRuntime) {
    let (greedy, modest) = (registered(&store, 1).await, registered(&store, 2).await);
    put(&store, tenant().as_str(), (1..=40).map(|number| message(number, "queue"))).await;
    put(&store, tenant().as_str(), [message(41, "other")]).await;
    for number in 1..=39 {
        delivered(&store, number, greedy).await;
    }
    let last = delivered(&store, 40, modest).await;
    delivered(&store, 41, modest).await;
    let leased = store.leased("queue", 3).await.expect("readable");
    let held: Vec<(Delivery, _)> = leased.iter().map(|found| (found.delivery, found.holder.id)).collect();
    let greedy_s = |number| {
        let delivery = Delivery { message_id: message_id(number), owner: greedy.id, number: 1 };
        (delivery, greedy.id)
    };
    assert_eq!(held, [greedy_s(1), greedy_s(2), greedy_s(3), (last, modest.id)]);
    assert!(leased.iter().all(|found| found.message.queue == "queue" && found.holder.host == "ship"));
}

pub(super) async fn depth_counts_what_is_ready_and_what_is_leased(store: AnyStore, _: AnyRuntime) {
    let owner = registered(&store, 1).await;
    assert_eq!(store.depth("queue").await, Ok(Depth { ready: 0, leased: 0 }));
    put(&store, tenant().as_str(), (1..=5).map(|number| message(number, "queue"))).await;
    put(&store, "other", [message(1, "queue"), delayed(2, 1)]).await;
    delivered(&store, 1, owner).await;
    delivered(&store, 2, owner).await;
    assert_eq!(store.depth("queue").await, Ok(Depth { ready: 4, leased: 2 }));
    assert_eq!(store.depth("elsewhere").await, Ok(Depth { ready: 0, leased: 0 }));
}

pub(super) async fn depth_is_not_counted_beyond_what_is_said(store: AnyStore, _: AnyRuntime) {
    let at_ship = |number| message(number, "queue@ship");
    put(&store, tenant().as_str(), (0..MOST_COUNTED - 1).map(at_ship)).await;
    assert_eq!(store.depth("queue").await.expect("readable").ready, MOST_COUNTED - 1);
    put(&store, tenant().as_str(), (MOST_COUNTED..MOST_COUNTED + 50).map(|number| message(number, "queue"))).await;
    assert_eq!(store.depth("queue").await.expect("readable").ready, MOST_COUNTED);
    assert_eq!(store.depth("queue@ship").await.expect("readable").ready, MOST_COUNTED - 1);
}

pub(super) async fn dead_letters_come_in_pages_the_newest_first(store: AnyStore, _: AnyRuntime) {
    let owner = registered(&store, 1).await;
    put(&store, tenant().as_str(), (1..=5).map(|number| message(number, "queue"))).await;
    for number in [2, 5, 1, 4] {
        let delivery = delivered(&store, number, owner).await;
        ok(&store, delivering(&tenant(), [DeliveryChange::Dead { delivery, reason: "no".into() }])).await;
    }
    let mut before: Option<MessageId> = None;
    for expected in [vec![5, 4], vec![2, 1], vec![]] {
        let page = store.dead_letters(&tenant(), before, 2).await.expect("readable");
        let found: Vec<MessageId> = page.iter().map(|message| message.message_id).collect();
        assert_eq!(found, expected.into_iter().map(message_id).collect::<Vec<_>>());
        before = found.last().copied().or(before);
    }
}

async fn is_woken(subscription: &mut Subscription) -> bool {
    let mut waiting = pin!(subscription.changed(Duration::from_secs(3_600)));
    poll_fn(|context| Poll::Ready(waiting.as_mut().poll(context).is_ready())).await
}

pub(super) async fn what_a_queue_holds_about_a_stream_is_found_whatever_its_standing(store: AnyStore, _: AnyRuntime) {
    let owner = registered(&store, 1).await;
    let about = |number, id: &str| NewMessage { subject: Some(stream(id)), ..message(number, "queue") };
    let of_none = NewMessage { subject: None, ..message(6, "queue") };
    let later = NewMessage { not_before: Some(at(5)), ..about(2, "it") };
    let mine = [about(4, "it"), about(3, "it"), later, about(1, "it"), about(5, "else"), of_none];
    put(&store, tenant().as_str(), mine).await;
    put(&store, tenant().as_str(), [NewMessage { queue: "other".to_owned(), ..about(7, "it") }]).await;
    put(&store, "other", [about(1, "it")]).await;
    delivered(&store, 3, owner).await;
    let delivery = delivered(&store, 4, owner).await;
    ok(&store, delivering(&tenant(), [DeliveryChange::Dead { delivery, reason: "no".into() }])).await;
    let found = store.about(&tenant(), "queue", &stream("it")).await.expect("readable");
    let standing = |message: &StoredMessage| match message.standing {
        Standing::Ready => "ready",
        Standing::Delayed { .. } => "delayed",
        Standing::Leased { .. } => "leased",
        Standing::Dead { .. } => "dead",
    };
    let found: Vec<_> = found.iter().map(|message| (message.message_id, standing(message))).collect();
    let expected = [(4, "dead"), (3, "leased"), (2, "delayed"), (1, "ready")];
    assert_eq!(found, expected.map(|(number, standing)| (message_id(number), standing)));
    assert_eq!(store.about(&tenant(), "queue", &stream("nothing")).await, Ok(Vec::new()));
}

pub(super) async fn a_message_that_becomes_ready_wakes_who_waits_for_its_queue(store: AnyStore, _: AnyRuntime) {
    let owner = registered(&store, 1).await;
    let topic = |queue: &str| Topic::Queue { queue: queue.to_owned() };
    let mut here = store.notifier().subscribe(topic("queue"));
    let mut elsewhere = store.notifier().subscribe(topic("other"));
    put(&store, tenant().as_str(), [message(1, "queue")]).await;
    assert!(is_woken(&mut here).await);
    let delivery = delivered(&store, 1, owner).await;
    ok(&store, delivering(&tenant(), [DeliveryChange::Nack { delivery, not_before: Some(at(5)) }])).await;
    let mut promote = commit();
    promote.promote = Some(at(5));
    ok(&store, promote).await;
    assert!(is_woken(&mut here).await);
    assert!(!is_woken(&mut elsewhere).await);
}
