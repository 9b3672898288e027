//! Taking away what expired: files first, then blobs, then the note that it is done; whoever is cut off in the middle begins again.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use windlass_domain::{Digest, TaskId, Wall, millis};
use windlass_store::{Commit, Error as StoreError, Forgotten, Position};

use super::expired::{Expired, pruned};
use super::files::{files_of, remove, weight};
use crate::Error;
use crate::engine::{Engine, House, Shared};

/// In one commit.
const AT_A_TIME: usize = 200;
/// How often a process that works looks for what expired, and for homes that nobody uses any more.
const EVERY: Duration = Duration::from_secs(60 * 60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneRun {
    /// Says what would go.
    Dry,
    Real,
}

/// What went, or would go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    pub tasks: u64,
    pub files: u64,
    pub blobs: u64,
    pub bytes: u64,
}

impl std::ops::AddAssign for Pruned {
    fn add_assign(&mut self, other: Self) {
        self.tasks += other.tasks;
        self.files += other.files;
        self.blobs += other.blobs;
        self.bytes += other.bytes;
    }
}

impl Engine {
    /// Of every tenant, what belongs to tasks that ended longer ago than this.
    pub async fn prune(&self, older_than: Duration, run: PruneRun) -> Result<Pruned, Error> {
        let mut all = Pruned::default();
        for tenant in self.shared.store.tenants().await? {
            all += self.for_tenant(tenant).prune_own(older_than, run).await?;
        }
        if run == PruneRun::Real {
            let swept = self.shared.store.sweep(self.shared.wall()).await?;
            all.files += swept.files;
            all.bytes += swept.bytes;
        }
        Ok(all)
    }

    /// Again and again, for as long as this process works: homes that nobody uses any more go, and where an operator says for how long
    /// what tasks leave is kept, so does that.
    pub fn keep_pruning(&self, older_than: Option<Duration>, told: Arc<dyn Fn(&str) + Send + Sync>) {
        let house = Arc::downgrade(&self.shared.house);
        let (tenant, runtime) = (self.shared.tenant.clone(), Arc::clone(&self.shared.runtime));
        let upgraded =
            move |house: Arc<House>| Self { shared: Arc::new(Shared { tenant: tenant.clone(), name: None, house }) };
        self.shared.runtime.spawn(Box::pin(async move {
            loop {
                let Some(engine) = house.upgrade().map(&upgraded) else { return };
                if let Err(error) = engine.sweep_all_homes().await {
                    told(&format!("homes of agents could not be looked for: {error}"));
                }
                if let Some(older_than) = older_than {
                    engine.prune_and_tell(older_than, &*told).await;
                }
                drop(engine);
                runtime.sleep(EVERY).await;
            }
        }));
    }

    async fn prune_and_tell(&self, older_than: Duration, told: &(dyn Fn(&str) + Send + Sync)) {
        match self.prune(older_than, PruneRun::Real).await {
            Ok(Pruned { tasks: 0, files: 0, .. }) => {}
            Ok(gone) => told(&format!(
                "took away {} files and {} blobs of {} tasks that ended long ago: {} MiB",
                gone.files,
                gone.blobs,
                gone.tasks,
                gone.bytes >> 20
            )),
            Err(error) => told(&format!("what expired could not be taken away: {error}")),
        }
    }

    async fn prune_own(&self, older_than: Duration, run: PruneRun) -> Result<Pruned, Error> {
        let now = self.shared.wall();
        let before = Wall::from_millis(now.as_millis().saturating_sub(millis(older_than)));
        let expired = self.expired(before).await?;
        let mut gone = Pruned::default();
        if expired.is_empty() {
            return Ok(gone);
        }
        let all = expired.len() as u64;
        let streams: BTreeSet<String> = expired.iter().flat_map(|one| one.streams.iter().cloned()).collect();
        let (digests, as_of) = self.only_named_by(&streams).await?;
        let mut done = Vec::new();
        for one in expired {
            let root = one.root;
            let (went, is_all) = self.prune_files(one, run).await;
            gone += Pruned { tasks: u64::from(went.files > 0), ..went };
            done.extend(is_all.then_some(root));
        }
        let there = self.weights(&digests).await?;
        let left = match run {
            PruneRun::Dry => Vec::new(),
            PruneRun::Real => {
                self.forget_blobs(&digests, as_of).await?;
                self.weights(&digests).await?
            }
        };
        if there.len() > left.len() {
            gone.tasks = all;
        }
        let bytes = |blobs: &[u64]| blobs.iter().sum::<u64>();
        gone += Pruned {
            blobs: (there.len() - left.len()) as u64,
            bytes: bytes(&there).saturating_sub(bytes(&left)),
            ..Pruned::default()
        };
        // What was put within a day stays, since somebody may be about to name it: it is looked for again.
        if run == PruneRun::Real && left.is_empty() {
            self.note(&done).await?;
        }
        Ok(gone)
    }

    /// Of those that there are.
    async fn weights(&self, digests: &[Digest]) -> Result<Vec<u64>, Error> {
        let mut weights = Vec::new();
        for digest in digests {
            weights.extend(self.shared.store.blob_size(&self.shared.tenant, *digest).await?);
        }
        Ok(weights)
    }

    /// And whether all of it went.
    async fn prune_files(&self, expired: Expired, run: PruneRun) -> (Pruned, bool) {
        let data_dir = self.shared.data_dir.clone();
        let remove_all = move || {
            let (mut gone, mut is_all) = (Pruned::default(), true);
            for path in files_of(&data_dir, &expired) {
                let bytes = weight(&path);
                // What cannot be removed now is tried again the next time.
                match run == PruneRun::Dry || remove(&path).is_ok() {
                    true => gone += Pruned { files: 1, bytes, ..Pruned::default() },
                    false => is_all = false,
                }
            }
            (gone, is_all)
        };
        self.shared.blocking(remove_all).await
    }

    async fn note(&self, done: &[TaskId]) -> Result<(), Error> {
        for root in done {
            let mut commit = Commit::unfenced(self.shared.tenant.clone(), self.shared.wall());
            commit.processed.push(pruned(*root));
            match self.shared.commit(commit).await {
                // Another process was faster.
                Ok(_) | Err(StoreError::Duplicate { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    async fn forget_blobs(&self, digests: &[Digest], as_of: Position) -> Result<(), Error> {
        for some in digests.chunks(AT_A_TIME) {
            let mut commit = Commit::unfenced(self.shared.tenant.clone(), self.shared.wall());
            commit.forgotten = Some(Forgotten { digests: some.to_vec(), as_of });
            self.shared.commit(commit).await?;
        }
        Ok(())
    }
}
