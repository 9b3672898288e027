//! Worlds with deadlines and monitors in them: workers die, clocks are set forwards and back, people speak, pause and cancel, and each
//! time that was due has one consequence.

use std::sync::atomic::{AtomicUsize, Ordering};

use windlass_simulator::{EngineBug, EnginePlan, examine_engines, play_engines};

use super::projects::records;
use super::support::assert_good;
use crate::support::{Arena, Totals, on_every_core, seeds};

/// What has to happen now and then, or the histories prove little.
const KINDS: [&str; 4] = ["monitor.set", "monitor.fired", "monitor.ended", "task.time_up"];

/// Whoever waited for a look in the foreground did not hear that a worker had the task rest (87, 113); a machine that woke worked on
/// what it had lost meanwhile beside whoever of its own had not heard of that (192); a card on a clock that was put back (698).
const REGRESSED: [u64; 4] = [87, 113, 192, 698];

#[test]
fn what_once_broke_a_rule_breaks_none() {
    for seed in REGRESSED {
        let arena = Arena::new();
        let history = play_engines(&EnginePlan::draw_schedules(seed), &arena.world());
        assert_good(&arena, &history);
    }
}

#[test]
fn every_rule_holds_in_every_history_of_schedules() {
    let (totals, seen) = (Totals::default(), KINDS.map(|_| AtomicUsize::new(0)));
    on_every_core(0..seeds(), Arena::new, |arena, seed| {
        let history = play_engines(&EnginePlan::draw_schedules(seed), &arena.world());
        totals.add(history.calls, history.polls);
        KINDS.iter().zip(&seen).for_each(|(kind, seen)| {
            seen.fetch_add(records(&history, kind), Ordering::Relaxed);
        });
        assert_good(arena, &history);
    });
    let seen = KINDS.iter().zip(seen.map(AtomicUsize::into_inner)).collect::<Vec<_>>();
    println!("schedules: {totals}; {seen:?}");
    assert!(seen.iter().all(|(_, times)| *times > 0), "{seen:?} proves little");
}

#[test]
fn every_planted_bug_of_a_schedule_is_caught_by_the_rule_that_it_breaks() {
    on_every_core(0..EngineBug::OF_SCHEDULES.len() as u64, Arena::new, |arena, number| {
        let bug = EngineBug::OF_SCHEDULES[usize::try_from(number).unwrap()];
        let shows = |seed: &u64| {
            let history = play_engines(&EnginePlan::draw_schedules(*seed).with_bug(bug), &arena.world());
            examine_engines(&history).iter().any(|complaint| complaint.contains(bug.breaks()))
        };
        let seed = (0..100).find(shows).unwrap_or_else(|| panic!("{bug:?} was not caught as `{}`", bug.breaks()));
        println!("{bug:?} is caught with seed {seed}");
    });
}
