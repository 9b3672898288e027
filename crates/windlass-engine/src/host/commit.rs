//! How what happened becomes durable: records are decided and applied in memory at once, and shown to nobody until the commit
//! that holds them is on disk. If a commit is refused the host is dead, because its memory is then ahead of the truth.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use windlass_domain::execution::{ExecutionCommand, ExecutionEvent, Rejected};
use windlass_domain::{CallId, MessageId, Refused, Seq, Taint, Wall};
use windlass_store::{Commit, Error as StoreError, NewBlob, NewEvent};

use super::context_file::is_of_pattern;
use super::execution_host::ExecutionHost;
use super::journal::{Decided, Journal};
use super::refusals::When;
use super::rider::Rider;

pub struct Memory {
    pub journal: Journal,
    /// Decided and applied, and part of the next commit.
    pub staged: Decided,
    /// Safe on disk, and part of the next commit.
    pub blobs: Vec<NewBlob>,
    /// Messages that what is staged heeds.
    pub heard: Vec<MessageId>,
    /// For the audit, with the next commit.
    pub noted: Vec<NewEvent>,
    /// How trustworthy what open calls found in the tenant's memory is.
    pub recalled: BTreeMap<CallId, Taint>,
    /// Why nothing can be recorded any more.
    pub dead: Option<Dead>,
}

#[derive(Clone)]
pub enum Dead {
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

impl Memory {
    pub fn new(journal: Journal) -> Self {
        Self {
            journal,
            staged: Decided::default(),
            blobs: Vec::new(),
            heard: Vec::new(),
            noted: Vec::new(),
            recalled: BTreeMap::new(),
            dead: None,
        }
    }
}

impl ExecutionHost {
    pub(super) fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
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
                if events.iter().any(|(event, _)| is_of_pattern(event)) {
                    self.write_context().await;
                }
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
    fn hear_and_decide(&self, mut commands: Vec<ExecutionCommand>) -> Result<(), Refused> {
        let asks = |command: &ExecutionCommand| {
            matches!(command, ExecutionCommand::Ask(_) | ExecutionCommand::OpenExchange { .. })
        };
        if !commands.iter().any(asks) {
            return self.decide(commands);
        }
        if !self.is_foreign() {
            self.hear()?;
        }
        // Looked at and decided in the same breath: of many who ask at once, each sees the others' questions.
        let eldest = self.eldest();
        let _purse = eldest.as_ref().map(|eldest| eldest.purse.lock().unwrap_or_else(PoisonError::into_inner));
        let now = self.shared.wall();
        if let Some(exhausted) = self.family_is_out_of(now) {
            return Err(Rejected::OverBudget(exhausted).into());
        }
        for command in &mut commands {
            if let ExecutionCommand::OpenExchange { left, .. } = command {
                *left = self.family_has_left(now);
            }
        }
        self.decide(commands)
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

    /// For the audit, with the next commit.
    pub(super) fn note(&self, audited: NewEvent) {
        self.memory().noted.push(audited);
    }
}
