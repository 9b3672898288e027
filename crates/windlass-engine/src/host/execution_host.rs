//! `Host` for one execution. Records are applied in memory first and shown to nobody until they are durable; if a commit
//! is refused the host is dead, because its memory is then ahead of the truth.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use futures_util::lock::Mutex as AsyncMutex;
use windlass_domain::execution::{
    CallPhase, ExecutionCommand, ExecutionEvent, ExecutionState, MessageAccepted, MessageKind, OwnerEffect, Rejected,
    RunnerCommand,
};
use windlass_domain::task::TaskCreated;
use windlass_domain::{
    BoxFuture, CallOutcome, CancelSignal, Delta, Digest, Effect, ExecutionId, Finished, Host, HostReply, HostRequest,
    HostWork, Intent, Kept, MessageId, Refused, Seq, Taint, TaskId, Verdict, Wall,
};
use windlass_policy::gate::Trigger;
use windlass_policy::taint::result_taint;
use windlass_sandbox::Sandbox;
use windlass_store::{Commit, Error as StoreError, Fence, NewBlob, NewEvent};

use super::deliver::deliver;
use super::gates::has_gates;
use super::ground::Ground;
use super::journal::{Decided, Journal};
use super::memos::search_memos;
use super::refusals::{Refusals, When};
use super::rider::Rider;
use super::shown::Shown;
use crate::control::{Arrived, Inbox};
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
    pub task: TaskId,
    pub created: Arc<TaskCreated>,
    /// Which of the task's attempts it is.
    pub attempt: u32,
    /// Of what opens the transcript.
    pub prompt_taint: Taint,
    /// Whom it works for, if for anybody.
    pub parent: Weak<ExecutionHost>,
    /// How many stand above it.
    pub depth: u32,
    /// What is known of the files, by it and by those it works for.
    pub ground: Arc<Ground>,
    /// What commands of the family did not reach.
    pub refusals: Arc<Refusals>,
}

/// Those who work for an execution and are not on its bill yet.
pub type Kin = BTreeMap<ExecutionId, Arc<ExecutionHost>>;

pub struct ExecutionHost {
    pub(super) shared: Arc<Shared>,
    pub(super) execution: ExecutionId,
    pub(super) task: TaskId,
    pub(super) created: Arc<TaskCreated>,
    pub(super) attempt: u32,
    pub(super) folder: PathBuf,
    pub(super) fence: Fence,
    cancel: CancelSignal,
    inbox: Inbox,
    pub(super) watcher: Arc<dyn Watcher>,
    prompt_taint: Taint,
    pub(super) me: Weak<Self>,
    pub(super) parent: Weak<Self>,
    pub(super) depth: u32,
    pub(super) ground: Arc<Ground>,
    pub(super) refusals: Arc<Refusals>,
    pub(super) kin: Mutex<Kin>,
    /// Where its commands run, once there is one.
    pub(super) sandbox: OnceLock<Arc<dyn Sandbox>>,
    /// One commit at a time, in the order they were asked for.
    turn: AsyncMutex<()>,
    memory: Mutex<Memory>,
    shown: Mutex<Shown>,
}

struct Memory {
    journal: Journal,
    /// Decided and applied, and part of the next commit.
    staged: Decided,
    /// Safe on disk, and part of the next commit.
    blobs: Vec<NewBlob>,
    /// Messages that what is staged heeds.
    heard: Vec<MessageId>,
    /// For the audit, with the next commit.
    noted: Vec<NewEvent>,
    /// Why nothing can be recorded any more.
    dead: Option<Dead>,
}

#[derive(Clone)]
enum Dead {
    Fenced,
    Overtaken,
    Store(String),
}

impl From<Dead> for Refused {
    fn from(dead: Dead) -> Self {
        match dead {
            Dead::Fenced => Self::Fenced,
            Dead::Overtaken => Self::Overtaken,
            Dead::Store(detail) => Self::Store(detail),
        }
    }
}

/// A commit, and what watchers are shown once it is durable.
struct Write {
    events: Vec<(ExecutionEvent, Wall)>,
    commit: Commit,
}

