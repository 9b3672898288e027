//! `windlass resume [TASK]`: goes on with what was paused or cut off, with the model, script and limits it was started with.

use super::drive::drive;
use super::find::{find, newest_unfinished};
use crate::arguments;
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::show::teller;
use crate::wiring::Windlass;

pub async fn resume(arguments: arguments::Resume) -> anyhow::Result<Exit> {
    let windlass = Windlass::open(Config::load()?)?;
    let task = match &arguments.task {
        Some(named) => find(&windlass.engine, named).await?,
        None => newest_unfinished(&windlass.engine).await?,
    };
    if windlass.engine.task(task).await?.is_over() {
        return Err(WrongUse::new(format!("task {} has already ended", task.short()))
            .hint(format!("`windlass log {}` shows how", task.short()))
            .into());
    }
    let teller = teller(arguments.output);
    teller.so_far(&windlass.engine.story(task).await?);
    drive(&windlass, task, teller).await
}
