//! Killed at random instants, from outside, as a user, a crash or the kernel would.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::SCENARIOS;
use super::kills::Kill;
use super::outcome::Outcome;
use super::trial::{measured, trial};
use super::workers::work_through;
use crate::support::Dice;

const KILLS: usize = 500;

/// The same instants each time, as far as the machine lets them be the same.
const SEED: u64 = 0x0077_696e_646c_6173;

#[test]
fn a_run_killed_at_random_instants_ends_as_if_nobody_had_killed_it() {
    let wanted = wanted();
    let clean: Vec<(Outcome, Duration)> = SCENARIOS.iter().map(measured).collect();
    let (hits, trials, uncertain) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let failures = Mutex::new(Vec::new());
    // Two jobs at a time, each leading to the next, until enough kills have met a living process.
    work_through(0..2, |job| {
        if hits.load(Ordering::SeqCst) >= wanted {
            return None;
        }
        let number = trials.fetch_add(1, Ordering::SeqCst);
        let (scenario, (clean, length)) = (&SCENARIOS[number % 4], &clean[number % 4]);
        let kills = instants(number, *length);
        let tried = trial(scenario, clean, &kills);
        hits.fetch_add(tried.hits, Ordering::SeqCst);
        uncertain.fetch_add(tried.uncertain, Ordering::SeqCst);
        if !tried.complaints.is_empty() {
            let kills: Vec<String> = kills.iter().map(ToString::to_string).collect();
            let told = format!("{}, {}:\n  {}", scenario.name, kills.join(" then "), tried.complaints.join("\n  "));
            failures.lock().expect("kept").push(told);
        }
        Some(job)
    });
    let failures = failures.into_inner().expect("kept");
    println!("{hits:?} kills in {trials:?} trials, {uncertain:?} while a command ran");
    assert!(failures.is_empty(), "{} trials failed:\n{}", failures.len(), failures.join("\n"));
    assert!(uncertain.into_inner() > 0, "no command was ever in flight: the trials prove nothing about effects");
}

fn wanted() -> usize {
    let said = std::env::var("WINDLASS_KILLS").ok();
    said.map_or(KILLS, |text| text.parse().expect("WINDLASS_KILLS is a number"))
}

/// One instant of the whole length, and every other time one more of what is left after it.
fn instants(number: usize, length: Duration) -> Vec<Kill> {
    let mut dice = Dice::new(SEED.wrapping_add(number as u64));
    let mut kills = vec![Kill::After(length.mul_f64(dice.fraction()))];
    if number / 4 % 2 == 1 {
        kills.push(Kill::After(length.mul_f64(dice.fraction())));
    }
    kills
}
