//! Taking away what expired: files first, then blobs, then the note that it is done; whoever is cut off in the middle begins again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use windlass_domain::{Digest, TaskId, Tenant, Wall, millis};
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
        let mut gone = self.prune_stuck(run).await?;
        let expired = self.expired(before).await?;
        if expired.is_empty() {
            return Ok(gone);
        }
        let streams: BTreeSet<&str> = expired.iter().flat_map(|one| &one.streams).map(String::as_str).collect();
        let named: BTreeSet<Digest> = expired.iter().flat_map(|one| &one.digests).copied().collect();
        let (digests, as_of) = self.only_named_by(&streams, named).await?;
        let digests: Vec<Digest> = digests.into_iter().collect();
        let (mut tasks, mut done, mut stuck) = (0, Vec::new(), Vec::new());
        for one in &expired {
            let (went, is_all) = self.prune_files(one, run).await;
            tasks += u64::from(went.files > 0);
            gone += went;
            if is_all { done.push(one) } else { stuck.push(one) }
        }
        let there = self.weights(&digests).await?;
        let left = match run {
            PruneRun::Dry => BTreeMap::new(),
            PruneRun::Real => {
                self.forget_blobs(&digests, as_of).await?;
                self.weights(&digests).await?
            }
        };
        if there.len() > left.len() {
            tasks = expired.len() as u64;
        }
        let bytes = |blobs: &BTreeMap<Digest, u64>| blobs.values().sum::<u64>();
        let blobs = (there.len() - left.len()) as u64;
        gone += Pruned { tasks, blobs, bytes: bytes(&there).saturating_sub(bytes(&left)), ..Pruned::default() };
        if run == PruneRun::Real {
            // What was put within a day stays, since somebody may be about to name it: it is looked for again.
            let is_done = |one: &&&Expired| one.digests.iter().all(|digest| !left.contains_key(digest));
            let done: Vec<TaskId> = done.iter().filter(is_done).map(|one| one.root).collect();
            self.note(&done).await?;
            let stuck =
                stuck.iter().filter(is_done).map(|one| ((self.shared.tenant.clone(), one.root), one.only_files()));
            self.shared.lock_stuck().extend(stuck);
        }
        Ok(gone)
    }

    /// Of those nothing need be read again: as soon as the files can be removed, they are done with.
    async fn prune_stuck(&self, run: PruneRun) -> Result<Pruned, Error> {
        let own = |(tenant, _): &(Tenant, TaskId)| *tenant == self.shared.tenant;
        let stuck: Vec<Expired> = {
            let all = self.shared.lock_stuck();
            all.iter().filter(|(key, _)| own(key)).map(|(_, one)| one.clone()).collect()
        };
        let mut gone = Pruned::default();
        for one in &stuck {
            let (went, is_all) = self.prune_files(one, run).await;
            gone += Pruned { tasks: u64::from(went.files > 0), ..went };
            if is_all && run == PruneRun::Real {
                self.note(&[one.root]).await?;
                self.shared.lock_stuck().remove(&(self.shared.tenant.clone(), one.root));
            }
        }
        Ok(gone)
    }

    /// Of those that there are.
    async fn weights(&self, digests: &[Digest]) -> Result<BTreeMap<Digest, u64>, Error> {
        let mut weights = BTreeMap::new();
        for digest in digests {
            let weight = self.shared.store.blob_size(&self.shared.tenant, *digest).await?;
            weights.extend(weight.map(|weight| (*digest, weight)));
        }
        Ok(weights)
    }

    /// And whether all of it went.
    async fn prune_files(&self, expired: &Expired, run: PruneRun) -> (Pruned, bool) {
        let (data_dir, expired) = (self.shared.data_dir.clone(), expired.only_files());
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
