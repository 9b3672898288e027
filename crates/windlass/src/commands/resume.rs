//! `windlass resume [TASK]`: goes on with what was paused or cut off, with the model, script and limits it was started with.

use std::path::Path;

use windlass_domain::TaskId;
use windlass_domain::task::ModelChoice;
use windlass_engine::Error;

use super::agreement::{agreed_sheet, tell_how_to_begin};
use super::drive::{Before, drive, explain};
use super::find::{find, newest_unfinished, whole};
use super::load::load_to_work;
use crate::arguments;
use crate::config::Config;
use crate::equipment::{Wire, wrong_door};
use crate::exit::{Exit, WrongUse};
use crate::place;
use crate::show::teller;
use crate::wiring::Windlass;

pub async fn resume(arguments: arguments::Resume) -> anyhow::Result<Exit> {
    let config = load_to_work().await?;
    let windlass = Windlass::open_to_work(config.clone()).await?;
    let named = match &arguments.task {
        Some(named) => find(&windlass.engine, named).await?,
        None => newest_unfinished(&windlass.engine).await?,
    };
    let (task, part) = whole(&windlass.engine, named).await?;
    let remark = part.map(|part| format!("task {} is {part}, which is gone on with as a whole", named.short()));
    let exit = go_on(&windlass, &config, (task, remark.as_deref()), arguments.output).await?;
    // Nobody has seen what was agreed on while it was asked about.
    if let (false, Some(card)) = (arguments.output.json, windlass.engine.agreed(task, None).await.map_err(explain)?) {
        agreed_sheet(&card).show();
        tell_how_to_begin(task);
    }
    Ok(exit)
}

/// Works on a task that was begun before, here, with a remark of the program's own where there is something to say.
pub(super) async fn go_on(
    windlass: &Windlass,
    config: &Config,
    (task, remark): (TaskId, Option<&str>),
    output: arguments::Output,
) -> anyhow::Result<Exit> {
    let state = windlass.engine.task(task).await.map_err(explain)?;
    if let Some(created) = &state.created {
        same_door(&created.model, config)?;
        if !Path::new(&created.workspace).is_dir() && !state.is_over() {
            return Err(WrongUse::new(format!(
                "the workspace {} of task {} is not there",
                created.workspace,
                task.short()
            ))
            .hint("bring it back, or cancel the task")
            .into());
        }
        if !state.is_over() {
            place::workspace(Path::new(&created.workspace), config)?;
        }
    }
    if state.is_over() {
        return Err(WrongUse::new(format!("task {} has already ended", task.short()))
            .hint(format!("`windlass log {}` shows how", task.short()))
            .into());
    }
    // Before a story is told that this process may not go on with.
    for member in windlass.engine.members(task).await.map_err(explain)? {
        windlass.engine.nobody_drives(member).await.map_err(|error| match error {
            Error::HeldElsewhere { host, pid, .. } => explain(Error::HeldElsewhere { task, host, pid }),
            other => explain(other),
        })?;
    }
    windlass.engine.note_going_on(task).await.map_err(explain)?;
    let teller = teller(output);
    if let Some(remark) = remark {
        teller.remark(remark);
    }
    drive(windlass, task, teller, Before::SoFar).await
}

/// A conversation goes on where it was begun: another server is another company, and is never chosen silently.
fn same_door(model: &ModelChoice, config: &Config) -> Result<(), WrongUse> {
    let (begun_at, door, wire, variable) = match model {
        ModelChoice::Rehearsal { .. } => return Ok(()),
        ModelChoice::OpenAi { base_url, .. } => (base_url, &config.openai, Wire::OpenAi, "LITELLM_API_BASE"),
        ModelChoice::OpenAiResponses { base_url, .. } => {
            (base_url, &config.openai, Wire::Responses, "LITELLM_API_BASE")
        }
        ModelChoice::Anthropic { base_url, .. } => (base_url, &config.anthropic, Wire::Anthropic, "ANTHROPIC_BASE_URL"),
    };
    let elsewhere = |configured: &str| {
        WrongUse::new(format!("this task was begun with the model server {begun_at}, and {configured} is configured"))
            .hint(format!("set {variable}={begun_at}"))
    };
    if door.base_url.is_empty() {
        return Err(elsewhere("none"));
    }
    wrong_door(wire, door)?;
    if *begun_at == door.base_url { Ok(()) } else { Err(elsewhere(door.address())) }
}
