//! What becomes of each command that is for a server. Those that belong to a machine say so in one sentence; those that are about no
//! data directory at all are carried out here.

use windlass_domain::TaskId;

use super::agent_test::agent_test;
use super::align::align;
use super::approve::approve;
use super::attach::attach;
use super::far::{Far, explained};
use super::fork::fork;
use super::goals::goals_add;
use super::log::log;
use super::ordered::{plan, resume, run};
use super::redirect::redirect;
use super::replay::replay;
use super::say::say;
use super::start::start;
use super::trace::trace;
use crate::arguments::{Agent, Command, Gates, GoalsCommand, Mcp, Patterns, Skills, Stop, Trace};
use crate::commands::{Errand, Wish, top};
use crate::exit::Exit;

/// What came of it.
pub enum Carried {
    Out(Exit),
    /// It is about no data directory, and to be carried out here.
    Here(Command),
}

pub async fn carry_out(far: &Far, command: Command) -> anyhow::Result<Carried> {
    let exit = match command {
        Command::Run(arguments) => Box::pin(run(far, *arguments)).await,
        Command::Plan(arguments) if arguments.action.is_none() => Box::pin(plan(far, *arguments)).await,
        Command::Say(arguments) => Box::pin(say(far, *arguments)).await,
        Command::Resume(arguments) => Box::pin(resume(far, arguments)).await,
        Command::Log(arguments) => Box::pin(log(far, arguments)).await,
        Command::Approve(arguments) => Box::pin(approve(far, arguments)).await,
        Command::Top(arguments) => Box::pin(top(arguments, Some(far))).await,
        Command::Align(arguments) => Box::pin(align(far, *arguments)).await,
        Command::Start(arguments) => Box::pin(start(far, arguments)).await,
        Command::Redirect(arguments) => Box::pin(redirect(far, *arguments)).await,
        Command::Fork(arguments) => Box::pin(fork(far, *arguments)).await,
        Command::Goals(GoalsCommand::Add(arguments)) => Box::pin(goals_add(far, arguments)).await,
        Command::Goals(GoalsCommand::Run(named)) => Box::pin(far.errand(Errand::GoalsRun(named))).await,
        Command::Attach(arguments) => Box::pin(attach(far, arguments)).await,
        Command::Trace(Trace::Open(arguments)) => Box::pin(trace(far, arguments)).await,
        Command::Replay(arguments) => match Box::pin(replay(far, &arguments)).await? {
            Some(exit) => Ok(exit),
            None => return Ok(Carried::Here(Command::Replay(arguments))),
        },
        Command::Agent(Agent::Test(arguments)) => Box::pin(agent_test(far, arguments)).await,
        Command::Stop(arguments) => far.errand(Errand::Stop(named(far, Wish::Stop, arguments).await?)).await,
        Command::Pause(arguments) => far.errand(Errand::Pause(named(far, Wish::Pause, arguments).await?)).await,
        Command::Demo(_)
        | Command::Doctor(_)
        | Command::Rehearse(_)
        | Command::Plan(_)
        | Command::Mcp(Mcp::Bridge)
        | Command::Gates(Gates::Test(_))
        | Command::Patterns(Patterns::Check(_))
        | Command::Skills(Skills::Check(_)) => return Ok(Carried::Here(command)),
        other => Box::pin(far.errand(Errand::of(other)?)).await,
    };
    exit.map(Carried::Out)
}

/// A server does not know which folder somebody is in: where no task is named, the only one that is at work is meant.
async fn named(far: &Far, wish: Wish, arguments: Stop) -> anyhow::Result<Stop> {
    let task = match arguments.task {
        Some(named) => named,
        None => far.answer::<TaskId>(Errand::AtWork(wish)).await.map_err(explained)?.to_string(),
    };
    Ok(Stop { task: Some(task), ..arguments })
}
