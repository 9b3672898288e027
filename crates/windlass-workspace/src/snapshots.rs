//! Snapshots of one workspace, kept in one data folder. Excluded are the runtime's own files, every
//! `.git` and what is ignored, unless it is tracked all the same; ignored paths on the `carry` list are not kept either, but come along from the live
//! workspace when a snapshot is put somewhere.
//!
//! A *baseline* is taken under the ignore rules that are there then, and keeps them. A *candidate* is what an agent made
//! of it, taken under the baseline's rules: to an agent's own `.gitignore`, a new file or a changed one like any other,
//! nobody listens.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use windlass_domain::{Candidate, Digest, TreeId, Wall};

use crate::apply::{Applying, Moved};
use crate::cache::Cache;
use crate::capture::{Capture, Captured};
use crate::copy::Carrying;
use crate::diff::{Change, changes};
use crate::error::Error;
use crate::files::OPEN_FOLDER;
use crate::folder::Rules;
use crate::git::{Patience, tracked_but_ignored};
use crate::ignores::Ignored;
use crate::intents::{Intents, Target};
use crate::kept_rules::KeptRules;
use crate::layout::{GIT_FOLDER, RUNTIME_FILES};
use crate::materialise::{self, Filling};
use crate::merge::{Conflict, Merged, merge};
use crate::objects::{Batch, Objects};
use crate::path::{WorkspacePath, shown};
use crate::paths::Paths;
use crate::restore;
use crate::root::{Root, open_trusted};
use crate::snapshot::Snapshot;
use crate::stat::{Identity, Metadata};
use crate::stream::ShouldStop;
use crate::tally::Tally;

const CACHES: &str = "captures";
const APPLYING: &str = "applying";

/// How often the workspace may change under our hands before that is told.
const MOST_TRIES: usize = 20;

#[derive(Debug, Clone)]
pub struct SnapshotSetup {
    pub workspace: PathBuf,
    /// Where objects are kept; several workspaces may share it.
    pub data: PathBuf,
    /// Ignored paths that checks need, such as `node_modules` or `target`.
    pub carry: Vec<String>,
    pub limits: SnapshotLimits,
}

impl SnapshotSetup {
    /// With the usual limits.
    pub fn new(workspace: impl Into<PathBuf>, data: impl Into<PathBuf>, carry: Vec<String>) -> Self {
        Self { workspace: workspace.into(), data: data.into(), carry, limits: SnapshotLimits::default() }
    }
}

/// Beyond these a folder is hardly meant as a workspace; a home folder for instance. They hold for a snapshot, and once
/// more for what is carried beside it.
#[derive(Debug, Clone, Copy)]
pub struct SnapshotLimits {
    /// Links and folders counted in.
    pub files: u64,
    /// As long as the files say they are, holes or not.
    pub bytes: u64,
    /// How long git may give no sign of life when it is asked about the workspace.
    pub git_silence: Duration,
}

impl Default for SnapshotLimits {
    fn default() -> Self {
        Self { files: 500_000, bytes: 8 * 1024 * 1024 * 1024, git_silence: Duration::from_secs(60) }
    }
}

/// What became of bringing a result into the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Applied {
    Done {
        /// Names that are other than they were.
        changed: usize,
    },
    /// With what was changed in the workspace meanwhile. Nothing was done.
    Conflicts(Vec<Conflict>),
    /// Somebody changes this all the time, or another process is bringing in a result; some names may be done, and it can be done again.
    Busy { path: String },
}

#[derive(Debug)]
pub struct Snapshots {
    workspace: PathBuf,
    root: Root,
    objects: Objects,
    data: PathBuf,
    data_identity: Identity,
    carry: Vec<WorkspacePath>,
    limits: SnapshotLimits,
    cache_name: String,
    cache: Mutex<Option<Arc<Cache>>>,
}

