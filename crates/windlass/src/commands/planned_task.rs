//! The planned task that somebody wants to look at, with everything its records tell; the task it is a part of, where it is a part.

use std::collections::BTreeMap;

use windlass_domain::TaskId;
use windlass_domain::graph::{Bill, Chronicle};
use windlass_engine::{Engine, Error};

use super::drive::explain;
use super::find::{find, whole};
use crate::exit::WrongUse;
use crate::explain::{Bound, Known};
use crate::wiring::Windlass;

pub async fn planned_task(windlass: &Windlass, named: Option<&str>) -> anyhow::Result<Known> {
    let engine = &windlass.engine;
    let task = match named {
        Some(named) => whole(engine, find(engine, named).await?).await?.0,
        None => {
            let newest = engine.wholes(1).await?.first().map(|newest| newest.task_id);
            newest.ok_or_else(|| {
                WrongUse::new("there are no tasks yet")
                    .hint("`windlass align \"…\"` or `windlass plan \"…\"` makes one")
            })?
        }
    };
    known_of(engine, task).await
}

/// The same of a task that is nobody's part.
pub async fn known_of(engine: &Engine, task: TaskId) -> anyhow::Result<Known> {
    let state = engine.task(task).await.map_err(explain)?;
    if !state.created.as_ref().is_some_and(|created| created.planned) {
        let told = format!("task {} has no plan: one agent works on all of it", task.short());
        let hint = format!(
            "`windlass log {}` tells what it does; tasks of `windlass align`, `windlass plan` and `run --plan` have one",
            task.short()
        );
        return Err(WrongUse::new(told).hint(hint).into());
    }
    let records = engine.graph_records(task).await?;
    let chronicle = Chronicle::of(records.iter().map(|(at, event)| (*at, event)));
    let runs = chronicle.graph.running();
    let is_driven = engine.is_driven(task).await?;
    let stands = engine.how_it_stands(task, &state).await?;
    let mut present = BTreeMap::new();
    for run in &runs {
        present.insert(*run, engine.standing_of_part(*run, stands).await?);
    }
    let unbilled = unbilled(engine, task, &chronicle).await?;
    let mut known =
        Known { task, state, stands, is_driven, records, chronicle, runs: BTreeMap::new(), unbilled, present };
    learn(engine, &mut known, &runs).await?;
    Ok(known)
}

/// What an objective promised, and what it used; nothing where there is none.
pub async fn bound(engine: &Engine, task: TaskId) -> Result<Option<Bound>, Error> {
    let records = engine.graph_records(task).await?;
    let chronicle = Chronicle::of(records.iter().map(|(at, event)| (*at, event)));
    if chronicle.graph.objective.is_none() {
        return Ok(None);
    }
    Ok(Bound::of(&chronicle, &unbilled(engine, task, &chronicle).await?))
}

async fn unbilled(engine: &Engine, task: TaskId, chronicle: &Chronicle) -> Result<Vec<Bill>, Error> {
    let members = engine.members(task).await?.into_iter().skip(1);
    let mut bills = Vec::new();
    for member in members.filter(|member| chronicle.is_unbilled(member)) {
        bills.push(engine.used_by(member).await?);
    }
    Ok(bills)
}

/// Also what is known of these.
pub async fn learn(engine: &Engine, known: &mut Known, runs: &[TaskId]) -> anyhow::Result<()> {
    for run in runs {
        known.runs.insert(*run, engine.task(*run).await?);
    }
    Ok(())
}

/// Where there is nothing to draw yet, and what to do about it.
pub fn no_plan_yet(known: &Known) -> WrongUse {
    let told = format!("task {} has no plan yet: nobody has written one", known.task.short());
    WrongUse::new(told).hint(format!("`windlass log --follow {}` tells when there is one", known.task.short()))
}
