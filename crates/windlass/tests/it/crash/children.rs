//! Killed at every named point while two agents work side by side: each goes on with its own journal, and nothing is repeated.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use windlass_engine::TripwirePoint;

use super::kills::Kill;
use super::scenario::CHILDREN;
use super::trial::{clean, tried};
use super::verdict::family_complaints;
use super::workers::work_through;

#[test]
fn agents_side_by_side_go_on_after_a_death_at_any_named_point() {
    let clean = clean(&CHILDREN);
    let (deaths, uncertain, failures) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    work_through(TripwirePoint::ALL.map(|point| Kill::At { point, n: 1 }), |kill| {
        let Kill::At { point, n } = kill else { return None };
        let kills = [kill, Kill::At { point: TripwirePoint::AfterCommit, n: 1 + n % 5 }];
        let kills = if n.is_multiple_of(3) { &kills[..] } else { &kills[..1] };
        let trial = tried(&CHILDREN, &clean, kills, family_complaints);
        deaths.fetch_add(trial.hits, Ordering::SeqCst);
        uncertain.fetch_add(trial.uncertain, Ordering::SeqCst);
        if !trial.complaints.is_empty() {
            failures.lock().expect("kept").push(format!("{kill}:\n  {}", trial.complaints.join("\n  ")));
        }
        (trial.hits > 0).then_some(Kill::At { point, n: n + 1 })
    });
    let failures = failures.into_inner().expect("kept");
    println!("{deaths:?} kills, {uncertain:?} while a command ran");
    assert!(failures.is_empty(), "{} trials failed:\n{}", failures.len(), failures.join("\n"));
    assert!(deaths.into_inner() > 50 && uncertain.into_inner() > 0, "too few kills met it alive");
}
