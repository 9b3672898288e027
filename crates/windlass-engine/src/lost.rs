//! Other machines' tasks, and machines that are lost for good. A task's folder is where it was taken in, so that it is left to that machine
//! for as long as that may come back. Whoever says that it does not may end what it had, from anywhere: as any task is that is cancelled,
//! by its own drives, but with nothing in hand. No folder is looked at, no command is run and nothing is signed; what was in flight is
//! said to be interrupted. A machine that lives after all keeps what it works on: its leases are taken only when its heart is silent.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use windlass_domain::task::TaskState;
use windlass_domain::{ErrorCode, ErrorDetails, Runner, TaskId, TaskResult, Workspace};
use windlass_sandbox::{Policy, Provider};

use crate::Error;
use crate::attempt::Driven;
use crate::dispatch::Claimed;
use crate::engine::{Engine, EngineParts};
use crate::equipment::{Equipment, Order};
use crate::law::Law;
use crate::process::Machine;
use crate::watch::NobodyWatches;

/// Others may write to it meanwhile; nobody does so for long.
const TRIES: usize = 100;
const LOOK_EVERY: Duration = Duration::from_millis(100);

impl Engine {
    /// The machine that goes on with it, where that is another one.
    pub fn left_to<'a>(&self, state: &'a TaskState) -> Option<&'a str> {
        let created = state.created.as_ref().filter(|_| !state.is_over())?;
        self.shared.process.elsewhere(created.placement.as_deref())
    }

    /// How many of the newest `most` tasks are left to which machine.
    pub async fn left_to_others(&self, most: usize) -> Result<BTreeMap<String, usize>, Error> {
        let mut left: BTreeMap<String, usize> = BTreeMap::new();
        for summary in self.wholes(most).await? {
            if let Some(place) = self.left_to(&summary.state) {
                *left.entry(place.to_owned()).or_default() += 1;
            }
        }
        Ok(left)
    }

    /// All that is left to a machine, newest first.
    pub async fn tasks_left_to(&self, place: &str) -> Result<Vec<TaskId>, Error> {
        let mut tasks = self.wholes(usize::MAX).await?;
        tasks.retain(|summary| self.left_to(&summary.state) == Some(place));
        Ok(tasks.into_iter().map(|summary| summary.task_id).collect())
    }

    /// Ends a task of a machine that is lost. `HeldElsewhere`: a process there lives, and has been asked to end it.
    pub async fn end_lost(&self, task: TaskId, place: &str) -> Result<TaskResult, Error> {
        let stand_in = self.standing_in_for(place);
        let ended = stand_in.end_as_lost(task).await;
        let closed = stand_in.close().await;
        ended.and_then(|ended| closed.map(|()| ended))
    }

    async fn end_as_lost(&self, task: TaskId) -> Result<TaskResult, Error> {
        self.ask_to_cancel(task, self.why_cancelled()).await?;
        for _ in 0..TRIES {
            match Box::pin(self.drive(task, Arc::new(NobodyWatches))).await {
                Ok(Driven::Finished(result)) => {
                    // What the dead held when it was driven without it.
                    if let Claimed::Mine(leased) = self.claim_message(task).await? {
                        self.take_out(Some(leased.delivery)).await?;
                    }
                    return Ok(result);
                }
                Ok(Driven::Paused(_) | Driven::Waiting(_)) | Err(Error::LeaseLost(_)) => {
                    self.shared.runtime.sleep(LOOK_EVERY).await;
                }
                Err(error) => return Err(error),
            }
        }
        Err(Error::Overtaken(task))
    }

    /// As if it were that machine, with empty hands. It has no locks: whether those who worked there are gone, only their hearts say.
    fn standing_in_for(&self, place: &str) -> Self {
        let house = &self.shared.house;
        let own = house.process.machine();
        let machine = Machine { host: place.to_owned(), locks: None, ..own.clone() };
        let stand_in = Self::standing_in(EngineParts {
            store: Arc::clone(&house.store),
            runtime: Arc::clone(&house.runtime),
            equipment: Arc::new(Nothing { place: place.to_owned() }),
            tenant: self.shared.tenant.clone(),
            redactor: house.redactor.clone(),
            law: Law { concurrency: house.law.concurrency, ..Law::default() },
            telemetry: Arc::clone(&house.telemetry),
            machine,
            data_dir: house.data_dir.clone(),
            keyring: None,
            heads: None,
            tripwire: None,
        });
        match &self.shared.name {
            Some(name) => stand_in.in_the_name_of(name),
            None => stand_in,
        }
    }

    pub(crate) fn why_cancelled(&self) -> String {
        match self.shared.process.stands_in_for() {
            Some(place) => format!("its machine {place} is lost: cancelled by the user"),
            None => "cancelled by the user".to_owned(),
        }
    }
}

/// What is left of a machine that is gone.
struct Nothing {
    place: String,
}

impl Nothing {
    fn lost(&self) -> ErrorDetails {
        ErrorDetails::new(ErrorCode::Interrupted, format!("it is on {}, which is lost", self.place))
    }
}

impl Equipment for Nothing {
    fn sandboxes(&self, _: &str) -> Result<Arc<dyn Provider>, ErrorDetails> {
        Err(self.lost())
    }

    fn policy(&self, folder: &Path) -> Policy {
        Policy::new(folder)
    }

    fn workspace(&self, _: &Path) -> Result<Arc<dyn Workspace>, ErrorDetails> {
        Err(self.lost())
    }

    fn runner(&self, _: Order<'_>) -> Result<Arc<dyn Runner>, ErrorDetails> {
        Err(self.lost())
    }
}
