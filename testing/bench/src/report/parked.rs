//! What it costs to wait for a person.

use crate::aims;
use crate::figures::figure;
use crate::measure::parked::Figures;
use crate::table::{Row, Section, Verdict};

pub fn section(parked: &Figures) -> Section {
    let row = |what: String, value: f64| Row::new(what, figure(value), String::new(), &aims::NONE, Verdict::NotJudged);
    let rows = vec![
        row(format!("bytes of memory for each of {} tasks that wait", parked.parked), parked.memory_bytes),
        row("bytes of disk for each".to_owned(), parked.disk_bytes),
        row("runs that ask and are parked, per s".to_owned(), parked.parked_per_s),
        row("ms from an answer to the end of its run, p50".to_owned(), parked.wake_ms_p50),
        row("the same, p99".to_owned(), parked.wake_ms_p99),
    ];
    Section { title: "Waiting for a person", rows, notes: Vec::new() }
}
