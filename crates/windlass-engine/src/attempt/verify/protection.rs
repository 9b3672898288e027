//! Where the protected paths of a check are put back from, and what may not be changed under a plan at all. For a task by itself
//! that is the workspace as it was. Under a plan many work on the same tree, and what one of them changes would be what the
//! checks of another are held against: there too the workspace as it was counts, save for paths that an item of the plan says
//! it touches, since a person has agreed to that. What comes of those is as the work of all has it.

use std::path::Path;

use windlass_domain::graph::GraphState;
use windlass_domain::plan::Item;
use windlass_domain::{TreeId, Wall, Workspace, WorkspaceError};

#[derive(Debug, Clone)]
pub(crate) struct Protection {
    /// As everything was.
    base: TreeId,
    later: Option<Later>,
}

/// What became of it as agreed: the work of all, and the paths that may have changed in it.
#[derive(Debug, Clone)]
struct Later {
    tip: TreeId,
    touched: Vec<String>,
}

impl Protection {
    pub const fn of(base: TreeId) -> Self {
        Self { base, later: None }
    }

    /// None where the plan stands on nothing yet.
    pub fn under(graph: &GraphState) -> Option<Self> {
        let later = Later { tip: graph.tip?, touched: agreed(graph) };
        Some(Self { base: graph.base?, later: Some(later) })
    }

    /// Puts `protect` back in `folder`, a copy of `tree`, and says what was not as it should be.
    pub fn put_back(
        &self,
        workspace: &dyn Workspace,
        (tree, protect): (TreeId, &[String]),
        (folder, made): (&Path, Wall),
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Vec<String>, WorkspaceError> {
        let changed = self.changed_since(workspace, protect)?;
        let differed = workspace.restore(self.base, protect, folder, made, should_stop)?;
        let Some((tip, later)) = changed else { return Ok(differed) };
        workspace.restore(tip, &later, folder, made, should_stop)?;
        // What was just put back and forth tells nothing about who changed it: the trees do.
        let mut tampered = workspace.changes(self.base, tree)?;
        tampered.retain(|path| covers(protect, path) && !later.contains(path));
        tampered.extend(workspace.changes(tip, tree)?.into_iter().filter(|path| later.contains(path)));
        tampered.sort();
        Ok(tampered)
    }

    /// Those of `protect` that are otherwise in the work of all, as agreed.
    fn changed_since(
        &self,
        workspace: &dyn Workspace,
        protect: &[String],
    ) -> Result<Option<(TreeId, Vec<String>)>, WorkspaceError> {
        let Some(Later { tip, touched }) = self.later.as_ref().filter(|later| !later.touched.is_empty()) else {
            return Ok(None);
        };
        if protect.is_empty() {
            return Ok(None);
        }
        let mut changed = workspace.changes(self.base, *tip)?;
        changed.retain(|path| covers(protect, path) && covers(touched, path));
        Ok((!changed.is_empty()).then_some((*tip, changed)))
    }
}

/// What `tree` would change in the work of all although a check of the plan protects it and no item says that it touches it; a
/// sentence for each path.
pub(super) fn trespasses(
    graph: &GraphState,
    workspace: &dyn Workspace,
    (tip, tree): (TreeId, TreeId),
) -> Result<Vec<String>, WorkspaceError> {
    let protects = protected(graph);
    if protects.is_empty() {
        return Ok(Vec::new());
    }
    let touched = agreed(graph);
    let changed = workspace.changes(tip, tree)?.into_iter().filter(|path| !covers(&touched, path));
    let told = changed.filter_map(|path| {
        let (item, _) = protects.iter().find(|(_, protect)| covers(protect, &path))?;
        Some(format!(
            "{path} is protected by a check of `{}`, and no item of the plan has it in `touches`: leave it as it was",
            item.id
        ))
    });
    Ok(told.collect())
}

/// By which items. What was split off is held to what it is a part of, so those parts count as well.
fn protected(graph: &GraphState) -> Vec<(&Item, &[String])> {
    let items = graph.items().into_iter().chain(planned(graph));
    let all = items.flat_map(|item| item.verify.0.iter().map(move |check| (item, check.protect.as_slice())));
    all.filter(|(_, protect)| !protect.is_empty()).collect()
}

/// Only what a person has seen: parts that were found later may say that they touch anything.
fn agreed(graph: &GraphState) -> Vec<String> {
    planned(graph).into_iter().flat_map(|item| item.touches.paths.iter().cloned()).collect()
}

fn planned(graph: &GraphState) -> Vec<&Item> {
    graph.plan.as_ref().map(|plan| plan.0.all()).unwrap_or_default()
}

/// Whether it is one of these, or below one.
fn covers(paths: &[String], path: &str) -> bool {
    let is_below = |around: &String| {
        path.strip_prefix(around.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    paths.iter().any(is_below)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use windlass_workspace::{SnapshotSetup, Snapshots};

    use super::*;

    /// Also where the work of all has come to hold what nobody agreed to, as under a plan that was given up.
    #[test]
    fn what_was_not_agreed_on_is_as_it_was_and_what_was_is_as_the_work_of_all_has_it() {
        let home = tempfile::tempdir().unwrap();
        let (folder, objects) = (home.path().join("work"), home.path().join("objects"));
        fs::create_dir_all(folder.join("tests")).unwrap();
        let put = |name: &str, words: &str| fs::write(folder.join("tests").join(name), words).unwrap();
        let read = |name: &str| fs::read_to_string(folder.join("tests").join(name)).unwrap();
        let workspace = Snapshots::open(SnapshotSetup::new(&folder, objects, Vec::new())).unwrap();
        let workspace: &dyn Workspace = &workspace;
        let protect = ["tests".to_owned()];
        put("agreed", "strict");
        put("other", "strict");
        let base = workspace.capture().unwrap();
        put("agreed", "stricter");
        put("other", "lax");
        let tip = workspace.capture().unwrap();
        for (written, tampered) in [("stricter", vec!["tests/other"]), ("lax", vec!["tests/agreed", "tests/other"])] {
            put("agreed", written);
            put("other", "lax");
            let tree = workspace.capture().unwrap();
            let later = Later { tip, touched: vec!["tests/agreed".to_owned()] };
            let protection = Protection { base, later: Some(later) };
            let put_back =
                protection.put_back(workspace, (tree, &protect), (&folder, Wall::from_millis(1)), &|| false).unwrap();
            assert_eq!(
                (put_back, read("agreed"), read("other")),
                (owned(&tampered), "stricter".into(), "strict".into())
            );
        }
    }

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }
}
