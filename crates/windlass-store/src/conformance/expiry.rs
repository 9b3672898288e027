//! When a message changes hands because its owner fell silent, on clocks that the test moves: a consumer looks every 900 ms,
//! as workers do, and a lease has expired when the owner's beat was seen unchanged for the time to live.

use std::time::Duration;

use crate::conformance::fixture::{AnyRuntime, AnyStore, NOW};
use crate::conformance::scene::{Scene, TIME_TO_LIVE, effect, request, witness};
use crate::owner::beat;
use crate::queue::{Leased, TakenOver};

/// All below is counted in these.
const TICK: Duration = Duration::from_millis(50);
const LOOK_EVERY: u32 = 18;
const BEAT_EVERY: u32 = 40;

/// How a message was lost.
struct Loss {
    /// From the first look that met the last beat to the one that took the message.
    silent_for: Duration,
    leased: Leased,
}

/// Lets time pass. The owner of a message beats every two seconds until tick `beats_until`; another looks every 900 ms,
/// beginning at tick `looks_from`. `None`: in so many ticks it took nothing.
async fn watch(scene: &Scene, store: &AnyStore, beats_until: u32, looks_from: u32, ticks: u32) -> Option<Loss> {
    let ((mut holder, owner), (mut other, _)) = (scene.consumer(1).await, scene.consumer(2).await);
    scene.lease(&mut holder).await;
    let (mut witness, mut first_look) = (witness(), None);
    for tick in 0..ticks {
        if tick % BEAT_EVERY == 0 && tick <= beats_until {
            beat(&**store, owner, NOW).await.expect("it lives");
            first_look = None;
        }
        if tick >= looks_from && (tick - looks_from).is_multiple_of(LOOK_EVERY) {
            let first = *first_look.get_or_insert(tick);
            let taken = scene.desk().take_over(&mut other, &mut witness).await.expect("no trouble");
            if let TakenOver::Message(leased) = taken {
                return Some(Loss { silent_for: TICK * (tick - first), leased: *leased });
            }
        }
        scene.clock.pass(TICK);
    }
    None
}

pub(super) async fn an_expired_lease_is_taken_over_within_a_second_and_never_before(
    store: AnyStore,
    runtime: AnyRuntime,
) {
    let scene = Scene::new(store.clone(), runtime);
    for (number, (beats_until, looks_from)) in (1..).zip([(0, 0), (0, 17), (40, 3), (200, 5), (377, 11)]) {
        scene.put([request(number)]).await;
        let lost = watch(&scene, &store, beats_until, looks_from, 1_000).await.expect("it fell silent");
        assert!(lost.silent_for >= TIME_TO_LIVE, "after {:?}", lost.silent_for);
        assert!(lost.silent_for <= TIME_TO_LIVE + Duration::from_secs(1), "after {:?}", lost.silent_for);
        scene.desk().ack(&lost.leased, effect(&lost.leased)).await.expect("it is the other's");
    }
}

pub(super) async fn a_living_owner_is_never_robbed_however_long_it_takes(store: AnyStore, runtime: AnyRuntime) {
    let scene = Scene::new(store.clone(), runtime);
    scene.put([request(1)]).await;
    let twenty_minutes = 20 * 60 * 20;
    assert!(watch(&scene, &store, twenty_minutes, 7, twenty_minutes).await.is_none());
}
