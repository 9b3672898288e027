//! `Host` for one execution. Records are applied in memory first and shown to nobody until they are durable; if a commit
//! is refused the host is dead, because its memory is then ahead of the truth.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::lock::Mutex as AsyncMutex;
use windlass_domain::execution::{ExecutionCommand, ExecutionEvent, ExecutionState, OwnerEffect};
use windlass_domain::{
    BoxFuture, Call, CancelSignal, Delta, Digest, ExecutionId, Host, HostReply, HostRequest, MessageId, Permit,
    Refused, Seq, Taint, Verdict, Wall,
};
use windlass_store::{Commit, Fence, NewBlob, NewEvent, StreamId};

use super::deliver::deliver;
use super::journal::{Decided, Journal};
use crate::control::Inbox;
use crate::engine::Shared;
use crate::tripwire::TripwirePoint;
use crate::watch::Watcher;

pub struct HostParts {
    pub shared: Arc<Shared>,
    pub execution: ExecutionId,
    pub fence: Fence,
    pub journal: Journal,
    pub cancel: CancelSignal,
    pub inbox: Inbox,
    pub watcher: Arc<dyn Watcher>,
    pub folder: PathBuf,
}

pub struct ExecutionHost {
    shared: Arc<Shared>,
    execution: ExecutionId,
    fence: Fence,
    cancel: CancelSignal,
    inbox: Inbox,
    watcher: Arc<dyn Watcher>,
    folder: PathBuf,
    /// One commit at a time, in the order they were asked for.
    turn: AsyncMutex<()>,
    memory: Mutex<Memory>,
}

struct Memory {
    journal: Journal,
    /// Decided and applied, and part of the next commit.
    staged: Decided,
    /// Safe on disk, and part of the next commit.
    blobs: Vec<NewBlob>,
    /// Why nothing can be recorded any more.
    dead: Option<Dead>,
}

#[derive(Clone)]
enum Dead {
    Fenced,
    Store(String),
}

impl From<Dead> for Refused {
    fn from(dead: Dead) -> Self {
        match dead {
            Dead::Fenced => Self::Fenced,
            Dead::Store(detail) => Self::Store(detail),
        }
    }
}

/// A commit, and what watchers are shown once it is durable.
struct Write {
    events: Vec<(ExecutionEvent, Wall)>,
    commit: Commit,
}

/// What else a commit carries: rows of the task's own stream, for the engine's part of the story.
#[derive(Default)]
pub struct Rider {
    pub expect: Vec<(StreamId, Seq)>,
    pub events: Vec<NewEvent>,
    pub acks: Vec<MessageId>,
}

impl ExecutionHost {
    pub fn new(parts: HostParts) -> Self {
        let HostParts { shared, execution, fence, journal, cancel, inbox, watcher, folder } = parts;
        let memory = Mutex::new(Memory { journal, staged: Decided::default(), blobs: Vec::new(), dead: None });
        Self { shared, execution, fence, cancel, inbox, watcher, folder, turn: AsyncMutex::new(()), memory }
    }

