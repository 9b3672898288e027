//! The console in a browser: what is fetched, how soon what happens is seen, and whether what is long still scrolls.

use crate::aims;
use crate::figures::{count, figure, times};
use crate::measure::console::{Figures, Spread};
use crate::table::{Row, Section, Verdict};

/// What was promised.
const MOST_FETCHED_KB: f64 = 300.0;
const SEEN_WITHIN_MS: f64 = 100.0;
/// A frame of sixty a second, and what a timer may be late by.
const FRAME_MS: f64 = 1000.0 / 60.0 + 1.0;
/// Two measurements of the same differ by as much.
const LATE: f64 = 1.25;

const NOTE: &str = "A headless Chromium on the same two processors, without a graphics card, signed in to `windlass serve`. What is fetched is \
    what the browser received until Review could be used, compressed as it was sent; terminal and graph are fetched when they are \
    opened. An event is a task that begins: from the time in its record to the frame in which Activity shows it, beside the same \
    events heard by a program that draws nothing. Items are the steps of an execution, scrolled from end to end in 120 steps; beside it \
    an empty page of that height.";

/// Most frames are in time, and those that are late are what the machine is late by with nothing to draw.
fn scrolls(frame: &Spread, empty: &Spread) -> bool {
    frame.median <= FRAME_MS && frame.p95 <= FRAME_MS.max(empty.p95 * LATE)
}

pub fn section(figures: &Figures) -> Section {
    let not_judged = |work: String, windlass, beside| Row::new(work, windlass, beside, &aims::NONE, Verdict::NotJudged);
    let spread = |spread: &Spread| format!("{} / {}", figure(spread.median), figure(spread.p95));
    let (frame, empty) = (&figures.frame_ms, &figures.empty_frame_ms);
    let rows = vec![
        Row::new(
            "KB fetched before the first page can be used",
            figure(figures.first_load_kb),
            String::new(),
            &aims::FIRST_LOAD,
            Verdict::of(figures.first_load_kb < MOST_FETCHED_KB),
        ),
        not_judged("ms until then".to_owned(), figure(figures.first_page_ms), String::new()),
        Row::new(
            "ms from an event to its frame, p50 / p95",
            spread(&figures.pixel_ms),
            format!(
                "heard {}: {}",
                spread(&figures.heard_ms),
                times(figures.pixel_ms.median / figures.heard_ms.median.max(1.0))
            ),
            &aims::EVENT_TO_PIXEL,
            Verdict::of(figures.pixel_ms.p95 < SEEN_WITHIN_MS),
        ),
        Row::new(
            format!("ms a frame while {} items are scrolled, p50 / p95", count(figures.items)),
            spread(frame),
            format!("empty page {}: {}", spread(empty), times(frame.median / empty.median)),
            &aims::FRAMES,
            Verdict::of(scrolls(frame, empty)),
        ),
        not_judged(
            format!("ms until a graph of {} atoms is drawn", count(figures.atoms)),
            figure(figures.graph_ms),
            String::new(),
        ),
    ];
    Section { title: "The console", rows, notes: vec![NOTE.to_owned()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_frame_in_twenty_may_be_late_where_that_of_an_empty_page_is() {
        let spread = |median, p95| Spread { median, p95 };
        assert!(scrolls(&spread(16.7, 17.2), &spread(16.7, 16.9)));
        assert!(!scrolls(&spread(16.7, 50.0), &spread(16.7, 16.9)));
        assert!(scrolls(&spread(16.7, 36.0), &spread(16.7, 33.0)));
        assert!(!scrolls(&spread(20.0, 20.0), &spread(16.7, 50.0)));
    }
}
