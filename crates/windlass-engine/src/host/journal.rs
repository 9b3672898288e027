//! The journal of one execution: the fold so far, and how commands become a commit. It decides and applies; it does not
//! write.

use std::sync::Arc;

use windlass_domain::execution::{ExecutionCommand, ExecutionEvent, ExecutionState, decide};
use windlass_domain::{ExecutionId, Finished, Refused, Seq, Tenant, Wall};
use windlass_policy::Redactor;
use windlass_store::{NewEvent, Store, StreamId};

use crate::redacted::redacted;

const PAGE: usize = 1_000;

#[derive(Debug)]
pub struct Journal {
    pub stream: StreamId,
    pub state: Arc<ExecutionState>,
    pub head: Seq,
    /// Results since the model was asked last: what its newest step came to.
    pub step: Vec<Finished>,
}

/// What commands came to and nobody has written yet: the events, for watchers, and their rows.
#[derive(Default)]
pub struct Decided {
    pub events: Vec<(ExecutionEvent, Wall)>,
    pub rows: Vec<NewEvent>,
}

impl Journal {
    pub fn new(execution: ExecutionId) -> Self {
        Self { stream: stream(execution), state: Arc::default(), head: Seq(0), step: Vec::new() }
    }

    fn apply(&mut self, event: &ExecutionEvent, at: Wall) {
        match event {
            ExecutionEvent::ToolFinished(finished) => self.step.push(finished.clone()),
            ExecutionEvent::ModelRequested(_) => self.step.clear(),
            _ => {}
        }
        Arc::make_mut(&mut self.state).apply(event, at);
    }

    /// Decides one command after the other, each on what the one before it led to. Stops at the first that is refused;
    /// what stands before it is in `decided`.
    pub fn advance(
        &mut self,
        commands: Vec<ExecutionCommand>,
        decided: &mut Decided,
        redactor: &Redactor,
        now: Wall,
    ) -> Result<(), Refused> {
        for command in commands {
            let event = decide(&self.state, command, now)?;
            let (event, encoded) = redacted(event, redactor)?;
            self.apply(&event, now);
            decided.rows.push(NewEvent { stream: self.stream.clone(), encoded, taint: self.state.taint, at: now });
            decided.events.push((event, now));
        }
        Ok(())
    }
}

pub fn stream(execution: ExecutionId) -> StreamId {
    StreamId::new("execution", execution)
}

/// Folds an execution's journal from the store.
pub async fn load(store: &dyn Store, tenant: &Tenant, execution: ExecutionId) -> Result<Journal, crate::Error> {
    let mut journal = Journal::new(execution);
    loop {
        let page = store.stream(tenant, &journal.stream, journal.head, PAGE).await?;
        for row in &page {
            journal.apply(&ExecutionEvent::decode(&row.kind, row.version, &row.data)?, row.at);
            journal.head = row.seq;
        }
        if page.len() < PAGE {
            return Ok(journal);
        }
    }
}
