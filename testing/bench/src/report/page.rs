//! The whole page: where and when, then the tables.

use super::{
    Findings, agents, children, commits, console, foreign, gateway, graphs, law, long, parked, peers, plans, queues,
    sandboxes, service, start, steps, storage, terminals, ways, worktrees,
};
use crate::machine::Machine;
use crate::peers::Peers;
use crate::table::{Section, render};

pub fn page(machine: &Machine, findings: &Findings, peers: &Peers, real_time: bool) -> String {
    let sections: Vec<Section> = [
        steps::section(findings),
        storage::section(findings),
        findings.agents.as_ref().map(agents::section),
        long::section(&findings.long),
        findings.children.as_ref().map(children::section),
        findings.start.as_ref().map(start::section),
        findings.sandboxes.as_ref().map(sandboxes::section),
        findings.commits.as_ref().map(commits::section),
        findings.queues.as_ref().map(queues::section),
        findings.law.as_ref().map(law::section),
        findings.parked.as_ref().map(parked::section),
        findings.worktrees.as_ref().map(worktrees::section),
        findings.plans.as_ref().map(plans::section),
        graphs::section(&findings.graphs),
        findings.ways.as_ref().map(ways::section),
        findings.gateway.as_ref().map(gateway::section),
        foreign::section(findings),
        findings.terminals.as_ref().map(terminals::section),
        service::section(findings),
        findings.console.as_ref().map(console::section),
        peers::section(findings, peers),
    ]
    .into_iter()
    .flatten()
    .collect();
    let priority = match real_time {
        true => {
            " What was measured, and the model server, had real-time priority (`chrt -r 5`), because the machine was busy."
        }
        false => "",
    };
    format!(
        "# Benchmarks\n\n`make bench` prints this page, and of the console where it is built and a Chromium is \
         there; `make bench-write` also keeps it here. Compare ratios taken in one run, never times of two machines.\n\n{}.{priority}\n\n{}",
        machine.describe(),
        render(&sections).trim_end()
    ) + "\n"
}
