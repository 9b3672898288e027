//! Sandboxed commands against plain ones.

use crate::aims;
use crate::figures::{figure, times};
use crate::measure::sandboxes;
use crate::table::{Row, Section, Verdict};

pub fn section(sandboxes: &sandboxes::Figures) -> Section {
    let sandboxes::Figures { plain, bubblewrap, cold, cold_result, cold_without_groups, warm, warm_bash, plain_bash } =
        sandboxes;
    let rows = vec![
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
    Section { title: "Sandboxed commands", rows, notes: Vec::new() }
}
