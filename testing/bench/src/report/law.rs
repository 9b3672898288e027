//! What the law adds to a tool call.

use crate::aims;
use crate::figures::figure;
use crate::measure::law::Figures;
use crate::table::{Row, Section, Verdict};

pub fn section(law: &Figures) -> Section {
    let rows = vec![
        Row::new(
            "µs to judge the risk of a command",
            figure(law.risk_micros),
            String::new(),
            &aims::NONE,
            Verdict::NotJudged,
        ),
        Row::new(
            format!("µs for {} gates at a tool call, risk among them", law.gates),
            figure(law.gates_micros),
            String::new(),
            &aims::NONE,
            Verdict::NotJudged,
        ),
        Row::new(
            "approvals verified per s, one thread",
            figure(law.verified_per_s),
            String::new(),
            &aims::NONE,
            Verdict::NotJudged,
        ),
    ];
    Section { title: "Gates, risk and approvals", rows, notes: Vec::new() }
}
