//! Plans: their documents beside the bare reader, research beside steps, and what a yes sets going.

use crate::aims;
use crate::figures::{count, figure, times};
use crate::measure::plan_documents::{Document, Verdict as Taken};
use crate::measure::plans::{Figures, FirstCall};
use crate::table::{Row, Section, Verdict};

/// A planner's question, its pause, and the answer of whoever looks into it.
const ANSWERS_IN_A_ROUND: f64 = 3.0;
const MEGABYTE: f64 = 1e6;

pub fn section(figures: &Figures) -> Section {
    let mut rows: Vec<Row> = figures.documents.iter().map(document).collect();
    let steps = ANSWERS_IN_A_ROUND * figures.step;
    rows.push(Row::new(
        "a planner's question, from asking to going on with the answer; ms",
        figure(figures.round_trip),
        format!("3 steps of a direct run {}: {}", figure(steps), times(figures.round_trip / steps)),
        &aims::NONE,
        Verdict::NotJudged,
    ));
    rows.extend(figures.first_calls.iter().map(first_call));
    let notes = vec![
        "A plan is at most 1 MiB long and has at most 200 items: what is longer is not looked into, and of too many items one problem is \
         told. The bare reader only parses the YAML of the same front matter. The model is a rehearsal that answers at once; a question has \
         three answers in it (the planner asks, waits, and the researcher answers) and what is around them: a task for the researcher, \
         a planner that goes to sleep and is woken. An item's first call comes after its worktree is filled and on the disk."
            .to_owned(),
    ];
    Section { title: "Plans", rows, notes }
}

fn document(document: &Document) -> Row {
    let Document { items, bytes, verdict, read, bare } = document;
    let megabytes = *bytes as f64 / MEGABYTE;
    let what = match verdict {
        Taken::Taken => "read",
        Taken::Refused => "refused",
    };
    Row::new(
        format!("a plan of {} MB, {} items, {what}; ms, and per MB", figure(megabytes), count(*items)),
        format!("{}, {}", figure(*read), figure(read / megabytes)),
        format!("bare YAML reader {}: {}", figure(*bare), times(read / bare)),
        &aims::NONE,
        Verdict::NotJudged,
    )
}

fn first_call(measured: &FirstCall) -> Row {
    let FirstCall { files, planned, direct, worktree } = measured;
    Row::new(
        format!("from a yes to a plan to its item's first call, in a folder of {} files; ms", count(*files)),
        figure(*planned),
        format!(
            "its worktree alone {}; a direct run, from submitting it, {}: {}",
            figure(*worktree),
            figure(*direct),
            times(planned / direct)
        ),
        &aims::NONE,
        Verdict::NotJudged,
    )
}