impl Snapshots {
    pub fn open(setup: SnapshotSetup) -> Result<Self, Error> {
        // Refuses what leaves the workspace.
        Paths::parse(&setup.carry)?;
        let carry = setup.carry.iter().map(WorkspacePath::parse).collect::<Result<_, _>>()?;
        let objects = Objects::open(&setup.data)?;
        let data_identity = open_trusted(&setup.data)
            .and_then(Metadata::of)
            .map_err(|errno| Error::from_errno("the data folder", errno))?
            .identity;
        Ok(Self {
            root: Root::open(&setup.workspace)?,
            objects,
            data_identity,
            carry,
            limits: setup.limits,
            cache_name: Digest::of(setup.workspace.as_os_str().as_bytes()).to_string(),
            cache: Mutex::new(None),
            workspace: setup.workspace,
            data: setup.data,
        })
    }

    /// A baseline: the workspace as it is, durable when its id is returned.
    pub fn capture(&self) -> Result<TreeId, Error> {
        self.take(Ignored::ByLive, &self.known(), ShouldStop::NEVER).map(|(id, _)| id)
    }

    /// The workspace as it is, taken as `baseline` was. Every file is read.
    pub fn capture_under(&self, baseline: TreeId, should_stop: &dyn Fn() -> bool) -> Result<Candidate, Error> {
        let rules = Arc::new(Snapshot::load(&self.objects, baseline)?.rules(&self.objects)?);
        let ignored = Ignored::ByKept(Arc::clone(&rules));
        let (tree, found) = self.take(ignored, &Cache::default(), ShouldStop(should_stop))?;
        let new_repositories = found.repositories().filter(|path| !rules.had_repository(path)).map(shown).collect();
        Ok(Candidate { tree, new_repositories })
    }

    /// What was there at the last capture, be it another process's.
    fn known(&self) -> Arc<Cache> {
        let mut held = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(held.get_or_insert_with(|| Arc::new(Cache::load(&self.data.join(CACHES), &self.cache_name))))
    }

