//! A workspace with a planted bug: a result is brought into the user's folder as if all that is there were what the work began with.
//! Whatever they did since is undone.

use std::path::Path;

use windlass_domain::{Applied, Candidate, Drawing, Drawn, Merge, TreeId, Wall, Workspace, WorkspaceError};
use windlass_workspace::Snapshots;

pub struct Careless(pub Snapshots);

type ShouldStop<'a> = &'a dyn Fn() -> bool;

impl Workspace for Careless {
    fn apply(&self, _: TreeId, to: TreeId, made: Wall, stop: ShouldStop<'_>) -> Result<Applied, WorkspaceError> {
        let live = Workspace::capture(&self.0)?;
        Workspace::apply(&self.0, live, to, made, stop)
    }

    fn capture(&self) -> Result<TreeId, WorkspaceError> {
        Workspace::capture(&self.0)
    }

    fn capture_under(&self, baseline: TreeId, stop: ShouldStop<'_>) -> Result<Candidate, WorkspaceError> {
        Workspace::capture_under(&self.0, baseline, stop)
    }

    fn materialise(
        &self,
        tree: TreeId,
        baseline: TreeId,
        folder: &Path,
        made: Wall,
        stop: ShouldStop<'_>,
    ) -> Result<(), WorkspaceError> {
        Workspace::materialise(&self.0, tree, baseline, folder, made, stop)
    }

    fn restore(
        &self,
        tree: TreeId,
        paths: &[String],
        folder: &Path,
        made: Wall,
        stop: ShouldStop<'_>,
    ) -> Result<Vec<String>, WorkspaceError> {
        Workspace::restore(&self.0, tree, paths, folder, made, stop)
    }

    fn merge(&self, base: TreeId, ours: TreeId, theirs: TreeId, stop: ShouldStop<'_>) -> Result<Merge, WorkspaceError> {
        Workspace::merge(&self.0, base, ours, theirs, stop)
    }

    fn changes(&self, before: TreeId, after: TreeId) -> Result<Vec<String>, WorkspaceError> {
        Workspace::changes(&self.0, before, after)
    }

    fn draw(&self, drawing: Drawing<'_>, stop: ShouldStop<'_>) -> Result<Drawn, WorkspaceError> {
        Workspace::draw(&self.0, drawing, stop)
    }
}
