//! What an item is given of what others delivered: files in `.inputs/` of its folder, of the items it names and of no others, and of
//! the earlier plan of its folder that it follows. Which those are is found in the tenant's own journals, never by looking through folders.

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
    pub(super) async fn inputs_of(
        &self,
        of: Following<'_>,
        graph: &GraphState,
        atom: &AtomId,
    ) -> Result<Vec<Given>, Error> {
        let worktrees = Worktrees::new(&self.shared.data_dir);
        let Some(plan) = &graph.plan else { return Ok(Vec::new()) };
        let mut given = Vec::new();
        for item in named(plan, atom) {
            given.extend(delivered(graph, item).map(|ended| ended_at(&worktrees, plan, ended, String::new())));
        }
        for earlier in plan.earlier(atom) {
            let Some(task) = self.earlier_plan(of, earlier).await? else { continue };
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

    /// A planned task before `of.task` in its folder: by its id, or the newest whose plan has that id. Looked for once, since that is
    /// in everything there ever was.
    pub(crate) async fn earlier_plan(&self, of: Following<'_>, named: &str) -> Result<Option<TaskId>, Error> {
        let key = (self.shared.tenant.clone(), of.task, named.to_owned());
        if let Some(known) = self.shared.lock_earlier().get(&key) {
            return Ok(Some(*known));
        }
        let found = match named.parse::<TaskId>() {
            Ok(task) => self.is_before(task, of).await?.then_some(task),
            Err(_) => self.newest_called(named, of).await?,
        };
        if let Some(found) = found {
            self.shared.lock_earlier().insert(key, found);
        }
        Ok(found)
    }

    async fn newest_called(&self, named: &str, of: Following<'_>) -> Result<Option<TaskId>, Error> {
        let heads = self.shared.store.streams(&self.shared.tenant, "graph", None, MOST_EARLIER).await?;
        let tasks = heads.iter().filter_map(|head| head.stream.id().parse::<TaskId>().ok());
        for task in tasks.filter(|task| *task < of.task) {
            let plan = self.graph(task).await?.plan;
            let is_called_so = plan.is_some_and(|Plan(root)| root.id.as_str() == named);
            if is_called_so && self.is_before(task, of).await? {
                return Ok(Some(task));
            }
        }
        Ok(None)
    }

    async fn is_before(&self, task: TaskId, of: Following<'_>) -> Result<bool, Error> {
        let created = match self.task(task).await {
            Ok(state) => state.created,
            Err(Error::NoSuchTask(_)) => None,
            Err(error) => return Err(error),
        };
        Ok(task < of.task && created.is_some_and(|created| created.planned && created.workspace == of.folder))
    }
}

/// Whose plan it is that goes on from another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Following<'a> {
    pub task: TaskId,
    pub folder: &'a str,
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
