//! The worst case, from the graph alone: it is shown before anything begins, and nothing that agents do can pass it.

use super::Work;
use crate::approval::WorstCase;
use crate::budget::Budget;
use crate::check::BaseCase;
use crate::usage::Usd;

/// With `replans` more plans to follow this one. Money and tokens may be passed by the call in flight of each who works at the time.
pub fn bound(work: &Work, replans: u32) -> WorstCase {
    let constraints = work.constraints();
    let default = Budget::default();
    let budgets = || work.nodes.iter().filter(|node| node.is_leaf()).map(|node| &node.item.budget);
    // What splits use is their parent's; what another plan brings has at most the defaults.
    let others = if replans == 0 { 0 } else { work.atoms_left() as u64 };
    let attempts = budgets().map(|budget| budget.max_attempts).chain((others > 0).then_some(default.max_attempts));
    let lives = 1 + u64::from(constraints.max_choices);
    let by_atoms = lives
        .saturating_mul(u64::from(constraints.max_atoms))
        .saturating_mul(u64::from(attempts.max().unwrap_or_default()));
    let places = u64::from(constraints.max_parallel_agents.max(1));
    let by_passes = constraints.max_iterations.map(|most| u64::from(most).saturating_mul(places));
    let attempts = by_passes.map_or(by_atoms, |by_passes| by_passes.min(by_atoms));

    // Every atom uses its own budget once, and nobody works on more atoms than there are attempts.
    let all = |of: fn(&Budget) -> u64| {
        let every = budgets().map(of).fold(others.saturating_mul(of(&default)), u64::saturating_add);
        let largest = budgets().map(of).chain((others > 0).then(|| of(&default))).max().unwrap_or_default();
        every.min(attempts.saturating_mul(largest))
    };
    let checking = work.nodes.iter().map(|node| seconds(&node.item.verify)).max().unwrap_or_default();
    let checking = checking.saturating_add(work.root().map_or(0, |root| seconds(&root.item.verify)));
    let planning = work.root().map(|root| root.item.plan_budget.clone()).unwrap_or_default();
    WorstCase {
        attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
        tokens: all(|budget| budget.max_tokens).saturating_add(planning.max_tokens),
        cost_usd: Usd::from_nanos(all(|budget| budget.max_cost_usd.as_nanos())).plus(planning.max_cost_usd),
        wall_time_seconds: all(|budget| budget.max_wall_time_seconds).saturating_add(checking.saturating_mul(attempts)),
    }
}

fn seconds(checks: &BaseCase) -> u64 {
    checks.0.iter().fold(0, |sum, check| sum.saturating_add(check.timeout_seconds))
}
