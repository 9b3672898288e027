//! What people have said to the calls that wait for them. A card that was answered lets its call go on or ends it; the answer
//! to a question is the end of its call, and its words follow as a message.

use windlass_domain::approval::{ApprovalState, CardId, Verdict};
use windlass_domain::execution::{CallDecision, DecisionOutcome, ExecutionCommand, ExecutionState, OpenCall};
use windlass_domain::task::Control;
use windlass_domain::{Awaited, BoxFuture, CallId, CallOutcome, CallStatus, QuestionState, Seq, Taint, TaskId};
use windlass_store::StreamId;

use crate::Error;
use crate::approvals::ApprovalJournal;
use crate::control::mailbox;
use crate::engine::Engine;
use crate::host::load;
use crate::questions::QuestionJournal;

const ANSWERED: &str = "The user has answered. Their answer follows as a message from them, unless a rule of the operator's \
keeps it back.";

const TIME_TO_LOOK: &str = "The wait is over: what follows as a message says why. Look, then call `monitor` again to wait for the next \
time, or finish.";
const NO_MONITOR: &str = "The wait is over: the schedule was removed. Go on without it, or finish.";
const PAGE: usize = 100;

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
            Some(Awaited::Monitor(task)) => {
                let journal = self.monitor_journal(task).await?;
                let is_over = journal.state.active().is_none();
                let heard = is_over || self.has_words_for(task).await?;
                let content = if is_over { NO_MONITOR } else { TIME_TO_LOOK };
                let heard = heard.then(|| ended(call_id, CallStatus::Ok, content.to_owned()));
                Some(Looked { stands: (journal.stream, journal.head), heard })
            }
            // What a planner has looked into is no call's to wait for.
            None | Some(Awaited::Research(_)) => None,
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

    /// Whether there is something for its agent to hear.
    async fn has_words_for(&self, task: TaskId) -> Result<bool, Error> {
        let shared = &self.shared;
        let waiting = shared.store.mailbox(&shared.tenant, &mailbox(task), shared.wall(), PAGE).await?;
        Ok(waiting.iter().any(|message| {
            let control = Control::decode(&message.kind, message.version, &message.data);
            matches!(control, Ok(Control::Inject(_)))
        }))
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
pub(crate) fn ended(call_id: &CallId, status: CallStatus, content: String) -> ExecutionCommand {
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
