//! A history in a few lines, for whoever has to find out why it is bad.

use std::fmt::Write;

use crate::history::History;

const LAST_RECORDS: usize = 30;
const LONGEST: usize = 150;

/// How to play it again, what befell whom, and the last records.
pub fn story(history: &History) -> String {
    let History { scenario, plan, came_to, rows, .. } = history;
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes everything");
    line(format!("scenario {}, {plan:?}", scenario.name));
    line(format!("came to {came_to:?} after {} calls of the first worker", history.calls));
    for burnt in &history.burnt {
        line(format!("process {} met its fate ({:?}) {}", burnt.process.0, burnt.fate, burnt.point));
    }
    for (process, ending) in &history.testimony.endings {
        line(format!("process {} ended: {}", process.0, cut(&format!("{ending:?}"))));
    }
    for accepted in &history.testimony.accepted {
        line(format!("accepted {:?} at {}", accepted.act, accepted.at.to_rfc3339()));
    }
    for entry in &history.ledger {
        line(format!("effect by process {}: {} + {}", entry.process.0, entry.effect.file, entry.effect.text));
    }
    for row in rows.iter().skip(rows.len().saturating_sub(LAST_RECORDS)) {
        let (at, stream, seq) = (row.at.to_rfc3339(), row.stream.kind(), row.seq.0);
        line(format!("{at} {stream} {seq:>3} {} {}", row.kind, cut(&row.data)));
    }
    text
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
