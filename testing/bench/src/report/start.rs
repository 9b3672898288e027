//! From starting the program to its first question.

use crate::aims;
use crate::figures::figure;
use crate::measure::start;
use crate::table::{Row, Section, Verdict};

pub fn section(starts: &start::Starts) -> Section {
    let start::Starts { first, later } = starts;
    let rows = vec![
        Row::new(
            "start to first request, wall ms",
            figure(later.wall_ms),
            format!("CPU {}", figure(later.cpu_ms)),
            &aims::START_TIME,
            Verdict::of(later.wall_ms <= 25.0),
        ),
        Row::new(
            "the same, making the data directory",
            figure(first.wall_ms),
            format!("CPU {}", figure(first.cpu_ms)),
            &aims::NONE,
            Verdict::NotJudged,
        ),
        Row::new(
            "memory by then, MB",
            figure(later.peak_mb),
            String::new(),
            &aims::START_MEMORY,
            Verdict::of(later.peak_mb <= 30.0),
        ),
    ];
    Section { title: "Start", rows, notes: Vec::new() }
}
