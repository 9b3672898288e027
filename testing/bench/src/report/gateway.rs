//! What stands between a foreign agent and its model adds to a request.

use crate::aims;
use crate::figures::{count, figure, times};
use crate::measure::gateway::{Figures, MESSAGES};
use crate::table::{Row, Section, Verdict};

pub fn section(gateway: &Figures) -> Section {
    let bare = gateway.bare_micros;
    let row = |way: &str, micros: f64| {
        let work = format!("µs a request of {} messages through the gateway, {way}", count(MESSAGES));
        let beside = format!("model server alone {}: {}", figure(bare), times(micros / bare));
        Row::new(work, figure(micros), beside, &aims::NONE, Verdict::NotJudged)
    };
    let rows =
        vec![row("in the server's language", gateway.passed_micros), row("translated", gateway.translated_micros)];
    Section { title: "The gateway of foreign agents", rows, notes: Vec::new() }
}
