//! Pausing and cancelling take effect within a second, whatever the task is doing: waiting for the model, running a
//! command, checking the result, or on its way from one to the next. Hints make it so; with hints lost, which must never
//! cost more than time, the same measure shows the time that they cost.

use std::collections::BTreeSet;
use std::time::Duration;

use windlass_domain::TaskResultStatus;
use windlass_simulator::{Act, BEGINNING, Ending, Hints, History, Plan, Scenario};
use windlass_store::StoredEvent;

use crate::support::Arena;

const SEED: u64 = 3;
const PROMPTLY: Duration = Duration::from_secs(1);

fn plan(hints: Hints, moment: Duration) -> Plan {
    Plan { hints, moment: Some(moment), ..Plan::clean(SEED) }
}

/// When to speak, and what an undisturbed task is doing then.
struct Moment {
    at: Duration,
    doing: &'static str,
}

/// At each record of an undisturbed history, and in the middle of each silence between two.
fn moments(arena: &Arena, act: &Act) -> Vec<Moment> {
    let undisturbed = arena.play(&Scenario::told_to(act.clone()), &plan(Hints::Heard, Duration::from_hours(1)));
    assert!(undisturbed.testimony.accepted.is_empty(), "it is over before anybody speaks");
    let gap = |pair: &[StoredEvent]| {
        let [before, after] = [&pair[0], &pair[1]].map(|row| row.at.since(BEGINNING));
        let silence = after.saturating_sub(before);
        let doing = match pair[0].kind.as_str() {
            _ if silence < PROMPTLY * 2 => "between moves",
            "model.requested" => "waiting for the model",
            "tool.started" => "running a command",
            "attempt.ended" => "checking the result",
            other => panic!("what is so slow after {other}?"),
        };
        [Moment { at: before, doing: "between moves" }, Moment { at: before + silence / 2, doing }]
    };
    undisturbed.rows.windows(2).flat_map(gap).collect()
}

/// How long the process that had the task went on after the operator began to speak; nothing where it was over by then.
fn reaction(history: &History, moment: &Moment) -> Option<Duration> {
    history.testimony.accepted.first()?;
    let (_, ended) = history.testimony.ended_at.first().expect("somebody had the task");
    Some(ended.since(BEGINNING + moment.at))
}

fn check_stops_promptly(act: &Act, has_stopped: fn(&Ending) -> bool) {
    let arena = Arena::new();
    let mut seen = BTreeSet::new();
    for moment in moments(&arena, act) {
        let history = arena.play(&Scenario::told_to(act.clone()), &plan(Hints::Heard, moment.at));
        let Some(took) = reaction(&history, &moment) else { continue };
        let Moment { at, doing } = moment;
        assert!(took <= PROMPTLY, "{act:?} after {at:?}, while {doing}, took {took:?}");
        // What was at its very end may have come to it first.
        let (_, ending) = history.testimony.endings.first().expect("somebody had the task");
        if has_stopped(ending) {
            seen.insert(doing);
        }
    }
    let expected = ["between moves", "checking the result", "running a command", "waiting for the model"];
    assert_eq!(Vec::from_iter(seen), expected);
}

#[test]
fn a_pause_takes_effect_within_a_second() {
    check_stops_promptly(&Act::Pause, |ending| matches!(ending, Ending::Paused(_)));
}

#[test]
fn a_cancel_takes_effect_within_a_second() {
    check_stops_promptly(
        &Act::Cancel,
        |ending| matches!(ending, Ending::Finished(result) if result.status == TaskResultStatus::Cancelled),
    );
}

#[test]
fn without_hints_it_takes_longer() {
    let arena = Arena::new();
    let longest = moments(&arena, &Act::Pause).into_iter().filter_map(|moment| {
        let history = arena.play(&Scenario::told_to(Act::Pause), &plan(Hints::Lost, moment.at));
        reaction(&history, &moment)
    });
    let longest = longest.max().expect("it was told in time at least once");
    assert!(longest > PROMPTLY, "{longest:?}: then nothing here shows that hints are heard");
}
