//! `windlass start [TASK]`: begins what was agreed on, or goes on with it after a stop. Whoever starts it approves the graph and the
//! worst case that was shown. From elsewhere the same is done in two steps: it is looked at, and begun as it was seen.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_domain::approval::{Card, RiskLevel, Strength};
use windlass_domain::task::Deadline;
use windlass_domain::{Runtime, TaskId};
use windlass_engine::Started;

use super::agreement::agreed_sheet;
use super::drive::explain;
use super::find::{find, objective_meant};
use super::load::load_to_work;
use super::redirect::is_meant;
use super::resume::go_on;
use crate::arguments::{self, DeadlineChoice};
use crate::exit::{Exit, WrongUse};
use crate::show::Sheet;
use crate::wiring::Windlass;

const REACHES: &str = "It may reach services beyond the folder. Begin? [y/N] ";
pub const BEGUN_BEFORE: &str = "it was begun before, and goes on";

pub async fn start(arguments: arguments::Start) -> anyhow::Result<Exit> {
    let config = load_to_work().await?;
    let windlass = Windlass::open_to_work(config.clone()).await?;
    let task = match &arguments.task {
        Some(named) => find(&windlass.engine, named).await?,
        None => objective_meant(&windlass.engine, Path::new(".")).await?,
    };
    let deadline = arguments.deadline.meant(windlass.runtime.wall())?;
    let shown = windlass.engine.agreed(task, deadline).await.map_err(explain)?;
    if let (Some(card), false) = (&shown, arguments.output.json) {
        agreed_sheet(card).show();
    }
    let Some(strength) = meant_with(windlass.runtime.as_ref(), shown.as_ref(), arguments.yes).await? else {
        windlass.engine.close().await?;
        return Ok(Exit::Stopped);
    };
    let remark = match begun(&windlass, task, shown.as_ref(), (strength, deadline)).await? {
        Started::Now => None,
        Started::Before => Some(BEGUN_BEFORE),
    };
    go_on(&windlass, &config, (task, remark), arguments.output).await
}

/// How much whoever was shown it means it; none where they do not.
pub async fn meant_with(runtime: &dyn Runtime, shown: Option<&Card>, yes: bool) -> anyhow::Result<Option<Strength>> {
    match shown.is_some_and(|card| card.risk_level >= RiskLevel::High) {
        false => Ok(Some(Strength::Explicit)),
        true if yes || is_meant(runtime, REACHES).await? => Ok(Some(Strength::Confirmed)),
        true => Ok(None),
    }
}

async fn begun(
    windlass: &Windlass,
    task: TaskId,
    shown: Option<&Card>,
    signed: (Strength, Option<Deadline>),
) -> anyhow::Result<Started> {
    let key = windlass.keys.owner().map_err(WrongUse::from)?;
    windlass.engine.start(task, &key, shown, signed).await.map_err(explain)
}

/// What is to begin, as somebody elsewhere says it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Beginning {
    pub task: TaskId,
    pub shown: Option<Card>,
    pub deadline: DeadlineChoice,
    pub strength: Strength,
}

/// What whoever is about to begin it must know.
#[derive(Debug, Serialize, Deserialize)]
pub struct ToBegin {
    pub task: TaskId,
    pub card: Option<Card>,
    /// At a certain time, whatever the clocks between here and there say.
    pub deadline: DeadlineChoice,
}

pub async fn to_begin(windlass: &Windlass, named: Option<&str>, deadline: DeadlineChoice) -> anyhow::Result<Sheet> {
    let task = match named {
        Some(named) => find(&windlass.engine, named).await?,
        None => objective_meant(&windlass.engine, Path::new("")).await?,
    };
    let at = deadline.meant(windlass.runtime.wall())?;
    let card = windlass.engine.agreed(task, at).await.map_err(explain)?;
    let mut sheet = card.as_ref().map(agreed_sheet).unwrap_or_default();
    let deadline = DeadlineChoice { deadline: at.map(|deadline| deadline.at.to_rfc3339()), ..deadline };
    sheet.object(&ToBegin { task, card, deadline });
    Ok(sheet)
}

/// Whether it was begun before.
pub async fn begin(windlass: &Windlass, beginning: Beginning) -> anyhow::Result<Sheet> {
    let Beginning { task, shown, deadline, strength } = beginning;
    let deadline = deadline.meant(windlass.runtime.wall())?;
    let started = begun(windlass, task, shown.as_ref(), (strength, deadline)).await?;
    windlass.engine.ask_to_go_on(task).await.map_err(explain)?;
    let mut sheet = Sheet::new();
    sheet.object(&json!({"before": started == Started::Before}));
    Ok(sheet)
}
