//! What people have said to the calls that wait for them. A card that was answered lets its call go on or ends it; the answer
//! to a question is the end of its call, and its words follow as a message.

use std::sync::Arc;

use windlass_domain::approval::{ApprovalState, CardId, Verdict};
use windlass_domain::execution::{
    CallDecision, CallPhase, Child, DecisionOutcome, ExecutionCommand, ExecutionState, Lifecycle, OpenCall,
};
use windlass_domain::{
    Awaited, BoxFuture, CallId, CallOutcome, CallStatus, Effect, HitlRequest, QuestionState, RequestId, Seq, Taint,
    TaskId,
};
use windlass_store::StreamId;

use crate::Error;
use crate::approvals::ApprovalJournal;
use crate::attempt::move_to;
use crate::engine::Engine;
use crate::host::{Decided, Rider, bill, load};
use crate::questions::QuestionJournal;

const ANSWERED: &str = "The user has answered. Their answer follows as a message from them, unless a rule of the operator's \
keeps it back.";

/// What a call waits for, as it stands.
pub(crate) struct Looked {
    pub stands: (StreamId, Seq),
    /// What follows for the call; nothing while nobody has answered.
    pub heard: Option<ExecutionCommand>,
}

impl Engine {
    /// Nothing for a call that waits for nobody.
    pub(crate) async fn look_at(&self, open: &OpenCall) -> Result<Option<Looked>, Error> {
        let (store, tenant) = (self.shared.store.as_ref(), &self.shared.tenant);
        let call_id = &open.call.call_id;
        Ok(match open.waits_for() {
            None => None,
            Some(Awaited::Card(card)) => {
                let journal = ApprovalJournal::load(store, tenant, card).await?;
                let heard = heard_of_card(call_id, card, &journal.state);
                Some(Looked { stands: (journal.stream, journal.head), heard })
            }
            Some(Awaited::Question(question)) => {
                let journal = QuestionJournal::load(store, tenant, question).await?;
                let heard = heard_of_question(call_id, &journal.state);
                Some(Looked { stands: (journal.stream, journal.head), heard })
            }
        })
    }

    /// What the answers that have come mean for the calls that wait. A card whose time is up has its answer.
    pub(crate) async fn answers(&self, state: &ExecutionState) -> Result<Vec<ExecutionCommand>, Error> {
        let mut answers = Vec::new();
        for open in &state.open_calls {
            answers.extend(self.hear_for(open).await?);
        }
        Ok(answers)
    }

    async fn hear_for(&self, open: &OpenCall) -> Result<Option<ExecutionCommand>, Error> {
        if let Some(card) = open.waits_for().and_then(Awaited::card)
            && let (ApprovalState::Requested { card: asked }, _) = self.card(card).await?
            && self.shared.wall() >= asked.expires_at
        {
            self.lapse(card).await?;
        }
        Ok(self.look_at(open).await?.and_then(|looked| looked.heard))
    }

    /// Whether anybody has answered anything that an execution, or an agent that works for it, waits for.
    pub(crate) async fn is_anything_heard(&self, state: &ExecutionState) -> Result<bool, Error> {
        for open in self.waiting(state).await? {
            if self.hear_for(&open).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// All that an execution waits for, and those who work for it.
    pub(crate) async fn awaited(&self, state: &ExecutionState) -> Result<Vec<Awaited>, Error> {
        Ok(self.waiting(state).await?.iter().filter_map(OpenCall::waits_for).collect())
    }

    /// The calls that wait for a person, of an execution and of agents that it spawned and that have not ended.
    pub(crate) fn waiting<'a>(&'a self, state: &'a ExecutionState) -> BoxFuture<'a, Result<Vec<OpenCall>, Error>> {
        Box::pin(async move {
            let own = state.open_calls.iter().filter(|open| open.waits_for().is_some());
            let mut waiting: Vec<OpenCall> = own.cloned().collect();
            for child in state.children.iter().filter(|child| child.ended.is_none()) {
                let (store, tenant) = (self.shared.store.as_ref(), &self.shared.tenant);
                let journal = load(store, tenant, child.execution_id).await?;
                if !journal.state.lifecycle.is_over() {
                    waiting.extend(self.waiting(&journal.state).await?);
                }
            }
            Ok(waiting)
        })
    }

    /// The run has ended: what it still asks, or was allowed and did not do, is taken back. Agents that work for it end with it;
    /// what is returned puts their bills on its account and ends the calls that spawned them.
    pub(crate) fn take_back<'a>(
        &'a self,
        task: TaskId,
        rider: &'a mut Rider,
        state: &'a ExecutionState,
    ) -> BoxFuture<'a, Result<Vec<ExecutionCommand>, Error>> {
        Box::pin(async move {
            self.take_back_calls(rider, state).await?;
            let mut bills = Vec::new();
            for child in state.children.iter().filter(|child| child.ended.is_none()) {
                bills.extend(self.end_child(task, rider, child).await?);
            }
            // A call whose agent ended here has its result as any other, and nobody else would write it.
            let spawned = state.open_calls.iter().filter(|open| open.started() == Some(&Effect::Child));
            bills.extend(spawned.map(|open| ended(&open.call.call_id, CallStatus::Cancelled, CUT_SHORT.to_owned())));
            Ok(bills)
        })
    }