impl ExecutionHost {
    pub fn new(parts: HostParts) -> Arc<Self> {
        let HostParts { shared, execution, fence, journal, cancel, inbox, watcher, .. } = parts;
        let HostParts { task, created, attempt, prompt_taint, parent, depth, ground, refusals, .. } = parts;
        let folder = PathBuf::from(&created.workspace);
        let memory = Memory {
            journal,
            staged: Decided::default(),
            blobs: Vec::new(),
            heard: Vec::new(),
            noted: Vec::new(),
            dead: None,
        };
        let memory = Mutex::new(memory);
        let turn = AsyncMutex::new(());
        Arc::new_cyclic(|me| Self {
            shared,
            execution,
            task,
            created,
            attempt,
            folder,
            fence,
            cancel,
            inbox,
            watcher,
            prompt_taint,
            me: Weak::clone(me),
            parent,
            depth,
            ground,
            refusals,
            kin: Mutex::default(),
            sandbox: OnceLock::new(),
            turn,
            memory,
            shown: Mutex::default(),
        })
    }

    /// Its commands run there, and so do those of whoever works for it.
    pub fn equip(&self, sandbox: Arc<dyn Sandbox>) {
        let _it_has_one = self.sandbox.set(sandbox);
    }

    /// What is kept as a blob may hold whatever the context and the workspace hold.
    fn whole_taint(&self) -> Taint {
        self.taint().join(self.labels().whole())
    }

    /// Joined over everything the execution has read.
    pub fn taint(&self) -> Taint {
        self.memory().journal.state.taint
    }

    fn shown(&self) -> std::sync::MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Commits what is staged, what `commands` lead to, and `rider`. A refused command does not hold up what stands
    /// before it, for that has happened; but the rider goes with the whole or not at all.
    pub async fn commit(&self, commands: Vec<ExecutionCommand>, rider: Rider) -> Result<Seq, Refused> {
        let _turn = self.turn.lock().await;
        self.note_refusals(When::UnderWay)?;
        let refused = self.hear_and_decide(commands).err();
        let rider = if refused.is_some() { Rider::default() } else { rider };
        let Some(Write { events, commit }) = self.prepare(rider)? else {
            return refused.map_or_else(|| Ok(self.memory().journal.head), Err);
        };
        match self.shared.commit(commit).await {
            Ok(_) => {
                events.iter().for_each(|(event, at)| self.watcher.execution(self.execution, event, *at));
                refused.map_or_else(|| Ok(self.memory().journal.head), Err)
            }
            Err(error) => {
                let dead = match error {
                    StoreError::Fenced { .. } | StoreError::StaleDelivery { .. } => Dead::Fenced,
                    StoreError::Conflict { .. }
                    | StoreError::Unread { .. }
                    | StoreError::NonceUsed { .. }
                    | StoreError::Gone { .. } => Dead::Overtaken,
                    other => Dead::Store(other.to_string()),
                };
                self.memory().dead = Some(dead.clone());
                Err(dead.into())
            }
        }
    }

    /// What came in from outside is heard just before the model is asked.
    fn hear_and_decide(&self, commands: Vec<ExecutionCommand>) -> Result<(), Refused> {
        if commands.iter().any(|command| matches!(command, ExecutionCommand::Ask(_))) {
            self.hear()?;
            // Looked at in the same breath: of many who ask at once, each sees the others' questions.
            if let Some(exhausted) = self.family_is_out_of(self.shared.wall()) {
                return Err(Rejected::OverBudget(exhausted).into());
            }
        }
        self.decide(commands)
    }

    /// For the audit, with the next commit.
    pub(super) fn note(&self, audited: NewEvent) {
        self.memory().noted.push(audited);
    }

    /// What the step came to that the model has not been asked after.
    pub(super) fn step(&self) -> Vec<Finished> {
        self.memory().journal.step()
    }

    /// Stages the injections that have arrived; whether there were any. Each is acknowledged with the commit that holds it.
    pub fn hear(&self) -> Result<bool, Refused> {
        let mut any = false;
        for Arrived { received, is_message } in self.inbox.take() {
            let message_id = received.message_id;
            self.decide(vec![ExecutionCommand::Inject(received)])?;
            if is_message {
                self.memory().heard.push(message_id);
            }
            any = true;
        }
        Ok(any)
    }

