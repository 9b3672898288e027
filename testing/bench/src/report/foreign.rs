//! Programs of others: what Windlass adds to running one, how fast it takes in what they tell, and how fast it knows it again.

use super::Findings;
use crate::aims;
use crate::figures::{count, figure, list, times};
use crate::measure::launches::Launches;
use crate::measure::observations::{self, EXECUTIONS};
use crate::measure::replay;
use crate::table::{Row, Section, Verdict};

const NOTE: &str = "Under Windlass the program runs in the sandbox with a home and a gateway of its own, every word of it in the \
    journal, to a verified end; bare it takes one turn. The shell script asks no model, so that nearly all of its time is Windlass's. \
    Windlass's own part is the one wall time less the other, and holds its own start and the program's `--version`. The real \
    programs are there where `make agents` has installed them, or `WINDLASS_AGENTS` names their folder; they ask the same scripted server, \
    bare over their one-shot command, under Windlass over their structured channel.";

pub fn section(findings: &Findings) -> Option<Section> {
    let mut rows: Vec<Row> = findings.launches.iter().flat_map(launched).collect();
    let notes = if rows.is_empty() { Vec::new() } else { vec![NOTE.to_owned()] };
    rows.extend(findings.observations.iter().flat_map(taken_in));
    rows.extend(findings.replay.iter().flat_map(replayed));
    (!rows.is_empty()).then_some(Section { title: "Programs of others", rows, notes })
}

fn row(work: String, windlass: String, beside: String) -> Row {
    Row::new(work, windlass, beside, &aims::NONE, Verdict::NotJudged)
}

fn launched(Launches { program, windlass, bare }: &Launches) -> [Row; 4] {
    let name = program.name();
    let family = windlass.own_cpu + windlass.family_cpu;
    [
        row(
            format!("ms for a task with {name}, to its verified end"),
            figure(windlass.wall),
            format!("bare {}: {}", figure(bare.wall), times(windlass.wall / bare.wall)),
        ),
        row(format!("ms of it that are Windlass's, {name}"), figure(windlass.wall - bare.wall), String::new()),
        row(
            format!("ms to leave / first word / end of turn / end, {name}"),
            list([windlass.to_leave, windlass.to_word, windlass.to_turn_end, windlass.to_end]),
            format!("bare, to its first word {}", figure(bare.to_word)),
        ),
        row(
            format!("CPU ms of Windlass / of all it started, {name}"),
            list([windlass.own_cpu, windlass.family_cpu]),
            format!("bare {}: {}", figure(bare.family_cpu), times(family / bare.family_cpu)),
        ),
    ]
}

fn taken_in(figures: &observations::Figures) -> [Row; 2] {
    let executions = EXECUTIONS.map(|executions| executions.to_string()).join(" / ");
    let both = || figures.intake.iter().zip(&figures.bare);
    let beside = |bare: String, ratios: Vec<f64>| {
        format!("bare commits {bare}: {}", ratios.into_iter().map(times).collect::<Vec<_>>().join(" / "))
    };
    [
        row(
            format!("observations per s, one commit each, {executions} executions"),
            list(figures.intake.iter().map(|round| round.per_s)),
            beside(
                list(figures.bare.iter().map(|round| round.per_s)),
                both().map(|(intake, bare)| intake.per_s / bare.per_s).collect(),
            ),
        ),
        row(
            "CPU µs per observation".to_owned(),
            list(figures.intake.iter().map(|round| round.cpu_micros)),
            beside(
                list(figures.bare.iter().map(|round| round.cpu_micros)),
                both().map(|(intake, bare)| intake.cpu_micros / bare.cpu_micros).collect(),
            ),
        ),
    ]
}

fn replayed(figures: &replay::Figures) -> [Row; 3] {
    let megabytes = figures.bytes as f64 / 1e6;
    let per_s = |ms: f64| megabytes * 1e3 / ms;
    [
        row(
            format!("ms to fold a journal of {} records, {} MB", count(figures.records), figure(megabytes)),
            figure(figures.fold_ms),
            format!("read alone {}: {}", figure(figures.read_ms), times(figures.fold_ms / figures.read_ms)),
        ),
        row(
            "MB per s of it".to_owned(),
            figure(per_s(figures.fold_ms)),
            format!("read alone {}", figure(per_s(figures.read_ms))),
        ),
        row("MB of memory that its state holds".to_owned(), figure(figures.held_kb as f64 / 1024.0), String::new()),
    ]
}
