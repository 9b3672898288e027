//! When a goal is looked at next, and the plan of a task that mends it: the goal's own words and checks with what failed put into
//! its template, and nothing else, so that what was approved once can be compared with what is done each time.

use std::time::Duration;

use super::state::GoalState;
use crate::check::CheckResult;
use crate::plan::{Item, ItemKind, Offsets, Plan, Schedule};
use crate::time::Wall;

/// Between two looks at a goal that is always on.
const PAUSE: Duration = Duration::from_secs(60);
const FAILED_CHECKS: &str = "$failed_checks";

/// After `now`, however many times were missed before it, by the clocks of the goal's time zone.
pub fn next_due(schedule: &Schedule, clocks: &Offsets, now: Wall) -> Wall {
    match schedule {
        Schedule::AlwaysOn => now + PAUSE,
        // What fits no day was refused when it was read.
        Schedule::Cron(cron) => cron.next_after(now, clocks).unwrap_or(now + PAUSE),
    }
}

/// Whether the time of the next look has come, where the schedule's next one after `now` is `next`. No schedule names a time that is
/// later than the next one: where one is due then, the clock was ahead and has been put right, and nobody should wait until it
/// is there again.
pub fn is_due(goal: &GoalState, now: Wall, next: Wall) -> bool {
    goal.due.is_none_or(|due| now >= due || (goal.open.is_none() && due > next))
}

pub fn fix_plan(Plan(goal): &Plan, results: &[CheckResult]) -> Plan {
    let mut item: Item = goal.clone();
    (item.kind, item.schedule, item.timezone, item.failure_context) = (ItemKind::Task, None, None, None);
    let template = goal.failure_context.clone().unwrap_or_else(|| format!("Mend this: {FAILED_CHECKS}"));
    let told = template.replace(FAILED_CHECKS, &failed_checks(results));
    let purpose = goal.briefing.what_to_do.trim();
    item.briefing.what_to_do = format!("{told}\n\nWhat it is for:\n\n{purpose}");
    Plan(item)
}

fn failed_checks(results: &[CheckResult]) -> String {
    let failed = results.iter().filter(|result| !result.passed);
    failed.map(|result| format!("{}: {}", result.name, result.reason)).collect::<Vec<_>>().join("; ")
}
