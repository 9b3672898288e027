//! One message, one consumer: what a delivery allows, and that a stale one allows nothing.

use std::time::Duration;

use windlass_domain::{Instant, Tenant, Wall};

use crate::commit::Commit;
use crate::conformance::fixture::{
    AnyRuntime, AnyStore, NOW, commit, delivered, delivering, event, leasing, message, message_id, ok, owner_id,
    refused, registered, stream, tenant, texts,
};
use crate::delivery::{Delivery, DeliveryChange, Takeover};
use crate::error::Error;
use crate::lease::Epoch;
use crate::owner::{Abandoned, Judgement, Observer, Owner, beat, retire};
use crate::record::Standing;

const LATER: Wall = Wall::from_millis(NOW.as_millis() + 5_000);

async fn put(store: &AnyStore, numbers: impl IntoIterator<Item = u64>) {
    let mut commit = commit();
    commit.messages = numbers.into_iter().map(|number| message(number, "queue")).collect();
    ok(store, commit).await;
}

fn change(change: DeliveryChange) -> Commit {
    delivering(&tenant(), [change])
}

/// A change together with something that shows whether it was committed.
fn with_effect(made: DeliveryChange) -> Commit {
    let mut commit = change(made);
    commit.events.push(event(&stream("effect"), "x"));
    commit
}

async fn effects(store: &AnyStore) -> usize {
    texts(store, &stream("effect")).await.len()
}

async fn standing(store: &AnyStore, number: u64) -> Option<Standing> {
    store.message(&tenant(), message_id(number)).await.expect("readable").map(|message| message.standing)
}

async fn is_next(store: &AnyStore, number: u64) -> bool {
    let next = store.next("queue", None, NOW, 99).await.expect("readable");
    next.ready.iter().any(|message| message.message_id == message_id(number))
}

/// What an observer says who has seen the owner silent for its whole time to live.
async fn judged_gone(store: &AnyStore, owner: Owner) -> Abandoned {
    let row = store.owner(owner.id).await.expect("readable").expect("registered");
    let mut observer = Observer::new(Duration::from_secs(9));
    for look in 0..3 {
        observer.look(&row, Instant::since_start(Duration::from_secs(look * 3)));
    }
    match observer.look(&row, Instant::since_start(Duration::from_secs(9))) {
        Judgement::Gone(gone) => gone,
        Judgement::Alive => panic!("it was silent"),
    }
}

pub(super) async fn a_leased_message_is_one_consumer_s(store: AnyStore, _: AnyRuntime) {
    let (first, other) = (registered(&store, 1).await, registered(&store, 2).await);
    put(&store, [1, 2]).await;
    let delivery = delivered(&store, 1, first).await;
    assert_eq!(delivery, Delivery { message_id: message_id(1), owner: first.id, number: 1 });
    assert_eq!(standing(&store, 1).await, Some(Standing::Leased { owner: first.id, at: NOW }));
    let not_ready = Error::NotReady { message: message_id(1) };
    assert_eq!(refused(&store, leasing(1, other, None)).await, not_ready);
    assert_eq!(refused(&store, leasing(1, first, None)).await, not_ready);
    assert_eq!(refused(&store, leasing(9, first, None)).await, Error::NotReady { message: message_id(9) });
    assert!(!is_next(&store, 1).await && is_next(&store, 2).await);
    // A mailbox's reader neither sees it nor takes it away.
    let mailbox = store.mailbox(&tenant(), "queue", NOW, 9).await.expect("readable");
    assert_eq!(mailbox.iter().map(|message| message.message_id).collect::<Vec<_>>(), [message_id(2)]);
    let mut unfenced = commit();
    unfenced.acks.push(message_id(1));
    assert!(matches!(refused(&store, unfenced).await, Error::Gone { .. }));
}

