//! Many at once. Each of these is run by as many tasks as there are contenders, and what is true at the end must be true
//! whatever the order was.

use std::collections::BTreeSet;

use tokio::sync::mpsc;
use windlass_domain::Seq;

use crate::commit::{Commit, Committed, Nonce};
use crate::conformance::fixture::{
    AnyRuntime, AnyStore, append, commit, event, lease, registered, stream, taking, tenant, texts,
};
use crate::error::Error;
use crate::lease::{Claim, Epoch};

const CONTENDERS: u64 = 64;

/// Commits one commit for each contender, all at once, and gathers what became of them.
async fn contend(
    store: &AnyStore,
    runtime: &AnyRuntime,
    make: impl Fn(u64) -> Commit,
) -> Vec<(u64, Result<Committed, Error>)> {
    let (tell, mut told) = mpsc::unbounded_channel();
    for contender in 0..CONTENDERS {
        let (store, tell, commit) = (store.clone(), tell.clone(), make(contender));
        runtime.spawn(Box::pin(async move {
            let outcome = store.commit(commit).await;
            tell.send((contender, outcome)).expect("somebody listens");
        }));
    }
    drop(tell);
    let mut outcomes = Vec::new();
    while let Some(outcome) = told.recv().await {
        outcomes.push(outcome);
    }
    outcomes
}

fn winners(outcomes: &[(u64, Result<Committed, Error>)]) -> Vec<u64> {
    outcomes.iter().filter(|(_, outcome)| outcome.is_ok()).map(|(contender, _)| *contender).collect()
}

pub(super) async fn of_those_who_expect_the_same_exactly_one_succeeds(store: AnyStore, runtime: AnyRuntime) {
    let a = stream("a");
    for round in 0..10 {
        let outcomes = contend(&store, &runtime, |contender| append(&a, round, &[&contender.to_string()])).await;
        let winners = winners(&outcomes);
        assert_eq!(winners.len(), 1, "round {round}");
        let refusal = Error::Conflict { stream: a.clone(), expected: Seq(round), found: Seq(round + 1) };
        for (_, outcome) in outcomes.into_iter().filter(|(contender, _)| *contender != winners[0]) {
            assert_eq!(outcome, Err(refusal.clone()));
        }
        assert_eq!(texts(&store, &a).await.last(), Some(&winners[0].to_string()));
    }
}

pub(super) async fn concurrent_commits_lose_and_double_nothing(store: AnyStore, runtime: AnyRuntime) {
    let shared = stream("shared");
    let outcomes = contend(&store, &runtime, |contender| {
        let own = stream(&format!("own-{contender}"));
        let mut commit = append(&own, 0, &["mine"]);
        commit.events.push(event(&shared, &contender.to_string()));
        // A third of them are refused in the midst of the others.
        if contender % 3 == 0 {
            commit.expect.push((own, Seq(7)));
        }
        commit
    })
    .await;
    let expected: BTreeSet<u64> = (0..CONTENDERS).filter(|contender| contender % 3 != 0).collect();
    assert_eq!(winners(&outcomes).into_iter().collect::<BTreeSet<_>>(), expected);
    let written = texts(&store, &shared).await;
    let distinct: BTreeSet<u64> = written.iter().map(|text| text.parse().expect("a number")).collect();
    assert_eq!((written.len(), &distinct), (expected.len(), &expected));
    // The positions that were acknowledged are the positions that are there, without gaps.
    let events = store.events(&tenant(), crate::stream::Position(0), 1_000).await.expect("readable");
    let positions: Vec<u64> = events.iter().map(|event| event.position.0).collect();
    assert_eq!(positions, (1..=2 * expected.len() as u64).collect::<Vec<_>>());
    for (contender, outcome) in outcomes {
        let Ok(committed) = outcome else { continue };
        let at = committed.position.0 as usize;
        let pair = [&events[at - 2], &events[at - 1]];
        assert_eq!(pair[0].stream, stream(&format!("own-{contender}")));
        assert_eq!((&pair[1].stream, pair[1].data.as_str()), (&shared, format!("\"{contender}\"").as_str()));
    }
}

pub(super) async fn a_lease_raced_for_goes_to_one(store: AnyStore, runtime: AnyRuntime) {
    let mut owners = Vec::new();
    for number in 0..CONTENDERS {
        owners.push(registered(&store, number).await);
    }
    let outcomes =
        contend(&store, &runtime, |contender| taking(&lease("l"), owners[contender as usize], Claim::Unheld)).await;
    let winners = winners(&outcomes);
    assert_eq!(winners.len(), 1);
    let row = store.lease(&tenant(), &lease("l")).await.expect("readable").expect("taken");
    assert_eq!((row.epoch, row.holder.map(|holder| holder.id)), (Epoch(1), Some(owners[winners[0] as usize].id)));
}

pub(super) async fn a_nonce_raced_for_is_used_once(store: AnyStore, runtime: AnyRuntime) {
    let outcomes = contend(&store, &runtime, |contender| {
        let mut commit = commit();
        commit.nonces.push(Nonce("only once".into()));
        commit.events.push(event(&stream("used"), &contender.to_string()));
        commit
    })
    .await;
    let winners = winners(&outcomes);
    assert_eq!(winners.len(), 1);
    assert_eq!(texts(&store, &stream("used")).await, [winners[0].to_string()]);
}
