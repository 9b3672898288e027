//! What an agent reads of the work that it is part of, in JSON: the objective and the plan of the whole, atoms and how they stand, what those
//! came to that it rests on, memos, and files of its workspace. Only what its own task is part of, and nothing is changed by it; that it was
//! read is recorded as any observation is.

use std::path::Path;

use serde_json::{Value, json};
use windlass_domain::execution::{ExecutionCommand, Observation, Observed, Source};
use windlass_domain::graph::{GraphState, Standing};
use windlass_domain::plan::{AtomId, Item};
use windlass_domain::task::Part;
use windlass_domain::{Holdings, Look, TaskId};
use windlass_workspace::{Root, WorkspacePath};

use super::execution_host::ExecutionHost;
use super::memos::{Reader, Search, search_memos};
use super::rider::Rider;
use crate::engine::Engine;
use crate::graph::{in_words, outline};

/// Of a file, whatever was asked for.
const MOST_BYTES: usize = 64 << 10;
const LARGEST_FILE: u64 = 64 << 20;

impl ExecutionHost {
    pub(super) fn held(&self) -> Holdings {
        let is_part = self.created.part_of.is_some();
        Holdings { objective: is_part, graph: self.own_atom().is_some(), plan: is_part }
    }

    fn own_atom(&self) -> Option<&AtomId> {
        match &self.created.part_of.as_ref()?.part {
            Part::Atom { atom, .. } | Part::Probe { atom } | Part::Split { atom } => Some(atom),
            _ => None,
        }
    }

    pub(super) async fn looked_at(&self, look: Look) -> Result<Value, String> {
        let found = self.find_out(&look).await?;
        let event_id = format!("read:{:032x}", self.shared.runtime.random());
        let text = format!("read {}", look.in_words());
        let observed = Observed { event_id, source: Source::Mcp, observation: Observation::Noticed { text } };
        let command = ExecutionCommand::Observe { observed: Box::new(observed), taint: self.taint() };
        self.commit(vec![command], Rider::default()).await.map_err(|refused| refused.to_string())?;
        Ok(found)
    }

    async fn find_out(&self, look: &Look) -> Result<Value, String> {
        match look {
            Look::Objective => Ok(objective(&self.whole().await?)),
            Look::Plan => {
                let plan = self.whole().await?.plan.ok_or("there is no plan yet")?;
                Ok(json!({ "plan": outline(&plan) }))
            }
            Look::Atom { atom } => {
                let named = atom.as_deref().or_else(|| self.own_atom().map(AtomId::as_str));
                let named = named.ok_or("you work on no atom: name one")?;
                atom_of(&self.whole().await?, named)
            }
            Look::Bindings => {
                let bindings = self.briefing.get().map(|briefing| briefing.bindings.clone()).unwrap_or_default();
                Ok(json!({ "bindings": bindings }))
            }
            Look::Memo { query, limit } => {
                let search = Search { query: query.clone(), most: *limit, reader: Reader::Foreign };
                let found = search_memos(&self.shared, &self.folder, search, &self.cancel).await?;
                Ok(json!({ "found": found }))
            }
            Look::Artifact { name, offset, limit } => {
                let (folder, name, from, most) = (self.folder.clone(), name.clone(), *offset, (*limit).min(MOST_BYTES));
                self.shared.blocking(move || part_of_file(&folder, &name, from, most)).await
            }
        }
    }

    async fn whole(&self) -> Result<GraphState, String> {
        let root: TaskId = self.created.part_of.as_ref().ok_or("this task is no part of a plan")?.root;
        let engine = Engine { shared: std::sync::Arc::clone(&self.shared) };
        engine.graph(root).await.map_err(|error| error.to_string())
    }
}

fn objective(graph: &GraphState) -> Value {
    let agreed = graph.objective.as_ref();
    json!({
        "goal": agreed.map_or_else(|| graph.plan.as_ref().map(|plan| plan.0.title.clone()), |agreed| Some(agreed.goal.clone())),
        "base_case": agreed.map(|agreed| agreed.base_case.0.iter().map(in_words).collect::<Vec<_>>()),
        "background_intent": agreed.map(|agreed| agreed.background_intent.clone()),
        "definition_of_done": agreed.map(|agreed| agreed.definition_of_done.clone()),
    })
}

fn atom_of(graph: &GraphState, named: &str) -> Result<Value, String> {
    let node = graph.work.nodes().iter().find(|node| node.id().as_str() == named);
    let node = node.ok_or_else(|| format!("there is no atom `{named}`"))?;
    let item: &Item = &node.item;
    Ok(json!({
        "id": item.id,
        "title": item.title,
        "what_to_do": item.briefing.what_to_do,
        "depends_on": item.depends_on,
        "verify": item.verify.0.iter().map(in_words).collect::<Vec<_>>(),
        "touches": item.touches.paths,
        "status": status(&node.standing),
    }))
}

const fn status(standing: &Standing) -> &'static str {
    match standing {
        Standing::Waiting | Standing::Ready => "pending",
        Standing::Running(_) | Standing::Probing(_) | Standing::Splitting(_) | Standing::Open | Standing::Joining => {
            "in_progress"
        }
        Standing::Resolved => "resolved",
        Standing::Stuck => "failed",
        Standing::Dropped => "dropped",
    }
}

fn part_of_file(folder: &Path, name: &str, from: usize, most: usize) -> Result<Value, String> {
    let root = Root::open(folder).map_err(|error| error.to_string())?;
    let path = WorkspacePath::parse(name).map_err(|error| error.to_string())?;
    let bytes = root.read(&path, LARGEST_FILE).map_err(|error| error.to_string())?;
    let from = from.min(bytes.len());
    let until = from.saturating_add(most).min(bytes.len());
    Ok(json!({
        "text": String::from_utf8_lossy(&bytes[from..until]),
        "bytes": bytes.len(),
        "next_offset": (until < bytes.len()).then_some(until),
    }))
}
