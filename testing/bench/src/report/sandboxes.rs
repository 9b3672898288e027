//! Sandboxed commands against plain ones.

use crate::aims;
use crate::figures::{figure, times};
use crate::measure::sandboxes;
use crate::table::{Row, Section, Verdict};

pub fn section(sandboxes: &sandboxes::Figures) -> Section {
    let sandboxes::Figures {
        plain,
        bubblewrap,
        cold,
        cold_result,
        cold_without_groups,
        warm,
        warm_bash,
        plain_bash,
        docker,
    } = sandboxes;
    let mut rows = vec![
        Row::new(
            "one `true`, cold: open, run, close; ms",
            figure(*cold),
            format!("bubblewrap {}: {}", figure(*bubblewrap), times(cold / bubblewrap)),
            &aims::COLD,
            Verdict::of(*cold <= 1.3 * bubblewrap),
        ),
        Row::new(
            "the same, up to its result; ms",
            figure(*cold_result),
            format!("bubblewrap {}: {}", figure(*bubblewrap), times(cold_result / bubblewrap)),
            &aims::NONE,
            Verdict::NotJudged,
        ),
        Row::new(
            "the same as the first, without control groups; ms",
            figure(*cold_without_groups),
            format!("bubblewrap {}: {}", figure(*bubblewrap), times(cold_without_groups / bubblewrap)),
            &aims::NONE,
            Verdict::NotJudged,
        ),
        Row::new(
            "one `true`, warm; ms",
            figure(*warm),
            format!("plain spawn {}: {}", figure(*plain), times(warm / plain)),
            &aims::WARM,
            Verdict::of(*warm <= 2.0),
        ),
        Row::new(
            "one `bash -c true`, warm; ms",
            figure(*warm_bash),
            format!("plain spawn {}: {}", figure(*plain_bash), times(warm_bash / plain_bash)),
            &aims::NONE,
            Verdict::NotJudged,
        ),
    ];
    rows.extend(docker.iter().flat_map(|docker| containers(docker, *cold, *warm)));
    Section { title: "Sandboxed commands", rows, notes: Vec::new() }
}

fn containers(docker: &sandboxes::DockerFigures, cold: f64, warm: f64) -> [Row; 3] {
    let sandboxes::DockerFigures { cold: docker_cold, cold_result, warm: docker_warm, by_hand } = docker;
    let row = |name: &'static str, value: f64, beside: String| {
        Row::new(name, figure(value), beside, &aims::NONE, Verdict::NotJudged)
    };
    [
        row(
            "one `true` in a container, cold: open, run, close; ms",
            *docker_cold,
            format!("`docker run` {}: {}; bubblewrap {}", figure(*by_hand), times(docker_cold / by_hand), figure(cold)),
        ),
        row("the same, up to its result; ms", *cold_result, format!("`docker run` {}", figure(*by_hand))),
        row(
            "one `true` in a container, warm; ms",
            *docker_warm,
            format!("bubblewrap {}: {}", figure(warm), times(docker_warm / warm)),
        ),
    ]
}
