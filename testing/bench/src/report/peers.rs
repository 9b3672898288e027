//! The peers, where they have just been measured.

use super::Findings;
use crate::aims;
use crate::figures::{figure, times};
use crate::peers::Peers;
use crate::script::Tool;
use crate::table::{Row, Section, Verdict};

pub fn section(findings: &Findings, peers: &Peers) -> Option<Section> {
    let ours = |count: usize| {
        findings.with(Tool::Read).into_iter().find(|growth| growth.count == count).map(|growth| growth.cost().cpu)
    };
    let compared = |theirs: f64, ours: Option<f64>| match ours {
        Some(ours) => format!("{} ({})", figure(theirs), times(theirs / ours)),
        None => figure(theirs),
    };
    let mut rows = Vec::new();
    for peer in peers.each() {
        let said = [
            peer.cpu_ms_20.map(|theirs| format!("20 steps: {} CPU ms per step", compared(theirs, ours(20)))),
            peer.cpu_ms_100.map(|theirs| format!("100 steps: {}", compared(theirs, ours(100)))),
            peer.cpu_ms_at_400.map(|theirs| {
                let longest = findings.with(Tool::Read).into_iter().rfind(|growth| growth.count >= 400);
                format!("at step 400: {}", compared(theirs, longest.map(|growth| growth.marginal(400))))
            }),
            peer.start_ms.map(|theirs| {
                format!("start {} ms", compared(theirs, findings.start.as_ref().map(|starts| starts.later.wall_ms)))
            }),
            peer.together.map(|(agents, wall, cpu, memory)| {
                let per_agent =
                    findings.agents.as_ref().map(|beside| beside.windlass.cpu_s / beside.count as f64 * agents as f64);
                format!(
                    "{agents} agents: wall {} s, CPU {} s, {} KB each",
                    figure(wall),
                    compared(cpu, per_agent),
                    figure(memory)
                )
            }),
        ];
        let said: Vec<String> = said.into_iter().flatten().collect();
        rows.push(Row::new(peer.name, String::new(), said.join("; "), &aims::NONE, Verdict::NotJudged));
    }
    let notes = vec!["In brackets: how many times what Windlass needed in this very run, durable.".to_owned()];
    (!rows.is_empty()).then_some(Section { title: "The peers, measured in the same run", rows, notes })
}
