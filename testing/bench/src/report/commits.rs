//! Commits against what the disk can do.

use crate::aims;
use crate::figures::{figure, list, times};
use crate::measure::commits;
use crate::table::{Row, Section, Verdict};

pub fn section(commits: &commits::Figures) -> Section {
    let rates: Vec<f64> = commits.rounds.iter().map(|round| round.per_s).collect();
    let best = rates.iter().copied().fold(0.0, f64::max);
    let writers = commits::WRITERS.map(|writers| writers.to_string()).join(" / ");
    let syncs = commits.syncs_per_s;
    let rows = vec![
        Row::new(
            format!("commits per s, {writers} writers"),
            list(rates.iter().copied()),
            format!(
                "fdatasync {}/s: {}",
                figure(syncs),
                rates.iter().map(|rate| times(rate / syncs)).collect::<Vec<_>>().join(" / ")
            ),
            &aims::COMMITS,
            Verdict::of(best >= 10_000.0),
        ),
        Row::new(
            "CPU µs per commit",
            list(commits.rounds.iter().map(|round| round.cpu_micros)),
            String::new(),
            &aims::NONE,
            Verdict::NotJudged,
        ),
    ];
    Section { title: "Commits", rows, notes: Vec::new() }
}
