//! The service, as a part of the benchmark: the clients are in this process, and the server is in one that it starts.

#![expect(clippy::print_stdout, reason = "its figures are read from its output")]

use crate::arguments::{Asked, Service};
use crate::measure::{creating, fan_out, injecting, many_tasks, workers};
use crate::process::Priority;
use crate::service::Setup;

pub fn run(options: &Service) -> anyhow::Result<()> {
    let setup = Setup {
        windlass: &options.windlass,
        workspace: &options.workspace,
        // It has what this process was given.
        priority: Priority::Normal,
        models: &options.server,
        store: None,
    };
    let scratch = &options.scratch;
    let figures = match options.asked {
        Asked::Tasks => serde_json::to_string(&many_tasks::measure(setup, scratch)?)?,
        Asked::Creating => serde_json::to_string(&creating::measure(setup, scratch)?)?,
        Asked::FanOut => serde_json::to_string(&fan_out::measure(setup, scratch)?)?,
        Asked::Injecting => serde_json::to_string(&injecting::measure(setup, scratch)?)?,
        Asked::Workers => serde_json::to_string(&workers::measure(setup, scratch)?)?,
    };
    println!("{figures}");
    Ok(())
}
