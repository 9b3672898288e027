//! `windlass explain [TASK] [ATOM]`: why a planned task does what it does; or one item of its plan.

use windlass_domain::graph::Node;
use windlass_domain::plan::AtomId;

use super::planned_task::{learn, planned_task};
use crate::arguments;
use crate::exit::WrongUse;
use crate::explain::{Known, atom_as_json, atom_in_lines, whole_as_json, whole_in_lines};
use crate::show::Sheet;
use crate::wiring::Windlass;

pub async fn explain(windlass: &Windlass, arguments: &arguments::Explain) -> anyhow::Result<Sheet> {
    let mut known = planned_task(windlass, arguments.task.as_deref()).await?;
    let json = arguments.output.json;
    let mut sheet = Sheet::new();
    let Some(named) = &arguments.atom else {
        match json {
            true => sheet.object(&whole_as_json(&known)),
            false => whole_in_lines(&known).iter().for_each(|line| sheet.print(line)),
        }
        return Ok(sheet);
    };
    let atom = meant(&known, named)?;
    let runs = known.chronicle.graph.progress(&atom).into_iter().flat_map(|progress| &progress.runs);
    let runs: Vec<_> = runs.map(|run| run.task).collect();
    learn(&windlass.engine, &mut known, &runs).await?;
    let node = known.chronicle.graph.work.find(&atom).ok_or_else(|| no_such(&known, named))?;
    match json {
        true => sheet.object(&atom_as_json(&known, node)),
        false => atom_in_lines(&known, node).iter().for_each(|line| sheet.print(line)),
    }
    Ok(sheet)
}

/// The whole of an id, or the beginning of one.
fn meant(known: &Known, named: &str) -> Result<AtomId, WrongUse> {
    let ids: Vec<&AtomId> = known.chronicle.graph.work.nodes().iter().map(Node::id).collect();
    if let Some(exact) = ids.iter().find(|id| id.as_str() == named) {
        return Ok((*exact).clone());
    }
    let mut begin = ids.into_iter().filter(|id| id.as_str().starts_with(named));
    match (begin.next(), begin.next()) {
        (Some(one), None) => Ok(one.clone()),
        (Some(one), Some(other)) => {
            Err(WrongUse::new(format!("`{named}` may be {one} or {other}")).hint("give more of the id"))
        }
        (None, _) => Err(no_such(known, named)),
    }
}

fn no_such(known: &Known, named: &str) -> WrongUse {
    WrongUse::new(format!("the plan of task {} has no item `{named}`", known.task.short()))
        .hint(format!("`windlass graph {} --all` shows them", known.task.short()))
}
