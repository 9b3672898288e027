//! What a step costs, and whether it costs more later.

use super::Findings;
use super::findings::{Growth, lengths};
use crate::aims;
use crate::figures::{count, list, times};
use crate::measure::steps;
use crate::script::{STEPS, Tool};
use crate::table::{Row, Section, Verdict};

/// A step at the 2,000th may cost this much more than at the 20th, beyond what sending more bytes costs the floor, and
/// still be called flat: below it two runs of the same program differ as much.
const FLAT: f64 = 1.25;

pub fn section(findings: &Findings) -> Option<Section> {
    let (read, bash) = (findings.with(Tool::Read), findings.with(Tool::Bash));
    let longest = *read.last()?;
    let ratios: Vec<f64> = read.iter().map(|growth| growth.cost().cpu / growth.floor_cost().cpu).collect();
    let worst = ratios.iter().copied().fold(0.0, f64::max);
    let floor = |pick: fn(steps::Cost) -> f64| list(read.iter().map(|growth| pick(growth.floor_cost())));
    let ours =
        |growths: &[&Growth], pick: fn(steps::Cost) -> f64| list(growths.iter().map(|growth| pick(growth.cost())));
    let reached: Vec<usize> = STEPS.into_iter().filter(|at| *at <= longest.count).collect();
    let marginal: Vec<f64> = reached.iter().map(|at| longest.marginal(*at)).collect();
    let floor_marginal: Vec<f64> = reached.iter().map(|at| longest.floor_marginal(*at)).collect();
    let steps = lengths(&read);
    let mut rows = vec![
        Row::new(
            format!("CPU ms per step with `read`, at {steps} steps"),
            ours(&read, |cost| cost.cpu),
            format!(
                "floor {}: {}",
                floor(|cost| cost.cpu),
                ratios.iter().map(|r| times(*r)).collect::<Vec<_>>().join(" / ")
            ),
            &aims::STEP_CPU,
            Verdict::of(worst <= 3.0),
        ),
        Row::new(
            format!(
                "the next step's CPU ms, after {} steps",
                reached.iter().map(|at| count(*at)).collect::<Vec<_>>().join(" / ")
            ),
            list(marginal.iter().copied()),
            format!("floor {}", list(floor_marginal.iter().copied())),
            &aims::STEP_GROWTH,
            flatness(&marginal, &floor_marginal),
        ),
        Row::new(
            format!("wall ms per step with `read`, at {steps} steps"),
            ours(&read, |cost| cost.wall),
            format!("floor {}", floor(|cost| cost.wall)),
            &aims::NONE,
            Verdict::NotJudged,
        ),
        Row::new(
            format!("CPU ms of the whole process per step, at {steps} steps"),
            list(read.iter().map(|growth| growth.whole_cpu())),
            String::new(),
            &aims::NONE,
            Verdict::NotJudged,
        ),
    ];
    if !bash.is_empty() {
        let cost = list(bash.iter().map(|growth| growth.cost().cpu));
        let wall = list(bash.iter().map(|growth| growth.cost().wall));
        rows.push(Row::new(
            format!("CPU ms per step with `bash`, at {} steps", lengths(&bash)),
            cost,
            format!("wall {wall}"),
            &aims::STEP_BASH,
            Verdict::NotJudged,
        ));
    }
    let notes = vec![
        "A step is one model call and one tool call with two synced commits, from one question's commit to the next, in \
         `windlass run --json` against the rehearsal server in a process of its own. CPU is user and system time of the \
         `windlass` process; what runs inside the sandbox is not in it. The floor is a bare loop: it sends the same history \
         over HTTP, and makes one SQLite insert with one sync per step."
            .to_owned(),
    ];
    Some(Section { title: "Steps", rows, notes })
}

/// Sending a longer history costs everybody; what is left must not grow.
fn flatness(marginal: &[f64], floor: &[f64]) -> Verdict {
    let (Some(first), Some(last)) = (marginal.first(), marginal.last()) else { return Verdict::NotJudged };
    let for_the_bytes = (floor.last().unwrap_or(&0.0) - floor.first().unwrap_or(&0.0)).max(0.0);
    Verdict::of(last - for_the_bytes <= first * FLAT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_growth_beyond_the_bytes_counts_against_us() {
        let floor = [0.2, 0.6];
        assert_eq!(flatness(&[1.0, 1.6], &floor), Verdict::Met);
        assert_eq!(flatness(&[1.0, 1.7], &floor), Verdict::Missed);
        assert_eq!(flatness(&[1.0, 1.3], &[0.6, 0.2]), Verdict::Missed);
    }
}