    async fn end_child(
        &self,
        task: TaskId,
        rider: &mut Rider,
        child: &Child,
    ) -> Result<Option<ExecutionCommand>, Error> {
        let shared = &self.shared;
        let mut journal = load(shared.store.as_ref(), &shared.tenant, child.execution_id).await?;
        if journal.state.header.is_none() {
            return Ok(None);
        }
        if !journal.state.lifecycle.is_over() {
            let state = Arc::clone(&journal.state);
            let mut commands = self.take_back(task, rider, &state).await?;
            let may = |to: &Lifecycle| state.lifecycle.may_become(*to);
            let end = [Lifecycle::Cancelled, Lifecycle::Failed].into_iter().find(may).unwrap_or(Lifecycle::Failed);
            commands.push(move_to(end, "its parent has ended"));
            rider.expect.push((journal.stream.clone(), journal.head));
            let mut decided = Decided::default();
            let ended = journal.advance(commands, &mut decided, &shared.redactor, shared.wall());
            ended.map_err(|refused| Error::Broken { task, detail: refused.to_string() })?;
            rider.events.extend(decided.rows);
        }
        Ok(Some(ExecutionCommand::Charge(Box::new(bill(&child.label, &journal.state, None)))))
    }

    async fn take_back_calls(&self, rider: &mut Rider, state: &ExecutionState) -> Result<(), Error> {
        const ENDED: &str = "the run has ended";
        for open in &state.open_calls {
            match open.phase {
                CallPhase::Waiting(Awaited::Card(card)) | CallPhase::Approved(card) => {
                    self.withdraw(rider, card, ENDED).await?;
                }
                CallPhase::Waiting(Awaited::Question(question)) => {
                    self.withdraw_question(rider, question, ENDED).await?;
                }
                CallPhase::Asked | CallPhase::Rewritten | CallPhase::Started { .. } => {}
            }
        }
        Ok(())
    }

    /// What a person is asked, as seed 000 puts it.
    pub(crate) async fn hitl_request(&self, awaited: Awaited) -> Result<Option<HitlRequest>, Error> {
        match awaited {
            Awaited::Card(card) => self.card_as_request(card).await,
            Awaited::Question(question) => self.question_as_request(question).await,
        }
    }

    async fn card_as_request(&self, card_id: CardId) -> Result<Option<HitlRequest>, Error> {
        let (approval, _) = self.card(card_id).await?;
        Ok(approval.card().map(|card| HitlRequest {
            request_id: card_id.to_string().parse().expect("every id is a UUID"),
            question: card.intent.clone(),
            options: Some(["approve", "deny", "edit"].map(str::to_owned).to_vec()),
            context: Some(card.rationale.clone()).filter(|rationale| !rationale.is_empty()),
        }))
    }

    async fn question_as_request(&self, request_id: RequestId) -> Result<Option<HitlRequest>, Error> {
        let state = self.question(request_id).await?;
        Ok(state.asked().map(|asked| HitlRequest {
            request_id,
            question: asked.asked.question.clone(),
            options: Some(asked.asked.options.clone()).filter(|options| !options.is_empty()),
            context: asked.asked.context.clone(),
        }))
    }
}

fn heard_of_card(call_id: &CallId, card_id: CardId, approval: &ApprovalState) -> Option<ExecutionCommand> {
    let no = |content: String| Some(ended(call_id, CallStatus::Denied, content));
    match approval {
        ApprovalState::Requested { .. } => None,
        ApprovalState::Issued { .. } => {
            let outcome = DecisionOutcome::Approved { card_id };
            Some(ExecutionCommand::Decide(CallDecision { call_id: call_id.clone(), outcome }))
        }
        ApprovalState::Refused { decision, .. } => {
            let note = if decision.note.is_empty() { String::new() } else { format!(": {}", decision.note) };
            no(match decision.verdict {
                Verdict::EditRequested => format!("not done: a person asks for a change{note}"),
                _ => format!("not done: a person declined it{note}"),
            })
        }
        ApprovalState::Expired { .. } => {
            no("not done: it needs a person's approval, and nobody answered in time".to_owned())
        }
        // A yes and its token are one commit: without the token somebody has written there who should not.
        ApprovalState::Decided { .. } => no("not done: the answer to it is not signed".to_owned()),
        ApprovalState::Absent | ApprovalState::Withdrawn { .. } => no(TAKEN_BACK.to_owned()),
    }
}

const CUT_SHORT: &str = "cancelled: the run has ended, and the sub-agent with it";
const TAKEN_BACK: &str = "not done: the question was taken back";

fn heard_of_question(call_id: &CallId, question: &QuestionState) -> Option<ExecutionCommand> {
    match question {
        QuestionState::Open(_) => None,
        QuestionState::Answered(_) => Some(ended(call_id, CallStatus::Ok, ANSWERED.to_owned())),
        QuestionState::Absent | QuestionState::Withdrawn(_) => {
            Some(ended(call_id, CallStatus::Denied, TAKEN_BACK.to_owned()))
        }
    }
}

/// A person's own words came over an authenticated channel.
fn ended(call_id: &CallId, status: CallStatus, content: String) -> ExecutionCommand {
    let outcome = CallOutcome {
        call_id: call_id.clone(),
        status,
        content,
        full_output: None,
        images: Vec::new(),
        duration_ms: 0,
    };
    ExecutionCommand::FinishCall { outcome, taint: Taint::Auth }
}
