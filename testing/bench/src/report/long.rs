//! A run of thousands of steps in a small window.

use crate::aims;
use crate::figures::{count, figure, median, times};
use crate::measure::long::{Long, STEPS};
use crate::table::{Row, Section, Verdict};

/// Two runs of the same program differ as much.
const FLAT: f64 = 1.25;

pub fn section(runs: &[Long]) -> Option<Section> {
    let of = |pick: fn(&Long) -> f64| median(runs.iter().map(pick).collect());
    let compactions = runs.first()?.compactions;
    let quarters = |what: &str, (first, last): (f64, f64), aim, verdict| {
        let beside = format!("in the first quarter {}: {}", figure(first), times(last / first));
        Row::new(format!("{what}, in the last quarter"), figure(last), beside, aim, verdict)
    };
    let is_flat = |(first, last): (f64, f64)| Verdict::of(last <= first * FLAT);
    let cpu = (of(|run| run.first.cpu), of(|run| run.last.cpu));
    let wall = (of(|run| run.first.wall), of(|run| run.last.wall));
    let memory = (of(|run| run.first_kb) / 1024.0, of(|run| run.last_kb) / 1024.0);
    let (facts, kept): (usize, usize) = runs.iter().fold((0, 0), |(f, k), run| (f + run.facts, k + run.kept));
    let unchanged = of(|run| run.unchanged);
    let rows = vec![
        quarters("CPU ms per step", cpu, &aims::LONG_COST, is_flat(cpu)),
        quarters("wall ms per step", wall, &aims::NONE, Verdict::NotJudged),
        quarters("resident memory, MB", memory, &aims::LONG_MEMORY, is_flat(memory)),
        Row::new(
            "share of a prompt that stays as it was in the next, outside compactions",
            format!("{unchanged:.4}"),
            format!("at least {:.4}", of(|run| run.least_unchanged)),
            &aims::PREFIX,
            Verdict::of(unchanged > 0.99),
        ),
        Row::new(
            format!("things a person said in {} such runs, there and in order at the end", runs.len()),
            count(kept),
            format!("said {}", count(facts)),
            &aims::FACTS,
            Verdict::of(kept == facts && facts > 0),
        ),
    ];
    let notes = vec![format!(
        "{} steps that read 2 KB each, in a window of 32,000 tokens, with {compactions} compactions: `windlass run --json` against a \
         model server that looks at what it is sent. A person says something every 20 steps.",
        count(STEPS)
    )];
    Some(Section { title: "Long runs", rows, notes })
}
