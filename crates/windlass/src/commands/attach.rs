//! `windlass attach [EXECUTION|TASK]`: the screen of an agent that another process runs, seen and typed into.

use tokio::net::UnixStream;
use windlass_adapters::Screens;
use windlass_domain::ExecutionId;
use windlass_engine::Engine;

use super::find::{find, find_execution};
use crate::arguments;
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::keyboard::Keyboard;
use crate::screens::{Left, recording, sit};
use crate::show::{Line, Screen};
use crate::wiring::Windlass;

pub async fn attach(arguments: arguments::Attach) -> anyhow::Result<Exit> {
    let windlass = Windlass::open(Config::look()?).await?;
    attachable()?;
    let (name, stream) = match &arguments.id {
        Some(id) => named(&windlass, id).await?,
        None => only(&windlass.screens).await?,
    };
    tell_left(&sit(stream, &windlass.runtime).await?, &name);
    Ok(Exit::Completed)
}

pub fn attachable() -> Result<(), WrongUse> {
    match Keyboard::look() {
        Some(_) => Ok(()),
        None => Err(WrongUse::new("`windlass attach` needs a terminal")
            .hint("without one, look at what was recorded: windlass replay ID")),
    }
}

pub fn tell_left(left: &Left, name: &str) {
    let how = match left {
        Left::Detached => format!("it goes on; to see it again: windlass attach {name}"),
        Left::Ended(how) => format!("the agent's program has ended: {how}; to see it again: windlass replay {name}"),
        Left::Lost => format!("the process that ran it is gone; what it showed: windlass replay {name}"),
    };
    Screen::new().print(&Line::new().dim(how));
}

/// None of those that are meant is open.
pub fn closed(id: &str, is_recorded: bool) -> WrongUse {
    let closed = WrongUse::new(format!("no terminal of `{id}` is open"));
    match is_recorded {
        true => closed.hint(format!("it was recorded: windlass replay {id}")),
        false => closed.hint("only what was begun with `windlass run --terminal` has one"),
    }
}

/// Where only one is open nobody has to name it.
pub fn only_one<T>(mut open: Vec<(String, T)>) -> Result<(String, T), WrongUse> {
    let listed: String = open.iter().map(|(name, _)| format!("\n  {name}")).collect();
    match (open.pop(), open.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) => Err(WrongUse::new("no terminal is open")
            .hint("`windlass run --agent ID --terminal \"…\"` opens one; what was recorded: windlass replay ID")),
        (Some(_), false) => {
            Err(WrongUse::new(format!("several terminals are open:{listed}")).hint("name one: windlass attach ID"))
        }
    }
}

/// The executions that an id may stand for, newest first: one itself, or those of a task and of all who work for it.
pub async fn meant(engine: &Engine, id: &str) -> anyhow::Result<Vec<ExecutionId>> {
    if let Some(execution) = find_execution(engine, id).await? {
        return Ok(vec![execution]);
    }
    let task = find(engine, id).await?;
    let mut executions = Vec::new();
    for member in engine.members(task).await? {
        executions.extend(engine.task(member).await?.attempts.iter().map(|attempt| attempt.execution_id));
    }
    executions.sort_by_key(|execution| std::cmp::Reverse(execution.to_string()));
    Ok(executions)
}

async fn named(windlass: &Windlass, id: &str) -> anyhow::Result<(String, UnixStream)> {
    let screens = &windlass.screens;
    let meant = meant(&windlass.engine, id).await?;
    for execution in &meant {
        if let Some(stream) = screens.sockets.connect(&execution.to_string()).await? {
            return Ok((execution.to_string(), stream));
        }
    }
    Err(closed(id, meant.iter().any(|execution| recording(screens, *execution).is_some())).into())
}

async fn only(screens: &Screens) -> anyhow::Result<(String, UnixStream)> {
    let mut open = Vec::new();
    for name in screens.sockets.names()? {
        if let Some(stream) = screens.sockets.connect(&name).await? {
            open.push((name, stream));
        }
    }
    Ok(only_one(open)?)
}
