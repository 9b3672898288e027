//! Leases, their epochs, and who may lose one.

use std::time::Duration;

use windlass_domain::{Instant, Seq};

use crate::commit::Commit;
use crate::conformance::fixture::{
    AnyRuntime, AnyStore, NOW, at_epoch, event, lease, ok, owner_id, refused, registered, stream, taken, taking, tenant,
};
use crate::error::Error;
use crate::lease::{Claim, Epoch, Fence, LeaseChange, Taking, release, take};
use crate::owner::{Judgement, Observer, Owner, Witness, beat, retire};

fn under(fence: &Fence, text: &str) -> Commit {
    let mut commit = Commit::fenced(tenant(), NOW, fence.clone());
    commit.events.push(event(&stream("work"), text));
    commit
}

async fn written(store: &AnyStore) -> u64 {
    store.head(&tenant(), &stream("work")).await.expect("readable").0
}

fn second(number: u64) -> Instant {
    Instant::since_start(Duration::from_secs(number))
}

fn witness() -> Witness {
    Witness::by_heartbeat(Observer::new(Duration::from_secs(9)))
}

async fn try_take(store: &AnyStore, witness: &mut Witness, owner: Owner, now: Instant) -> Taking {
    take(&**store, witness, &tenant(), &lease("l"), owner.id, now, NOW).await.expect("no trouble")
}

pub(super) async fn a_lease_is_held_by_one_owner_at_a_time(store: AnyStore, _: AnyRuntime) {
    let (first, other) = (registered(&store, 1).await, registered(&store, 2).await);
    let fence = taken(&store, &lease("l"), first).await;
    assert_eq!(fence.epoch, Epoch(1));
    ok(&store, under(&fence, "mine")).await;
    let held = Error::LeaseHeld { lease: lease("l"), owner: first.id, epoch: Epoch(1) };
    assert_eq!(refused(&store, taking(&lease("l"), other, Claim::Unheld)).await, held);
    assert_eq!(refused(&store, taking(&lease("l"), first, Claim::Unheld)).await, held);
    let row = store.lease(&tenant(), &lease("l")).await.expect("readable").expect("it was taken");
    assert_eq!((row.epoch, row.holder.map(|holder| holder.id)), (Epoch(1), Some(first.id)));
    taken(&store, &lease("another"), other).await;
}

pub(super) async fn a_stale_epoch_commits_nothing(store: AnyStore, _: AnyRuntime) {
    let (first, other) = (registered(&store, 1).await, registered(&store, 2).await);
    let old = taken(&store, &lease("l"), first).await;
    release(&*store, &tenant(), old.clone(), NOW).await.expect("it is held");
    let new = taken(&store, &lease("l"), other).await;
    let not_held = [
        old.clone(),
        at_epoch(&old, 2),
        at_epoch(&new, 1),
        at_epoch(&new, 3),
        Fence { lease: lease("never taken"), ..new.clone() },
    ];
    for fence in not_held {
        let refusal = refused(&store, under(&fence, "never")).await;
        assert_eq!(refusal, Error::Fenced { lease: fence.lease, epoch: fence.epoch });
    }
    assert_eq!(written(&store).await, 0);
    ok(&store, under(&new, "mine")).await;
}

pub(super) async fn a_released_lease_is_free_and_its_epoch_goes_on(store: AnyStore, _: AnyRuntime) {
    let owner = registered(&store, 1).await;
    for epoch in 1..=3 {
        let fence = taken(&store, &lease("l"), owner).await;
        assert_eq!(fence.epoch, Epoch(epoch));
        release(&*store, &tenant(), fence.clone(), NOW).await.expect("it is held");
        assert!(matches!(refused(&store, under(&fence, "never")).await, Error::Fenced { .. }));
        let again = release(&*store, &tenant(), fence, NOW).await;
        assert!(matches!(again, Err(Error::Fenced { .. })));
    }
    // A commit may release what it is fenced by, and take something else.
    let fence = taken(&store, &lease("l"), owner).await;
    let mut last = under(&fence, "last words");
    last.leases.push(LeaseChange::Release(fence));
    last.leases.push(LeaseChange::Take { lease: lease("m"), owner: owner.id, claim: Claim::Unheld });
    assert_eq!(ok(&store, last).await.leases, [(lease("m"), Epoch(1))]);
}

pub(super) async fn an_owner_whose_heart_beats_keeps_its_lease(store: AnyStore, _: AnyRuntime) {
    let (first, other) = (registered(&store, 1).await, registered(&store, 2).await);
    let fence = taken(&store, &lease("l"), first).await;
    let mut witness = witness();
    for look in 0..20 {
        beat(&*store, first, NOW).await.expect("it lives");
        let taking = try_take(&store, &mut witness, other, second(look * 3)).await;
        assert!(matches!(taking, Taking::Held(holder) if holder.id == first.id));
    }
    ok(&store, under(&fence, "still mine")).await;
}