pub(super) async fn only_the_present_delivery_acks_nacks_or_buries(store: AnyStore, _: AnyRuntime) {
    let (first, other) = (registered(&store, 1).await, registered(&store, 2).await);
    put(&store, [1]).await;
    let old = delivered(&store, 1, first).await;
    ok(&store, change(DeliveryChange::Nack { delivery: old, not_before: None })).await;
    let present = delivered(&store, 1, other).await;
    assert_eq!(present.number, 2);
    let stale = [
        old,
        Delivery { number: 2, ..old },
        Delivery { number: 1, ..present },
        Delivery { number: 3, ..present },
        Delivery { message_id: message_id(2), ..present },
    ];
    for delivery in stale {
        for made in [
            DeliveryChange::Ack(delivery),
            DeliveryChange::Nack { delivery, not_before: None },
            DeliveryChange::Nack { delivery, not_before: Some(LATER) },
            DeliveryChange::Dead { delivery, reason: "never".into() },
        ] {
            assert_eq!(refused(&store, with_effect(made)).await, Error::StaleDelivery { delivery });
        }
    }
    assert_eq!(effects(&store).await, 0);
    ok(&store, with_effect(DeliveryChange::Ack(present))).await;
    assert_eq!((effects(&store).await, standing(&store, 1).await), (1, None));
}

pub(super) async fn an_acked_message_is_gone_for_good(store: AnyStore, _: AnyRuntime) {
    let owner = registered(&store, 1).await;
    put(&store, [1]).await;
    let delivery = delivered(&store, 1, owner).await;
    ok(&store, change(DeliveryChange::Ack(delivery))).await;
    let again = refused(&store, with_effect(DeliveryChange::Ack(delivery))).await;
    assert_eq!(again, Error::StaleDelivery { delivery });
    let mut same = commit();
    same.messages.push(message(1, "queue"));
    assert!(matches!(refused(&store, same).await, Error::Duplicate { .. }));
    assert_eq!(effects(&store).await, 0);
}

pub(super) async fn a_message_given_back_is_ready_at_once_or_when_it_is_promoted(store: AnyStore, _: AnyRuntime) {
    let owner = registered(&store, 1).await;
    put(&store, [1]).await;
    let delivery = delivered(&store, 1, owner).await;
    let given_back = ok(&store, change(DeliveryChange::Nack { delivery, not_before: None })).await;
    assert_eq!(given_back.readied, [(tenant(), "queue".to_owned())]);
    assert!(is_next(&store, 1).await);
    let delivery = delivered(&store, 1, owner).await;
    ok(&store, change(DeliveryChange::Nack { delivery, not_before: Some(LATER) })).await;
    assert_eq!(standing(&store, 1).await, Some(Standing::Delayed { not_before: LATER }));
    assert_eq!(refused(&store, leasing(1, owner, None)).await, Error::NotReady { message: message_id(1) });
    for (now, expected) in [(LATER.as_millis() - 1, false), (LATER.as_millis(), true)] {
        let now = Wall::from_millis(now);
        assert_eq!(store.next("queue", None, now, 9).await.expect("readable").due, expected);
        assert_eq!(store.due_delayed(now).await.expect("readable").due, usize::from(expected));
        let mut promote = commit();
        promote.promote = Some(now);
        let readied = ok(&store, promote).await.readied;
        assert_eq!((readied.len(), is_next(&store, 1).await), (usize::from(expected), expected));
    }
    assert_eq!(delivered(&store, 1, owner).await.number, 3);
}

pub(super) async fn only_a_delayed_message_is_hastened(store: AnyStore, _: AnyRuntime) {
    let owner = registered(&store, 1).await;
    put(&store, [1]).await;
    let hasten = || with_effect(DeliveryChange::Hasten(message_id(1)));
    let not_ready = Error::NotReady { message: message_id(1) };
    assert_eq!(refused(&store, hasten()).await, not_ready);
    let delivery = delivered(&store, 1, owner).await;
    assert_eq!(refused(&store, hasten()).await, not_ready);
    ok(&store, change(DeliveryChange::Nack { delivery, not_before: Some(LATER) })).await;
    let hastened = ok(&store, hasten()).await;
    assert_eq!(hastened.readied, [(tenant(), "queue".to_owned())]);
    assert_eq!(standing(&store, 1).await, Some(Standing::Ready));
    let delivery = delivered(&store, 1, owner).await;
    ok(&store, change(DeliveryChange::Dead { delivery, reason: "no".into() })).await;
    assert_eq!(refused(&store, hasten()).await, not_ready);
    assert_eq!(effects(&store).await, 1);
}

