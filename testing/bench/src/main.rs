//! The benchmark: what Windlass costs on this machine, beside what the machine itself, a bare loop and the peers cost. It
//! measures and prints; it asserts nothing, and no test runs it.
//!
//! `windlass-bench` prints the table; `--write` also keeps it in `docs/benchmarks.md`. What is measured runs in a process of
//! its own: the release binary, or this program again as one of its parts.

mod aims;
mod arguments;
mod client;
mod endpoint;
mod figures;
mod house;
mod machine;
mod measure;
mod peers;
mod process;
mod program;
mod report;
mod script;
mod server;
mod service;
mod table;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::{Arguments, Part};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.part {
        Some(Part::Floor(floor)) => measure::floor::run(&floor),
        Some(Part::Agents(agents)) => measure::agents::run(&agents),
        Some(Part::Sandboxes(sandboxes)) => measure::sandboxes::run(&sandboxes),
        Some(Part::Commits(commits)) => measure::commits::run(&commits),
        Some(Part::Queues(queues)) => measure::queues::run(&queues),
        Some(Part::Law) => measure::law::run(),
        Some(Part::Parked(parked)) => measure::parked::run(&parked),
        Some(Part::Worktrees(worktrees)) => measure::worktrees::run(&worktrees),
        Some(Part::Plans(plans)) => measure::plans::run(&plans),
        Some(Part::Graphs(graphs)) => measure::graphs::run(&graphs),
        Some(Part::Ways(ways)) => measure::ways::run(&ways),
        Some(Part::Gateway) => measure::gateway::run(),
        Some(Part::Observations(observations)) => measure::observations::run(&observations),
        Some(Part::Replay(replay)) => measure::replay::run(&replay),
        Some(Part::Terminals(terminals)) => measure::terminals::run(&terminals),
        Some(Part::Service(service)) => measure::service::run(&service),
        None => program::run(&arguments.options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "a benchmark talks to whoever ran it")]
            {
                eprintln!("bench: {error:#}");
            }
            ExitCode::FAILURE
        }
    }
}
