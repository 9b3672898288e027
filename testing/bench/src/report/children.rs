//! An agent with many others below it.

use crate::aims;
use crate::figures::{figure, millis, times};
use crate::measure::children::{CHILDREN, Children, LATENCY, STEPS};
use crate::table::{Row, Section, Verdict};

pub fn section(children: &Children) -> Section {
    let Children { with, without } = children;
    let each = |with: f64, without: f64| (with - without) / CHILDREN as f64;
    // Its first question, the children's answers, its last.
    let ideal = millis(LATENCY) * (STEPS + 3) as f64;
    let row =
        |what: &str, value: f64, beside: String| Row::new(what, figure(value), beside, &aims::NONE, Verdict::NotJudged);
    let rows = vec![
        row(
            "wall ms of the whole run",
            with.wall_ms,
            format!("the model's own {}: {}", figure(ideal), times(with.wall_ms / ideal)),
        ),
        row(
            "CPU ms per sub-agent",
            each(with.cpu_ms, without.cpu_ms),
            format!("the run without any {}", figure(without.cpu_ms)),
        ),
        row(
            "KB per sub-agent",
            each(with.peak_kb, without.peak_kb),
            format!("the run without any {} MB", figure(without.peak_kb / 1024.0)),
        ),
    ];
    let notes = vec![format!(
        "One agent hands its task to {CHILDREN} others at once, each of which makes {STEPS} steps with `read`, with {} ms for every model \
         answer, every step durable. What the run costs with no sub-agent is taken off.",
        LATENCY.as_millis()
    )];
    Section { title: "A hundred sub-agents", rows, notes }
}