pub(super) async fn a_dead_letter_waits_for_a_person(store: AnyStore, _: AnyRuntime) {
    let owner = registered(&store, 1).await;
    put(&store, [1, 2]).await;
    for number in [1, 2] {
        let living = DeliveryChange::Retry(message_id(number));
        assert!(matches!(refused(&store, with_effect(living)).await, Error::Gone { .. }));
        let living = DeliveryChange::Drop(message_id(number));
        assert!(matches!(refused(&store, with_effect(living)).await, Error::Gone { .. }));
        let delivery = delivered(&store, number, owner).await;
        ok(&store, change(DeliveryChange::Dead { delivery, reason: "it broke".into() })).await;
    }
    assert_eq!(standing(&store, 1).await, Some(Standing::Dead { reason: "it broke".into(), at: NOW }));
    assert!(!is_next(&store, 1).await);
    assert_eq!(refused(&store, leasing(1, owner, None)).await, Error::NotReady { message: message_id(1) });
    ok(&store, change(DeliveryChange::Retry(message_id(1)))).await;
    assert!(is_next(&store, 1).await);
    let retried = store.message(&tenant(), message_id(1)).await.expect("readable").expect("it is there");
    assert_eq!((retried.deliveries, retried.attempts()), (1, 0));
    ok(&store, change(DeliveryChange::Drop(message_id(2)))).await;
    assert_eq!(standing(&store, 2).await, None);
    assert!(matches!(refused(&store, with_effect(DeliveryChange::Drop(message_id(2)))).await, Error::Gone { .. }));
    let mut same = commit();
    same.messages.push(message(2, "queue"));
    assert!(matches!(refused(&store, same).await, Error::Duplicate { .. }));
    assert_eq!(effects(&store).await, 0);
}

pub(super) async fn a_retried_message_does_not_repeat_a_delivery(store: AnyStore, _: AnyRuntime) {
    let owner = registered(&store, 1).await;
    put(&store, [1]).await;
    let old = delivered(&store, 1, owner).await;
    ok(&store, change(DeliveryChange::Dead { delivery: old, reason: "no".into() })).await;
    ok(&store, change(DeliveryChange::Retry(message_id(1)))).await;
    let new = delivered(&store, 1, owner).await;
    assert_eq!(refused(&store, with_effect(DeliveryChange::Ack(old))).await, Error::StaleDelivery { delivery: old });
    ok(&store, with_effect(DeliveryChange::Ack(new))).await;
}

pub(super) async fn a_message_is_taken_over_from_the_dead_and_never_from_the_living(store: AnyStore, _: AnyRuntime) {
    let (first, other) = (registered(&store, 1).await, registered(&store, 2).await);
    put(&store, [1]).await;
    let old = delivered(&store, 1, first).await;
    let holder = judged_gone(&store, first).await;
    // Its heart beats after all, between the judgement and the commit that acts on it.
    beat(&*store, first, NOW).await.expect("it lives");
    let not_ready = Error::NotReady { message: message_id(1) };
    let from = Takeover { holder, number: old.number };
    assert_eq!(refused(&store, leasing(1, other, Some(from))).await, not_ready);
    let holder = judged_gone(&store, first).await;
    for wrong in [
        Takeover { holder, number: old.number + 1 },
        Takeover { holder: judged_gone(&store, other).await, number: old.number },
    ] {
        assert_eq!(refused(&store, leasing(1, other, Some(wrong))).await, not_ready);
    }
    let from = Takeover { holder, number: old.number };
    let taken = ok(&store, leasing(1, other, Some(from))).await.deliveries;
    assert_eq!(taken, [Delivery { message_id: message_id(1), owner: other.id, number: 2 }]);
    assert_eq!(refused(&store, leasing(1, other, Some(from))).await, not_ready);
    // The first wakes up. It has lost its message, not its life.
    beat(&*store, first, NOW).await.expect("it is still registered");
    assert_eq!(refused(&store, with_effect(DeliveryChange::Ack(old))).await, Error::StaleDelivery { delivery: old });
    assert_eq!(effects(&store).await, 0);
    ok(&store, with_effect(DeliveryChange::Ack(taken[0]))).await;
}

