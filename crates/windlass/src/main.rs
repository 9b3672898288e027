//! The `windlass` program: reads the command line and the operator's configuration, wires the crates together, and ends
//! with a number that says how it went.

mod agents;
mod arguments;
mod attach;
mod browser;
mod collecting;
mod commands;
mod compaction;
mod config;
mod container;
mod coordinator;
mod delegation;
mod desktop;
mod disk;
mod draw;
mod elsewhere;
mod equipment;
mod exit;
mod explain;
mod heads;
mod interrupts;
mod keyboard;
mod keys;
mod law;
mod limits;
mod machine;
mod mcp;
mod moment;
mod network;
mod observing;
mod open_files;
mod page;
mod patterns;
mod place;
mod redis;
mod remembered;
mod retention;
mod screens;
mod secrets;
mod services;
mod serving;
mod show;
mod skills;
mod standard_streams;
mod stands;
mod stores;
mod text_file;
mod tokens;
mod top;
mod tripwire;
mod wiring;

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser;
use windlass_runtime::{Threads, TokioRuntime};

use crate::arguments::{Arguments, Command, Elsewhere, Gates, GoalsCommand, Trace};
use crate::commands::Errand;
use crate::elsewhere::Carried;
use crate::exit::{Exit, WrongUse};
use crate::show::{Trouble, complain, output};

fn main() -> ExitCode {
    // The supervisor starts once for every sandbox: it goes before everything that takes time.
    if std::env::args_os().nth(1).is_some_and(|word| word == "__supervise") {
        return windlass_sandbox::supervise();
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(answer) => return explain_usage(&answer),
    };
    match run(arguments) {
        Ok(exit) => exit.into(),
        Err(error) => {
            let wrong_use = error.downcast_ref::<WrongUse>();
            complain(&error, wrong_use.and_then(|wrong| wrong.hint.as_deref()));
            if wrong_use.is_some() { Exit::WrongUse } else { Exit::Failed }.into()
        }
    }
}

fn run(Arguments { elsewhere, command }: Arguments) -> anyhow::Result<Exit> {
    let threads = match command {
        Command::Rehearse(_) | Command::Serve(_) => Threads::PerCore,
        _ => Threads::One,
    };
    let runtime = windlass_runtime::executor(threads)?;
    let (exit, told) = runtime.block_on(async {
        let exit = carried_out(&elsewhere, command).await;
        (exit, output().settle(&TokioRuntime::current()).await)
    });
    // A reader that nobody waits for must not hold up the end.
    runtime.shutdown_background();
    match (exit, told) {
        (Ok(exit), Err(trouble)) if trouble != Trouble::Gone => Ok(unheard(exit, trouble)),
        (exit, _) => exit,
    }
}

/// There, if a server is named, and otherwise here: nobody else decides it.
async fn carried_out(typed: &Elsewhere, command: Command) -> anyhow::Result<Exit> {
    match elsewhere::far(typed)? {
        None => Box::pin(here(command)).await,
        Some(far) => match Box::pin(elsewhere::carry_out(&far, command)).await? {
            Carried::Out(exit) => Ok(exit),
            Carried::Here(command) => Box::pin(here(command)).await,
        },
    }
}

async fn here(command: Command) -> anyhow::Result<Exit> {
    match command {
        Command::Run(arguments) => commands::run(*arguments).await,
        Command::Say(arguments) => Box::pin(commands::say(*arguments)).await,
        Command::Demo(arguments) => Box::pin(commands::demo(arguments)).await,
        Command::Attach(arguments) => Box::pin(commands::attach(arguments)).await,
        Command::Replay(arguments) => Box::pin(commands::replay(arguments)).await,
        Command::Goals(GoalsCommand::Add(arguments)) => Box::pin(commands::goals_add(arguments)).await,
        Command::Goals(GoalsCommand::Run(arguments)) => Box::pin(commands::goals_run(&arguments)).await,
        Command::Log(arguments) => commands::log(arguments).await,
        Command::Top(arguments) => Box::pin(commands::top(arguments, None)).await,
        Command::Trace(Trace::Open(arguments)) => commands::trace_open(arguments).await,
        Command::Align(arguments) => Box::pin(commands::align(*arguments)).await,
        Command::Start(arguments) => Box::pin(commands::start(arguments)).await,
        Command::Redirect(arguments) => Box::pin(commands::redirect(*arguments)).await,
        Command::Resume(arguments) => commands::resume(arguments).await,
        Command::Approve(arguments) => commands::approve(arguments).await,
        Command::Fork(arguments) => commands::fork(*arguments).await,
        Command::Worker(arguments) => Box::pin(commands::worker(arguments)).await,
        Command::Serve(arguments) => Box::pin(commands::serve(arguments)).await,
        Command::Token(arguments) => commands::token(&arguments),
        Command::Keys(arguments) => commands::keys(&arguments),
        Command::Plan(arguments) => commands::plan(*arguments).await,
        Command::Gates(Gates::List(arguments)) => commands::gates_list(arguments),
        Command::Gates(Gates::Test(arguments)) => commands::gates_test(arguments).await,
        Command::Agent(arguments) => commands::agent(arguments).await,
        Command::Skills(arguments) => commands::skills(arguments).await,
        Command::Patterns(arguments) => commands::patterns(arguments).await,
        Command::Mcp(arguments) => commands::mcp(arguments).await,
        Command::Store(arguments) => commands::store(arguments).await,
        Command::Doctor(arguments) => commands::doctor(arguments).await,
        Command::Rehearse(arguments) => commands::rehearse(arguments).await,
        short => Box::pin(commands::errand(Errand::of(short)?)).await,
    }
}

/// What was to be said was not, which is itself a failure; but how a task ended otherwise is still told by the exit code.
fn unheard(exit: Exit, trouble: Trouble) -> Exit {
    let hint = matches!(trouble, Trouble::Unread(_) | Trouble::Overrun(_)).then_some("`windlass log` has all of it");
    complain(&trouble.into(), hint);
    if exit == Exit::Completed { Exit::Failed } else { exit }
}

/// Help that was asked for, or what is wrong with the command line.
fn explain_usage(answer: &clap::Error) -> ExitCode {
    let told = answer.print().and_then(|()| std::io::stdout().flush());
    match told {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            complain(&Trouble::Failed(error.to_string()).into(), None);
            Exit::Failed.into()
        }
        _ if answer.use_stderr() => Exit::WrongUse.into(),
        _ => Exit::Completed.into(),
    }
}
