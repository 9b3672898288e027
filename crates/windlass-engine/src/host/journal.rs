//! The journal of one execution: the fold so far, and how commands become a commit. It decides and applies; it does not
//! write.

use std::sync::Arc;

use windlass_domain::execution::{ExecutionCommand, ExecutionEvent, ExecutionState, decide};
use windlass_domain::{CallId, ExecutionId, Finished, Message, Refused, Seq, Tenant, Wall};
use windlass_policy::Redactor;
use windlass_store::{NewEvent, Store, StreamId};

use crate::redacted::redacted;

const PAGE: usize = 1_000;

#[derive(Debug)]
pub struct Journal {
    pub stream: StreamId,
    pub state: Arc<ExecutionState>,
    pub head: Seq,
    /// Calls that ended since the model was asked last, without what they said for as long as that is in the transcript.
    step: Vec<Finished>,
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
            ExecutionEvent::ToolFinished(finished) => self.step.push(without_content(finished)),
            ExecutionEvent::ModelRequested(_) => self.step.clear(),
            // Gates judge what was said, whatever a compaction puts in its place before they do.
            ExecutionEvent::CompactionCleared(_)
            | ExecutionEvent::CompactionFlushed(_)
            | ExecutionEvent::CompactionFinished(_) => self.step = self.step(),
            _ => {}
        }
        Arc::make_mut(&mut self.state).apply(event, at);
    }

    /// What the newest step came to.
    pub fn step(&self) -> Vec<Finished> {
        let said = |call_id: &CallId| {
            self.state.transcript.iter().rev().find_map(|message| match message.as_ref() {
                Message::Tool(result) if result.call_id == *call_id => Some(result.content.clone()),
                _ => None,
            })
        };
        let whole = |ended: &Finished| match ended.content.is_empty() {
            true => Finished { content: said(&ended.call_id).unwrap_or_default(), ..ended.clone() },
            false => ended.clone(),
        };
        self.step.iter().map(whole).collect()
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

fn without_content(finished: &Finished) -> Finished {
    let Finished { call_id, tool, status, full_output, images, taint, duration_ms, content: _ } = finished;
    Finished {
        call_id: call_id.clone(),
        tool: tool.clone(),
        status: *status,
        content: String::new(),
        full_output: *full_output,
        images: images.clone(),
        taint: *taint,
        duration_ms: *duration_ms,
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

#[cfg(test)]
mod tests {
    use windlass_domain::execution::{
        Cleared, CompactionCleared, CompactionReason, CompactionStarted, Extent, MessageAccepted, MessageKind,
    };
    use windlass_domain::{CallStatus, MessageId, Taint};

    use super::*;

    /// Regression: a result that a compaction had replaced was judged by its reference.
    #[test]
    fn gates_judge_what_was_said_and_not_what_stands_in_its_place() {
        let call_id = CallId("a".to_owned());
        let finished = Finished {
            call_id: call_id.clone(),
            tool: "bash".to_owned(),
            status: CallStatus::Ok,
            content: "forbidden words".to_owned(),
            full_output: None,
            images: Vec::new(),
            taint: Taint::Owner,
            duration_ms: 0,
        };
        let started = CompactionStarted { cycle: 1, reason: CompactionReason::Threshold, tokens_before: 9 };
        let reference = Cleared { call_id, reference: "[left out]".to_owned(), saved_to: None };
        let task = MessageAccepted {
            message_id: MessageId::new(Wall::default(), 1),
            kind: MessageKind::Prompt,
            content: "go".to_owned(),
            images: Vec::new(),
            taint: Taint::Owner,
        };
        let mut journal = Journal::new(ExecutionId::new(Wall::default(), 1));
        for event in [
            ExecutionEvent::MessageAccepted(task),
            ExecutionEvent::ToolFinished(finished),
            ExecutionEvent::CompactionStarted(started),
            ExecutionEvent::CompactionCleared(CompactionCleared { extent: Extent::Old, results: vec![reference] }),
        ] {
            journal.apply(&event, Wall::default());
        }
        assert!(format!("{:?}", journal.state.transcript).contains("[left out]"));
        assert_eq!(journal.step()[0].content, "forbidden words");
    }
}