    /// Joined over everything the execution has read.
    pub fn taint(&self) -> Taint {
        self.memory().journal.state.taint
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Commits what is staged, what `commands` lead to, and `rider`. A refused command does not hold up what stands
    /// before it: that has happened.
    pub async fn commit(&self, mut commands: Vec<ExecutionCommand>, rider: Rider) -> Result<Seq, Refused> {
        let _turn = self.turn.lock().await;
        let acks = self.take_injections(&mut commands);
        let refused = self.decide(commands).err();
        let Some(Write { events, commit }) = self.prepare(acks, rider)? else {
            return refused.map_or_else(|| Ok(self.memory().journal.head), Err);
        };
        match self.shared.commit(commit).await {
            Ok(_) => {
                events.iter().for_each(|(event, at)| self.watcher.execution(self.execution, event, *at));
                refused.map_or_else(|| Ok(self.memory().journal.head), Err)
            }
            Err(error) => {
                let dead = match error {
                    windlass_store::Error::Fenced { .. } | windlass_store::Error::Conflict { .. } => Dead::Fenced,
                    other => Dead::Store(other.to_string()),
                };
                self.memory().dead = Some(dead.clone());
                Err(dead.into())
            }
        }
    }

    /// What came in from outside is heard just before the model is asked.
    fn take_injections(&self, commands: &mut Vec<ExecutionCommand>) -> Vec<MessageId> {
        let Some(ask) = commands.iter().position(|command| matches!(command, ExecutionCommand::AskModel { .. })) else {
            return Vec::new();
        };
        let (injections, acks) = self.inbox.take();
        commands.splice(ask..ask, injections.into_iter().map(ExecutionCommand::Inject));
        acks
    }

    fn decide(&self, commands: Vec<ExecutionCommand>) -> Result<(), Refused> {
        let now = self.shared.wall();
        let mut memory = self.memory();
        if let Some(dead) = &memory.dead {
            return Err(dead.clone().into());
        }
        let Memory { journal, staged, .. } = &mut *memory;
        journal.advance(commands, staged, &self.shared.redactor, now)
    }

    /// What there is to write; `None` when there is nothing.
    fn prepare(&self, acks: Vec<MessageId>, rider: Rider) -> Result<Option<Write>, Refused> {
        let mut memory = self.memory();
        if let Some(dead) = &memory.dead {
            return Err(dead.clone().into());
        }
        let Decided { events, rows } = std::mem::take(&mut memory.staged);
        if rows.is_empty() && rider.events.is_empty() && memory.blobs.is_empty() {
            return Ok(None);
        }
        let before = memory.journal.head;
        memory.journal.head = Seq(before.0 + rows.len() as u64);
        let mut commit = Commit::fenced(self.shared.tenant.clone(), self.shared.wall(), self.fence.clone());
        commit.expect.push((memory.journal.stream.clone(), before));
        commit.expect.extend(rider.expect);
        commit.events = rows;
        commit.events.extend(rider.events);
        commit.acks = acks;
        commit.acks.extend(rider.acks);
        commit.blobs = std::mem::take(&mut memory.blobs);
        Ok(Some(Write { events, commit }))
    }

    async fn stage_blob(&self, bytes: Vec<u8>, taint: Taint) -> Result<Digest, Refused> {
        let staged = self.shared.store.stage_blob(&self.shared.tenant, bytes, taint).await;
        let blob = staged.map_err(|error| Refused::Store(error.to_string()))?;
        self.shared.pass(TripwirePoint::BlobStaged).await;
        let digest = blob.digest();
        self.memory().blobs.push(blob);
        Ok(digest)
    }

    async fn grant(&self, calls: Vec<Call>) -> Result<Vec<Verdict>, Refused> {
        let state = self.state();
        let limits = state.header.as_ref().map(|header| &header.limits);
        let exhausted = limits.and_then(|limits| limits.exhausted_for_calls(&state.spent_by(self.shared.wall())));
        drop(state);
        if let Some(exhausted) = exhausted {
            self.commit(Vec::new(), Rider::default()).await?;
            let deny = |call: Call| Verdict::Denied { call_id: call.call.call_id, reason: exhausted.to_string() };
            return Ok(calls.into_iter().map(deny).collect());
        }
        let start = |call: &Call| ExecutionCommand::StartCall {
            call_id: call.call.call_id.clone(),
            effect: call.effect.clone(),
        };
        self.commit(calls.iter().map(start).collect(), Rider::default()).await?;
        self.shared.pass(TripwirePoint::Permitted).await;
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place that issues permits: what they allow is committed"
        )]
        let grant = |call| Verdict::Granted(Permit::issue(call));
        Ok(calls.into_iter().map(grant).collect())
    }
}

impl Host for ExecutionHost {
    fn state(&self) -> Arc<ExecutionState> {
        Arc::clone(&self.memory().journal.state)
    }

    fn stage(&self, commands: Vec<ExecutionCommand>) -> Result<(), Refused> {
        self.decide(commands)
    }

    fn record(&self, commands: Vec<ExecutionCommand>) -> BoxFuture<'_, Result<Seq, Refused>> {
        Box::pin(async move {
            self.shared.pass(TripwirePoint::BeforeRecord).await;
            self.commit(commands, Rider::default()).await
        })
    }

    fn authorise(&self, calls: Vec<Call>) -> BoxFuture<'_, Result<Vec<Verdict>, Refused>> {
        Box::pin(async move {
            self.shared.pass(TripwirePoint::BeforeRecord).await;
            self.grant(calls).await
        })
    }

    fn request(&self, request: HostRequest) -> BoxFuture<'_, Result<HostReply, Refused>> {
        Box::pin(async move {
            match request {
                HostRequest::Deliver { filepath, description, kind } => {
                    let made = deliver(&self.shared, &self.folder, filepath, description, kind).await;
                    match made {
                        Err(reason) => Ok(HostReply::Declined(reason)),
                        Ok((deliverable, bytes)) => {
                            let content = self.blob_put(bytes, self.taint()).await?;
                            let kept = OwnerEffect::Delivered { deliverable: deliverable.clone(), content };
                            self.commit(vec![ExecutionCommand::Keep(kept)], Rider::default()).await?;
                            Ok(HostReply::Delivered(deliverable))
                        }
                    }
                }
            }
        })
    }

    fn blob_put(&self, bytes: Vec<u8>, taint: Taint) -> BoxFuture<'_, Result<Digest, Refused>> {
        Box::pin(async move {
            let bytes = self.shared.redactor.redact_bytes(&bytes).into_owned();
            self.stage_blob(bytes, taint).await
        })
    }

    fn blob_get(&self, digest: Digest) -> BoxFuture<'_, Result<Vec<u8>, Refused>> {
        Box::pin(async move {
            let found = self.shared.store.blob(&self.shared.tenant, digest).await;
            let found = found.map_err(|error| Refused::Store(error.to_string()))?;
            found.map(|blob| blob.bytes).ok_or_else(|| Refused::Store(format!("the blob {digest} is missing")))
        })
    }

    fn emit(&self, delta: Delta) {
        self.watcher.delta(self.execution, delta);
    }

    fn cancel(&self) -> CancelSignal {
        self.cancel.clone()
    }
}