    fn take(&self, ignored: Ignored, known: &Cache, should_stop: ShouldStop<'_>) -> Result<(TreeId, KeptRules), Error> {
        let tracked = match &ignored {
            Ignored::ByLive => Arc::new(tracked_but_ignored(&self.workspace, self.patience(should_stop))?),
            Ignored::ByKept(kept) => kept.tracked(),
            Ignored::Nothing => Arc::default(),
        };
        let rules = Rules { hidden_at_top: RUNTIME_FILES.map(Into::into).into(), ignored, tracked };
        let top = self.root.open_beneath(&WorkspacePath::top(), OPEN_FOLDER)?;
        let tally = Tally::new(self.limits);
        let capture = Capture::begin(&self.objects, known, tally, self.data_identity, should_stop)?;
        let Captured { id, found, cache } = capture.run(top, &rules)?;
        if cache != *self.known() {
            // Without it the next process only reads more.
            let _ = cache.save(&self.data.join(CACHES), &self.cache_name, &self.workspace);
        }
        *self.cache.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(cache));
        Ok((id, found))
    }

    /// Writes a snapshot into an empty or new folder, then the carried paths as they are now, where the snapshot has nothing.
    /// How old each file looks in this copy, `made` now, is decided by what it is to `baseline`.
    pub fn materialise(
        &self,
        tree: TreeId,
        baseline: TreeId,
        folder: &Path,
        made: Wall,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<(), Error> {
        let should_stop = ShouldStop(should_stop);
        let target = materialise::open_empty(folder)?;
        let (tree, baseline) = (self.tree_of(tree)?, self.tree_of(baseline)?);
        Filling { objects: &self.objects, made, should_stop }.tree(tree, baseline, &target)?;
        let mut tally = Tally::new(self.limits);
        let mut carrying = Carrying { made, tally: &mut tally, should_stop };
        self.carry.iter().try_for_each(|path| carrying.carry(&self.root, path, folder))
    }

    /// Makes everything in `folder`, a copy `made` then, that `paths` mean as `tree` has it, and says what was not. Files
    /// there that the tree does not have are removed, so `folder` is a copy that may be changed, not the workspace of a user.
    /// The runtime's files, `.git` and carried paths have no snapshot and are left alone.
    pub fn restore(
        &self,
        tree: TreeId,
        paths: &[String],
        folder: &Path,
        made: Wall,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Vec<String>, Error> {
        let paths = Paths::parse(paths)?;
        let filling = Filling { objects: &self.objects, made, should_stop: ShouldStop(should_stop) };
        restore::restore(&filling, self.tree_of(tree)?, &paths, folder, &self.carry)
    }

    /// What `ours` and `theirs` made of `base`, together, under the base's rules; durable when it is clean.
    pub fn merge(
        &self,
        base: TreeId,
        ours: TreeId,
        theirs: TreeId,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Merged<TreeId>, Error> {
        let rules = Snapshot::load(&self.objects, base)?.rules(&self.objects)?;
        let trees = [self.tree_of(base)?, self.tree_of(ours)?, self.tree_of(theirs)?];
        let mut batch = Batch::begin(&self.objects)?;
        match merge(&self.objects, &mut batch, trees, ShouldStop(should_stop))? {
            Merged::Conflicts(conflicts) => Ok(Merged::Conflicts(conflicts)),
            Merged::Clean(tree) => {
                let id = Snapshot::store(&mut batch, tree, &rules)?;
                batch.commit()?;
                Ok(Merged::Clean(id))
            }
        }
    }

    /// Brings into the workspace what `from` has become, while whoever works there goes on. Their changes since `from` stay; where
    /// they and the result disagree, nothing is changed. `made` is only for times that nobody sees.
    pub fn apply(
        &self,
        from: TreeId,
        to: TreeId,
        made: Wall,
        should_stop: &dyn Fn() -> bool,
    ) -> Result<Applied, Error> {
        let filling = Filling { objects: &self.objects, made, should_stop: ShouldStop(should_stop) };
        let Some(intents) = Intents::open(&self.data.join(APPLYING), &self.cache_name, Target { from, to })? else {
            return Ok(Applied::Busy { path: "/workspace".to_owned() });
        };
        let applying = Applying { root: &self.root, filling, intents: &intents };
        applying.mend()?;
        let (mut last, mut brought) = (String::new(), Vec::new());
        for _ in 0..MOST_TRIES {
            let live = self.capture_under(from, should_stop)?.tree;
            let merged = match self.merge(from, live, to, should_stop)? {
                Merged::Clean(merged) => merged,
                Merged::Conflicts(conflicts) if brought.is_empty() => return Ok(Applied::Conflicts(conflicts)),
                Merged::Conflicts(conflicts) => return Err(disagreeing(&conflicts).although(&brought)),
            };
            match applying.run(self.tree_of(live)?, self.tree_of(merged)?)? {
                Ok(changed) => return Ok(Applied::Done { changed }),
                Err(Moved { path, kept }) => {
                    last = path;
                    brought.extend(kept);
                }
            }
        }
        Ok(Applied::Busy { path: last })
    }

    pub(crate) fn patience<'a>(&self, should_stop: ShouldStop<'a>) -> Patience<'a> {
        Patience { silence: self.limits.git_silence, should_stop }
    }

    pub(crate) fn workspace(&self) -> &Path {
        &self.workspace
    }

    pub(crate) const fn objects(&self) -> &Objects {
        &self.objects
    }

    pub(crate) fn tree_of(&self, snapshot: TreeId) -> Result<Digest, Error> {
        Snapshot::load(&self.objects, snapshot).map(|snapshot| snapshot.tree)
    }

    /// What differs between two snapshots, by path; a `.gitignore` counts as the file it is.
    pub fn changes(&self, before: TreeId, after: TreeId) -> Result<Vec<Change>, Error> {
        changes(&self.objects, self.tree_of(before)?, self.tree_of(after)?)
    }
}

fn disagreeing(conflicts: &[Conflict]) -> Error {
    let paths: Vec<&str> = conflicts.iter().map(|conflict| conflict.path.as_str()).collect();
    let why = "changed there and by the result as well; put your changes aside";
    Error::Io { path: paths.join(", "), source: std::io::Error::other(why) }
}

/// Names at the top of a workspace that no snapshot has.
pub(crate) fn never_kept() -> impl Iterator<Item = &'static str> {
    RUNTIME_FILES.into_iter().chain([GIT_FOLDER])
}
