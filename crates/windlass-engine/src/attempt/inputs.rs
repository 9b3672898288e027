//! What an item is given of what others delivered: files in `.inputs/` of its folder, of the items it names and of no others, and of
//! the earlier plan that it follows. Which those are is found in the tenant's own journals, never by looking through folders.

use std::path::{Path, PathBuf};

use windlass_domain::graph::{AtomEnded, AtomOutcome, GraphState};
use windlass_domain::plan::{AtomId, Item, Plan};
use windlass_domain::{Taint, TaskId};
use windlass_workspace::INPUTS_FOLDER;

use crate::Error;
use crate::engine::Engine;
use crate::worktrees::{Input, Worktrees};

/// Of an earlier plan that is named by its id, so far back is it looked for.
const MOST_EARLIER: usize = 1_000;
/// Names that are told; all are there to be listed.
const MOST_NAMES: usize = 20;

/// Files of one item.
#[derive(Debug, Clone)]
pub(super) struct Given {
    /// Below `.inputs/`.
    pub place: String,
    pub from: PathBuf,
    pub taint: Taint,
}

impl Given {
    pub fn input(&self) -> Input {
        Input { from: self.from.clone(), place: self.path() }
    }

    /// In the folder of the item that is given them.
    pub fn path(&self) -> String {
        format!("{INPUTS_FOLDER}/{}", self.place)
    }

    /// For whoever works with them. `None`: nothing was delivered.
    pub fn told(&self) -> Option<String> {
        let mut names = Vec::new();
        let total = list(&self.from, "", &mut names);
        names.sort();
        let more = if total > names.len() { format!(", and {} more", total - names.len()) } else { String::new() };
        (total > 0).then(|| format!("files for you to read are in `{}/`: {}{more}", self.path(), names.join(", ")))
    }
}

/// How many files there are, the first of them by name.
fn list(folder: &Path, below: &str, names: &mut Vec<String>) -> usize {
    let mut total = 0;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let name = format!("{below}{}", entry.file_name().to_string_lossy().escape_debug());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            total += list(&entry.path(), &format!("{name}/"), names);
            continue;
        }
        total += 1;
        if names.len() < MOST_NAMES {
            names.push(format!("`{name}`"));
        }
    }
    total
}

impl Engine {
    /// What `atom` is given, as it stands now.
    pub(super) async fn inputs_of(&self, root: TaskId, graph: &GraphState, atom: &AtomId) -> Result<Vec<Given>, Error> {
        let worktrees = Worktrees::new(&self.shared.data_dir);
        let Some(plan) = &graph.plan else { return Ok(Vec::new()) };
        let mut given = Vec::new();
        for item in named(plan, atom) {
            given.extend(delivered(graph, item).map(|ended| ended_at(&worktrees, plan, ended, String::new())));
        }
        for earlier in plan.earlier(atom) {
            let Some(task) = self.earlier_plan(root, earlier).await? else { continue };
            let graph = self.graph(task).await?;
            let Some(plan) = &graph.plan else { continue };
            let place = format!("earlier.{earlier}/");
            for ended in plan.0.all().into_iter().filter_map(|item| delivered(&graph, item)) {
                let mut of_item = ended_at(&worktrees, plan, ended, place.clone());
                of_item.taint = of_item.taint.join(graph.taint());
                given.push(of_item);
            }
        }
        Ok(given)
    }

    /// By its task's id, or the newest before this one whose plan has that id.
    pub(crate) async fn earlier_plan(&self, not: TaskId, named: &str) -> Result<Option<TaskId>, Error> {
        if let Ok(task) = named.parse::<TaskId>() {
            let is_planned = match self.task(task).await {
                Ok(state) => state.created.is_some_and(|created| created.planned),
                Err(Error::NoSuchTask(_)) => false,
                Err(error) => return Err(error),
            };
            return Ok(is_planned.then_some(task));
        }
        let heads = self.shared.store.streams(&self.shared.tenant, "graph", None, MOST_EARLIER).await?;
        for task in heads.iter().filter_map(|head| head.stream.id().parse::<TaskId>().ok()) {
            let plan = self.graph(task).await?.plan;
            if task < not && plan.is_some_and(|Plan(root)| root.id.as_str() == named) {
                return Ok(Some(task));
            }
        }
        Ok(None)
    }
}

/// The items whose deliverables `atom` is given: those that it names, what they hold, and whichever choice of a group was made.
fn named<'a>(plan: &'a Plan, atom: &AtomId) -> Vec<&'a Item> {
    let all = plan.0.all();
    let mut found = Vec::new();
    for name in plan.inputs(atom) {
        let item = all.iter().find(|item| item.id == *name);
        let group = item.map_or(Some(name), |item| item.any_of.as_ref());
        let is_meant = |item: &&&Item| item.id == *name || (group.is_some() && item.any_of.as_ref() == group);
        found.extend(all.iter().filter(is_meant).flat_map(|item| item.all()));
    }
    found.sort_by(|one, other| one.id.cmp(&other.id));
    found.dedup_by(|one, other| one.id == other.id);
    found
}

/// How an item that is done ended.
fn delivered<'a>(graph: &'a GraphState, item: &Item) -> Option<&'a AtomEnded> {
    // What a way left that was given up is handed to nobody.
    let run = graph.progress(&item.id)?.runs.last().filter(|run| !run.is_void)?;
    let ended = run.ended.as_ref()?;
    matches!(ended.outcome, AtomOutcome::Resolved { .. }).then_some(ended)
}

/// What its last attempt left, which is the one that was merged.
fn ended_at(worktrees: &Worktrees, plan: &Plan, ended: &AtomEnded, place: String) -> Given {
    let from = worktrees.artifacts(&plan.0.id, ended.run, ended.attempts);
    Given { place: place + ended.atom.as_str(), from, taint: ended.taint }
}
