//! Killed at every named point, each time it is passed: that is before and after the commit of every journal record.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use windlass_engine::TripwirePoint;

use super::SCENARIOS;
use super::kills::Kill;
use super::trial::{clean, trial};
use super::workers::work_through;

#[derive(Debug, Clone, Copy)]
struct Job {
    scenario: usize,
    point: TripwirePoint,
    n: u32,
}

impl Job {
    /// Every third trial dies again while it recovers, each time somewhere else.
    fn kills(self) -> Vec<Kill> {
        let first = Kill::At { point: self.point, n: self.n };
        if !self.n.is_multiple_of(3) {
            return vec![first];
        }
        let places = TripwirePoint::ALL.len();
        let turn = usize::try_from(self.n / 3).expect("small") + self.scenario;
        vec![first, Kill::At { point: TripwirePoint::ALL[turn % places], n: 1 + self.n % 2 }]
    }
}

#[test]
fn a_run_killed_at_any_named_point_ends_as_if_nobody_had_killed_it() {
    let clean: Vec<_> = SCENARIOS.iter().map(clean).collect();
    let (deaths, uncertain) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let hits = Mutex::new(BTreeMap::<(&str, TripwirePoint), u32>::new());
    let failures = Mutex::new(Vec::new());
    let indices = 0..SCENARIOS.len();
    let jobs = indices.flat_map(|scenario| TripwirePoint::ALL.map(|point| Job { scenario, point, n: 1 }));
    work_through(jobs, |job| {
        let Job { scenario, point, n } = job;
        let name = SCENARIOS[scenario].name;
        let kills = job.kills();
        let tried = trial(&SCENARIOS[scenario], &clean[scenario], &kills);
        deaths.fetch_add(tried.hits, Ordering::SeqCst);
        uncertain.fetch_add(tried.uncertain, Ordering::SeqCst);
        if !tried.complaints.is_empty() {
            let kills: Vec<String> = kills.iter().map(ToString::to_string).collect();
            let told = format!("{name}, {}:\n  {}", kills.join(" then "), tried.complaints.join("\n  "));
            failures.lock().expect("kept").push(told);
        }
        if tried.hits == 0 {
            return None;
        }
        *hits.lock().expect("kept").entry((name, point)).or_default() += 1;
        Some(Job { n: n + 1, ..job })
    });
    let (hits, failures) = (hits.into_inner().expect("kept"), failures.into_inner().expect("kept"));
    println!("{deaths:?} kills, {uncertain:?} while a command ran: {hits:?}");
    assert!(failures.is_empty(), "{} trials failed:\n{}", failures.len(), failures.join("\n"));
    assert!(uncertain.into_inner() > 0, "no command was ever in flight: the trials prove nothing about effects");
    covers_everything(&hits);
}

/// A point that is never passed proves nothing.
fn covers_everything(hits: &BTreeMap<(&str, TripwirePoint), u32>) {
    for point in TripwirePoint::ALL {
        let times: u32 = hits.iter().filter(|((_, at), _)| *at == point).map(|(_, times)| times).sum();
        assert!(times > 0, "no run was ever killed at {}", point.name());
    }
    for scenario in &SCENARIOS {
        let times = |point| hits.get(&(scenario.name, point)).copied().unwrap_or_default();
        let (before, after) = (times(TripwirePoint::BeforeCommit), times(TripwirePoint::AfterCommit));
        assert!(before == after && before >= 10, "{}: {before} commits begun, {after} done", scenario.name);
    }
}