pub(super) async fn an_owner_that_ends_or_begins_anew_holds_no_messages(store: AnyStore, _: AnyRuntime) {
    let (first, again, other) = (registered(&store, 1).await, registered(&store, 2).await, registered(&store, 3).await);
    put(&store, [1, 2, 3]).await;
    let lost = [delivered(&store, 1, first).await, delivered(&store, 2, again).await];
    let kept = delivered(&store, 3, other).await;
    retire(&*store, first, NOW).await.expect("it is registered");
    let anew = registered(&store, 2).await;
    assert!(is_next(&store, 1).await && is_next(&store, 2).await && !is_next(&store, 3).await);
    for delivery in lost {
        let stale = refused(&store, with_effect(DeliveryChange::Ack(delivery))).await;
        assert_eq!(stale, Error::StaleDelivery { delivery });
    }
    // The same process, the same message, and still not the same delivery.
    delivered(&store, 2, anew).await;
    let stale = refused(&store, with_effect(DeliveryChange::Ack(lost[1]))).await;
    assert_eq!(stale, Error::StaleDelivery { delivery: lost[1] });
    ok(&store, with_effect(DeliveryChange::Ack(kept))).await;
    assert_eq!(effects(&store).await, 1);
}

pub(super) async fn only_a_registered_owner_is_delivered_to(store: AnyStore, _: AnyRuntime) {
    put(&store, [1]).await;
    let nobody = Owner { id: owner_id(9), epoch: Epoch(1) };
    assert!(matches!(refused(&store, leasing(1, nobody, None)).await, Error::Gone { .. }));
    let retired = registered(&store, 1).await;
    retire(&*store, retired, NOW).await.expect("it is registered");
    assert!(matches!(refused(&store, leasing(1, retired, None)).await, Error::Gone { .. }));
    assert!(is_next(&store, 1).await);
}

pub(super) async fn another_tenant_s_messages_cannot_be_touched(store: AnyStore, _: AnyRuntime) {
    let owner = registered(&store, 1).await;
    put(&store, [1, 2, 3, 4]).await;
    let (leased, dead) = (delivered(&store, 1, owner).await, delivered(&store, 2, owner).await);
    ok(&store, change(DeliveryChange::Dead { delivery: dead, reason: "no".into() })).await;
    let delayed = delivered(&store, 4, owner).await;
    ok(&store, change(DeliveryChange::Nack { delivery: delayed, not_before: Some(LATER) })).await;
    let other = Tenant::new("other");
    for made in [
        DeliveryChange::Lease { message: message_id(3), owner: owner.id, from: None },
        DeliveryChange::Hasten(message_id(4)),
        DeliveryChange::Ack(leased),
        DeliveryChange::Nack { delivery: leased, not_before: None },
        DeliveryChange::Dead { delivery: leased, reason: "never".into() },
        DeliveryChange::Retry(message_id(2)),
        DeliveryChange::Drop(message_id(2)),
    ] {
        refused(&store, delivering(&other, [made])).await;
    }
    assert_eq!(store.message(&other, message_id(1)).await, Ok(None));
    assert_eq!(store.dead_letters(&other, None, 9).await, Ok(Vec::new()));
    assert_eq!(store.dead_letters(&tenant(), None, 9).await.expect("readable").len(), 1);
    ok(&store, change(DeliveryChange::Ack(leased))).await;
}

pub(super) async fn a_refused_delivery_takes_the_whole_commit_with_it(store: AnyStore, _: AnyRuntime) {
    let owner = registered(&store, 1).await;
    put(&store, [1, 2]).await;
    let delivery = delivered(&store, 1, owner).await;
    let mut both = with_effect(DeliveryChange::Ack(delivery));
    both.messages.push(message(3, "queue"));
    both.deliveries.push(DeliveryChange::Ack(Delivery { message_id: message_id(2), ..delivery }));
    assert!(matches!(refused(&store, both).await, Error::StaleDelivery { .. }));
    assert!(matches!(standing(&store, 1).await, Some(Standing::Leased { .. })));
    assert_eq!((effects(&store).await, standing(&store, 3).await), (0, None));
    // In order: what is enqueued can be leased and acked by the same commit.
    let mut all = with_effect(DeliveryChange::Ack(delivery));
    all.messages.push(message(3, "queue"));
    let own = Delivery { message_id: message_id(3), owner: owner.id, number: 1 };
    all.deliveries.push(DeliveryChange::Lease { message: message_id(3), owner: owner.id, from: None });
    all.deliveries.push(DeliveryChange::Ack(own));
    assert_eq!(ok(&store, all).await.deliveries, [own]);
}
