//! The `windlass` program: reads the command line and the operator's configuration, wires the crates together, and ends
//! with a number that says how it went.

mod arguments;
mod commands;
mod config;
mod equipment;
mod exit;
mod show;
mod tripwire;
mod wiring;

use std::process::ExitCode;

use clap::Parser;
use windlass_runtime::Threads;

use crate::arguments::{Arguments, Command};
use crate::exit::{Exit, WrongUse};
use crate::show::complain;

fn main() -> ExitCode {
    // The supervisor starts once for every sandbox: it goes before everything that takes time.
    if std::env::args_os().nth(1).is_some_and(|word| word == "__supervise") {
        return windlass_sandbox::supervise();
    }
    let arguments = Arguments::parse();
    match run(arguments.command) {
        Ok(exit) => exit.into(),
        Err(error) => {
            let wrong_use = error.downcast_ref::<WrongUse>();
            complain(&error, wrong_use.and_then(|wrong| wrong.hint.as_deref()));
            if wrong_use.is_some() { Exit::WrongUse } else { Exit::Failed }.into()
        }
    }
}

fn run(command: Command) -> anyhow::Result<Exit> {
    let threads = match command {
        Command::Rehearse(_) => Threads::PerCore,
        _ => Threads::One,
    };
    let runtime = windlass_runtime::executor(threads)?;
    let exit = runtime.block_on(async {
        match command {
            Command::Run(arguments) => commands::run(*arguments).await,
            Command::Demo(arguments) => commands::demo(arguments).await,
            Command::Status(arguments) => commands::status(arguments).await,
            Command::Log(arguments) => commands::log(arguments).await,
            Command::Resume(arguments) => commands::resume(arguments).await,
            Command::Cancel(arguments) => commands::cancel(arguments).await,
            Command::Doctor(arguments) => commands::doctor(arguments).await,
            Command::Rehearse(arguments) => commands::rehearse(arguments).await,
            Command::Supervise => Ok(Exit::WrongUse),
        }
    });
    // A reader that nobody waits for must not hold up the end.
    runtime.shutdown_background();
    exit
}
