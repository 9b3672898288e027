//! What is stored against what was said.

use super::{Findings, Growth};
use crate::aims;
use crate::figures::{count, figure, list, times};
use crate::script::Tool;
use crate::table::{Row, Section, Verdict};

pub fn section(findings: &Findings) -> Option<Section> {
    let mut rows = Vec::new();
    for (tool, what) in [(Tool::Read, "a note of 40 bytes"), (Tool::Page, "a page of 2 KB")] {
        let growths: Vec<&Growth> = findings.with(tool).into_iter().filter(|growth| growth.count >= 100).collect();
        let (Some(shortest), Some(longest)) = (growths.first(), growths.last()) else { continue };
        if shortest.count == longest.count {
            continue;
        }
        let stored = |growth: &Growth| growth.windlass[0].stored.truth() as f64;
        let said = |growth: &Growth| growth.windlass[0].said_bytes as f64;
        let traced = |growth: &Growth| growth.windlass[0].stored.traces as f64 / growth.count as f64;
        let more = (longest.count - shortest.count) as f64;
        let per_step = (stored(longest) - stored(shortest)) / more;
        let said_per_step = (said(longest) - said(shortest)) / more;
        let floor = shortest.floor.first().map(|_| (longest, shortest));
        let floor = floor.map(|(longest, shortest)| {
            (longest.floor[0].stored_bytes as f64 - shortest.floor[0].stored_bytes as f64) / more
        });
        let floor = floor.map_or_else(String::new, |floor| format!("; floor {}", figure(floor)));
        let (from, to) = (count(shortest.count), count(longest.count));
        rows.push(Row::new(
            format!("bytes stored per step, from step {from} to {to}, each reading {what}"),
            figure(per_step),
            format!("said {}: {}{floor}", figure(said_per_step), times(per_step / said_per_step)),
            &aims::STORED,
            Verdict::of(per_step <= 4.0 * said_per_step),
        ));
        rows.push(Row::new(
            format!("bytes stored per step in all, at {from} / {to} steps"),
            list([shortest, longest].map(|growth| stored(growth) / growth.count as f64)),
            format!("the trace beside it {}", list([shortest, longest].map(|growth| traced(growth)))),
            &aims::NONE,
            Verdict::NotJudged,
        ));
    }
    let notes = vec![
        "Stored is the database with its log, and the blobs, after the program has ended; said is what the messages of a step \
         take in a request to the model. In all includes the empty database and the prompt. The trace is a file that repeats \
         the journal for other programs."
            .to_owned(),
    ];
    (!rows.is_empty()).then_some(Section { title: "Storage", rows, notes })
}