pub(super) async fn an_owner_seen_silent_loses_its_lease_and_what_it_then_commits(store: AnyStore, _: AnyRuntime) {
    let (first, other) = (registered(&store, 1).await, registered(&store, 2).await);
    let old = taken(&store, &lease("l"), first).await;
    beat(&*store, first, NOW).await.expect("it lives");
    let mut witness = witness();
    for look in 0..3 {
        assert!(matches!(try_take(&store, &mut witness, other, second(look * 3)).await, Taking::Held(_)));
    }
    let Taking::Taken(new) = try_take(&store, &mut witness, other, second(9)).await else { panic!("it was silent") };
    assert_eq!((new.owner, new.epoch), (other.id, Epoch(2)));
    assert!(matches!(refused(&store, under(&old, "never")).await, Error::Fenced { .. }));
    ok(&store, under(&new, "mine")).await;
    // It lost its lease, not its life.
    beat(&*store, first, NOW).await.expect("it is still registered");
    assert!(matches!(refused(&store, under(&old, "never")).await, Error::Fenced { .. }));
    assert_eq!(written(&store).await, 1);
}

pub(super) async fn an_owner_that_beats_at_the_last_moment_keeps_its_lease(store: AnyStore, _: AnyRuntime) {
    let (first, other) = (registered(&store, 1).await, registered(&store, 2).await);
    let fence = taken(&store, &lease("l"), first).await;
    let mut observer = Observer::new(Duration::from_secs(9));
    let row = store.owner(first.id).await.expect("readable").expect("registered");
    let mut judgement = Judgement::Alive;
    for look in 0..4 {
        judgement = observer.look(&row, second(look * 3));
    }
    let Judgement::Gone(gone) = judgement else { panic!("it was silent") };
    // Between the judgement and the commit that acts on it:
    beat(&*store, first, NOW).await.expect("it lives");
    let claim = Claim::Abandoned { epoch: fence.epoch, holder: gone };
    assert!(matches!(refused(&store, taking(&lease("l"), other, claim)).await, Error::LeaseHeld { .. }));
    ok(&store, under(&fence, "still mine")).await;
}

pub(super) async fn retiring_frees_every_lease(store: AnyStore, _: AnyRuntime) {
    let (first, other) = (registered(&store, 1).await, registered(&store, 2).await);
    let fence = taken(&store, &lease("l"), first).await;
    taken(&store, &lease("m"), first).await;
    let others = taken(&store, &lease("n"), other).await;
    retire(&*store, first, NOW).await.expect("it is registered");
    retire(&*store, first, NOW).await.expect("twice is no error");
    assert!(matches!(refused(&store, under(&fence, "never")).await, Error::Fenced { .. }));
    assert_eq!(taken(&store, &lease("l"), other).await.epoch, Epoch(2));
    assert_eq!(taken(&store, &lease("m"), other).await.epoch, Epoch(2));
    ok(&store, under(&others, "untouched")).await;
    let late = beat(&*store, first, NOW).await;
    assert!(matches!(late, Err(Error::Gone { .. })));
    assert!(matches!(refused(&store, taking(&lease("o"), first, Claim::Unheld)).await, Error::Gone { .. }));
}

pub(super) async fn registering_again_starts_anew(store: AnyStore, _: AnyRuntime) {
    let before = registered(&store, 1).await;
    let fence = taken(&store, &lease("l"), before).await;
    beat(&*store, before, NOW).await.expect("it lives");
    let after = registered(&store, 1).await;
    assert_eq!((before.epoch, after.epoch), (Epoch(1), Epoch(2)));
    assert!(matches!(refused(&store, under(&fence, "never")).await, Error::Fenced { .. }));
    assert!(matches!(beat(&*store, before, NOW).await, Err(Error::Gone { .. })));
    retire(&*store, before, NOW).await.expect("an incarnation that is gone");
    let row = store.owner(owner_id(1)).await.expect("readable").expect("registered");
    assert_eq!((row.beat, row.retired, row.host.as_str(), row.pid), (0, false, "ship", 7));
    beat(&*store, after, NOW).await.expect("it lives");
    assert_eq!(taken(&store, &lease("l"), after).await.epoch, Epoch(2));
}

pub(super) async fn only_a_registered_owner_takes_a_lease(store: AnyStore, _: AnyRuntime) {
    let nobody = Owner { id: owner_id(9), epoch: Epoch(1) };
    let refusal = refused(&store, taking(&lease("l"), nobody, Claim::Unheld)).await;
    assert!(matches!(refusal, Error::Gone { .. }), "{refusal}");
    assert_eq!(store.lease(&tenant(), &lease("l")).await, Ok(None));
    assert_eq!(store.head(&tenant(), &stream("work")).await, Ok(Seq(0)));
}
