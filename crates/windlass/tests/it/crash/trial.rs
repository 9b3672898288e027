//! One trial: kill it, kill it again if so wished, and let it end.

use std::time::{Duration, Instant};

use super::Scenario;
use super::kills::Kill;
use super::outcome::Outcome;
use super::verdict::{Uncertain, complaints};
use crate::support::{Ended, Home, Program, Story, none_left, read};

pub struct Trial {
    /// How many of the kills met it alive.
    pub hits: usize,
    /// How many calls were in flight that nobody may make again.
    pub uncertain: usize,
    pub complaints: Vec<String>,
}

type Judge = fn(&Outcome, &Outcome, &Uncertain) -> Vec<String>;

/// A run that nobody kills.
pub fn clean(scenario: &Scenario) -> Outcome {
    measured(scenario).0
}

/// The same, and how long it took.
pub fn measured(scenario: &Scenario) -> (Outcome, Duration) {
    let (home, mut ledger) = scenario.set_up();
    let begun = Instant::now();
    let ended = scenario.run(&home).run().expect(0);
    let length = begun.elapsed();
    none_left(&home);
    (Outcome::of(&home, &mut ledger, Some(ended.code())), length)
}

pub fn trial(scenario: &Scenario, clean: &Outcome, kills: &[Kill]) -> Trial {
    tried(scenario, clean, kills, complaints)
}

/// The same by another measure.
pub fn tried(scenario: &Scenario, clean: &Outcome, kills: &[Kill], judge: Judge) -> Trial {
    let (home, mut ledger) = scenario.set_up();
    let mut uncertain = Uncertain::default();
    let mut story = Story::default();
    let mut ended = None;
    for kill in kills {
        let Some(program) = go_on(scenario, &home, &story) else { break };
        let end = kill.apply(program);
        if !end.was_killed() {
            ended = Some(end);
            break;
        }
        story = read(&home);
        uncertain.deaths += 1;
        uncertain.calls.extend(story.once_in_flight());
    }
    if ended.is_none() {
        ended = go_on(scenario, &home, &story).map(Program::run);
    }
    none_left(&home);
    let outcome = Outcome::of(&home, &mut ledger, ended.as_ref().map(Ended::code));
    let mut complaints = judge(clean, &outcome, &uncertain);
    if let (false, Some(ended)) = (complaints.is_empty(), ended) {
        complaints.push(format!("it had said:\n{}{}", ended.stdout, ended.stderr));
    }
    Trial { hits: uncertain.deaths, uncertain: uncertain.calls.len(), complaints }
}

/// What a user would type now: a run that died before it took the task in is started again, and one that died after the
/// end has nothing to go on with.
fn go_on(scenario: &Scenario, home: &Home, story: &Story) -> Option<Program> {
    match (story.records.is_empty(), &story.result) {
        (true, _) => Some(scenario.run(home)),
        (false, None) => Some(home.windlass(&["resume"])),
        (false, Some(_)) => None,
    }
}