    /// The same where the agent could listen now: no call of its is without a result.
    pub fn hear_if_quiet(&self) -> Result<(), Refused> {
        let is_quiet = self.memory().journal.state.open_calls.is_empty();
        if is_quiet { self.hear().map(drop) } else { Ok(()) }
    }

    /// Decides; durable with the next commit.
    pub fn decide(&self, commands: Vec<ExecutionCommand>) -> Result<(), Refused> {
        let now = self.shared.wall();
        let mut memory = self.memory();
        if let Some(dead) = &memory.dead {
            return Err(dead.clone().into());
        }
        let Memory { journal, staged, .. } = &mut *memory;
        journal.advance(commands, staged, &self.shared.redactor, now)
    }

    /// What there is to write; `None` when there is nothing.
    fn prepare(&self, rider: Rider) -> Result<Option<Write>, Refused> {
        let mut memory = self.memory();
        if let Some(dead) = &memory.dead {
            return Err(dead.clone().into());
        }
        let Decided { events, rows } = std::mem::take(&mut memory.staged);
        if rows.is_empty() && rider.is_empty() && memory.blobs.is_empty() {
            return Ok(None);
        }
        let before = memory.journal.head;
        memory.journal.head = Seq(before.0 + rows.len() as u64);
        let mut commit = Commit::fenced(self.shared.tenant.clone(), self.shared.wall(), self.fence.clone());
        commit.expect.push((memory.journal.stream.clone(), before));
        commit.events = rows;
        commit.events.extend(self.ground.claim(&events, &memory.journal.state, commit.at));
        commit.events.append(&mut memory.noted);
        commit.acks = std::mem::take(&mut memory.heard);
        commit.blobs = std::mem::take(&mut memory.blobs);
        rider.ride(&mut commit);
        Ok(Some(Write { events, commit }))
    }

    /// What a runner asked for, with what only the host knows.
    fn complete(&self, command: RunnerCommand) -> ExecutionCommand {
        match command {
            RunnerCommand::Open { content, images } => ExecutionCommand::Accept(MessageAccepted {
                // The first message of an execution carries the execution's own number: there is exactly one.
                message_id: self.execution.to_string().parse().expect("every id is a UUID"),
                kind: MessageKind::Prompt,
                content,
                images,
                taint: self.prompt_taint,
            }),
            RunnerCommand::Ask(question) => {
                self.shown().begin_answer();
                ExecutionCommand::Ask(question)
            }
            RunnerCommand::Answer(answer) => ExecutionCommand::Answer(answer),
            RunnerCommand::GiveUp(no_answer) => ExecutionCommand::GiveUp(no_answer),
            RunnerCommand::FinishCall(outcome) => {
                let taint = self.taint_of(&outcome);
                let noted = self.audit_refused_call(&outcome);
                self.memory().noted.extend(noted);
                ExecutionCommand::FinishCall { outcome, taint }
            }
            RunnerCommand::Compact(step) => ExecutionCommand::Compact(step),
            RunnerCommand::Warn(detected) => ExecutionCommand::Warn(detected),
        }
    }

    /// What a call says is as trustworthy as what it could read. One that was never started was answered by its tool, which may
    /// have looked at anything.
    fn taint_of(&self, outcome: &CallOutcome) -> Taint {
        let state = self.state();
        match state.open_call(&outcome.call_id).map(|open| &open.phase) {
            // What an agent says is as trustworthy as what it has read.
            Some(CallPhase::Started { effect: Effect::Child, .. }) => {
                // Where there is none, the host said why.
                let child = state.child_of(&outcome.call_id);
                child.map_or(state.taint, |child| child.ended.unwrap_or_else(|| self.whole_taint()).join(state.taint))
            }
            Some(CallPhase::Started { reach, .. }) => result_taint(reach, state.taint, &self.labels()),
            _ => self.whole_taint(),
        }
    }

