//! What people have said to the calls that wait for them. A card that was answered lets its call go on or ends it; the answer
//! to a question is the end of its call, and its words follow as a message.

use windlass_domain::approval::{ApprovalState, CardId, Verdict};
use windlass_domain::execution::{
    CallDecision, CallPhase, DecisionOutcome, ExecutionCommand, ExecutionState, OpenCall,
};
use windlass_domain::{Awaited, CallId, CallOutcome, CallStatus, HitlRequest, QuestionState, RequestId, Seq, Taint};
use windlass_store::StreamId;

use crate::Error;
use crate::approvals::ApprovalJournal;
use crate::engine::Engine;
use crate::host::Rider;
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
            if let Some(card) = open.waits_for().and_then(Awaited::card)
                && let (ApprovalState::Requested { card: asked }, _) = self.card(card).await?
                && self.shared.wall() >= asked.expires_at
            {
                self.lapse(card).await?;
            }
            answers.extend(self.look_at(open).await?.and_then(|looked| looked.heard));
        }
        Ok(answers)
    }

    /// The run has ended: what it still asks, or was allowed and did not do, is taken back.
    pub(crate) async fn take_back(&self, rider: &mut Rider, state: &ExecutionState) -> Result<(), Error> {
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
