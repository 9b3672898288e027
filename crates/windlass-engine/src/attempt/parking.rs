//! Going to sleep on a question and waking up with its answer. What parks has read its mailbox, and its cards are still open:
//! both are guards of the commit, so that an answer or a cancel at the last moment is not slept through.

use windlass_domain::approval::{ApprovalState, CardId, Verdict};
use windlass_domain::execution::{
    CallDecision, CallPhase, DecisionOutcome, ExecutionCommand, ExecutionState, OpenCall,
};
use windlass_domain::{CallOutcome, CallStatus, HitlRequest, Taint};
use windlass_store::MailboxSeen;

use super::driver::Driver;
use crate::Error;
use crate::approvals::ApprovalJournal;
use crate::control::mailbox;
use crate::host::Rider;

impl Driver {
    /// The guards of a commit that parks. `None`: somebody has answered by now, so that there is no need to.
    pub(super) async fn parking(&self, state: &ExecutionState) -> Result<Option<Rider>, Error> {
        let shared = &self.engine.shared;
        let seen = MailboxSeen { mailbox: mailbox(self.task), seen: self.inbox.read() };
        let mut rider = Rider { unread: vec![seen], ..Rider::default() };
        for open in &state.open_calls {
            let Some(card) = open.waits_for() else { continue };
            let journal = ApprovalJournal::load(shared.store.as_ref(), &shared.tenant, card).await?;
            if heard(open, card, &journal.state).is_some() {
                return Ok(None);
            }
            rider.expect.push((journal.stream, journal.head));
        }
        Ok(Some(rider))
    }

    /// What the answers that have come mean for the calls that wait. A card whose time is up has its answer.
    pub(super) async fn answers(&self, state: &ExecutionState) -> Result<Vec<ExecutionCommand>, Error> {
        let mut answers = Vec::new();
        for open in &state.open_calls {
            let Some(card) = open.waits_for() else { continue };
            if let (ApprovalState::Requested { card: asked }, _) = self.engine.card(card).await?
                && self.engine.shared.wall() >= asked.expires_at
            {
                self.engine.lapse(card).await?;
            }
            let (approval, _) = self.engine.card(card).await?;
            answers.extend(heard(open, card, &approval));
        }
        Ok(answers)
    }

    /// The run has ended: what it still asks, or was allowed and did not do, is taken back.
    pub(super) async fn withdrawing(&self, state: &ExecutionState) -> Result<Rider, Error> {
        let mut rider = Rider::default();
        for open in &state.open_calls {
            if let CallPhase::Waiting(card) | CallPhase::Approved(card) = open.phase {
                self.engine.withdraw(&mut rider, card, "the run has ended").await?;
            }
        }
        Ok(rider)
    }

    /// The first of these cards, as seed 000 asks a user.
    pub(super) async fn question(&self, cards: &[CardId]) -> Result<Option<HitlRequest>, Error> {
        let Some(first) = cards.first() else { return Ok(None) };
        let (approval, _) = self.engine.card(*first).await?;
        Ok(approval.card().map(|card| HitlRequest {
            request_id: first.to_string().parse().expect("every id is a UUID"),
            question: card.intent.clone(),
            options: Some(["approve", "deny", "edit"].map(str::to_owned).to_vec()),
            context: Some(card.rationale.clone()).filter(|rationale| !rationale.is_empty()),
        }))
    }
}

fn heard(open: &OpenCall, card_id: CardId, approval: &ApprovalState) -> Option<ExecutionCommand> {
    let call_id = open.call.call_id.clone();
    let no = |content: String| {
        let outcome = CallOutcome {
            call_id: call_id.clone(),
            status: CallStatus::Denied,
            content,
            full_output: None,
            duration_ms: 0,
        };
        // A person's own words came over an authenticated channel.
        Some(ExecutionCommand::FinishCall { outcome, taint: Taint::Auth })
    };
    match approval {
        ApprovalState::Requested { .. } => None,
        ApprovalState::Issued { .. } => {
            let outcome = DecisionOutcome::Approved { card_id };
            Some(ExecutionCommand::Decide(CallDecision { call_id, outcome }))
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
        ApprovalState::Absent | ApprovalState::Withdrawn { .. } => {
            no("not done: the question was taken back".to_owned())
        }
    }
}