    async fn keep(&self, bytes: Vec<u8>) -> Result<Kept, Refused> {
        let bytes = self.shared.redactor.redact_bytes(&bytes).into_owned();
        let taint = self.whole_taint();
        let staged = self.shared.store.stage_blob(&self.shared.tenant, bytes.clone(), taint).await;
        let blob = staged.map_err(|error| Refused::Store(error.to_string()))?;
        self.shared.pass(TripwirePoint::BlobStaged).await;
        let digest = blob.digest();
        self.memory().blobs.push(blob);
        Ok(Kept { digest, bytes })
    }
}

impl Host for ExecutionHost {
    fn state(&self) -> Arc<ExecutionState> {
        Arc::clone(&self.memory().journal.state)
    }

    fn stage(&self, commands: Vec<RunnerCommand>) -> Result<(), Refused> {
        self.decide(commands.into_iter().map(|command| self.complete(command)).collect())
    }

    fn record(&self, commands: Vec<RunnerCommand>) -> BoxFuture<'_, Result<Seq, Refused>> {
        Box::pin(async move {
            self.shared.pass(TripwirePoint::BeforeRecord).await;
            let asks = commands.iter().any(|command| matches!(command, RunnerCommand::Ask(_)));
            if let Some((blocked, audited)) = if asks { self.after_step().await } else { None } {
                // What has happened is kept; what would follow is not done.
                self.commit(Vec::new(), Rider { events: vec![audited], ..Rider::default() }).await?;
                return Err(Refused::Blocked(blocked));
            }
            let commands = commands.into_iter().map(|command| self.complete(command)).collect();
            self.commit(commands, Rider::default()).await
        })
    }

    fn authorise(&self, intents: Vec<Intent>) -> BoxFuture<'_, Result<Vec<Verdict>, Refused>> {
        Box::pin(async move {
            self.shared.pass(TripwirePoint::BeforeRecord).await;
            self.judge(intents).await
        })
    }

    fn request(&self, request: HostRequest) -> BoxFuture<'_, Result<HostReply, Refused>> {
        Box::pin(async move {
            let HostRequest { permit, work } = request;
            let call_id = permit.redeem().call.call_id;
            // A permit outlives its call only in the hands of a runner that kept it.
            if self.state().open_call(&call_id).is_none() {
                return Err(Rejected::NoSuchCall(call_id).into());
            }
            match work {
                HostWork::SpawnChild(spawn) => self.spawn(call_id, spawn).await,
                HostWork::Deliver { filepath, description, kind } => {
                    match deliver(&self.shared, &self.folder, filepath, description, kind).await {
                        Err(reason) => Ok(HostReply::Declined(reason)),
                        Ok((deliverable, bytes)) => {
                            let content = self.keep(bytes).await?.digest;
                            let kept = OwnerEffect::Delivered { deliverable: deliverable.clone(), content };
                            self.commit(vec![ExecutionCommand::Keep(kept)], Rider::default()).await?;
                            Ok(HostReply::Delivered(deliverable))
                        }
                    }
                }
                HostWork::SearchMemo { query } => Ok(search_memos(&self.shared, &self.folder, query, &self.cancel)
                    .await
                    .map_or_else(HostReply::Declined, HostReply::Told)),
            }
        })
    }

    fn blob_put(&self, bytes: Vec<u8>) -> BoxFuture<'_, Result<Kept, Refused>> {
        Box::pin(self.keep(bytes))
    }

    fn blob_get(&self, digest: Digest) -> BoxFuture<'_, Result<Vec<u8>, Refused>> {
        Box::pin(async move {
            let found = self.shared.store.blob(&self.shared.tenant, digest).await;
            let found = found.map_err(|error| Refused::Store(error.to_string()))?;
            found.map(|blob| blob.bytes).ok_or_else(|| Refused::Store(format!("the blob {digest} is missing")))
        })
    }

    fn emit(&self, delta: Delta) {
        // An answer that gates have yet to judge is not shown while it is made.
        let is_words = matches!(delta, Delta::Text(_) | Delta::Reasoning(_));
        if is_words && has_gates(&self.shared, Trigger::EveryAgentResponse) {
            return;
        }
        if let Some(delta) = self.shown().redact(delta, &self.shared.redactor) {
            self.watcher.delta(self.execution, delta);
        }
    }

    fn cancel(&self) -> CancelSignal {
        self.cancel.clone()
    }
}
