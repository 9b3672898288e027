//! `windlass start [TASK]`: begins what was agreed on, or goes on with it after a stop. Whoever starts it approves the graph and the
//! worst case that was shown.

use std::path::Path;

use windlass_domain::approval::{RiskLevel, Strength};
use windlass_engine::Started;

use super::align::show;
use super::drive::explain;
use super::find::{find, objective_meant};
use super::load::load_to_work;
use super::redirect::is_meant;
use super::resume::go_on;
use crate::arguments;
use crate::exit::{Exit, WrongUse};
use crate::wiring::Windlass;

const REACHES: &str = "It may reach services beyond the folder. Begin? [y/N] ";

pub async fn start(arguments: arguments::Start) -> anyhow::Result<Exit> {
    let config = load_to_work().await?;
    let windlass = Windlass::open_to_work(config.clone()).await?;
    let task = match &arguments.task {
        Some(named) => find(&windlass.engine, named).await?,
        None => objective_meant(&windlass.engine, Path::new(".")).await?,
    };
    let key = windlass.keys.owner().map_err(WrongUse::from)?;
    let shown = windlass.engine.agreed(task).await.map_err(explain)?;
    let mut strength = Strength::Explicit;
    if let Some(card) = &shown {
        if !arguments.output.json {
            show(card);
        }
        if card.risk_level >= RiskLevel::High {
            if !arguments.yes && !is_meant(&windlass, REACHES).await? {
                windlass.engine.close().await?;
                return Ok(Exit::Stopped);
            }
            strength = Strength::Confirmed;
        }
    }
    let remark = match windlass.engine.start(task, &key, shown.as_ref(), strength).await.map_err(explain)? {
        Started::Now => None,
        Started::Before => Some("it was begun before, and goes on"),
    };
    go_on(&windlass, &config, (task, remark), arguments.output).await
}
