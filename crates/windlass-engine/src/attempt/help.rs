//! Asking a person about an attempt that failed, where its plan wants that (`on_stuck`, `on_failure`, `escalation`): the item's task
//! sleeps on a card. Words that come back go into the next attempt, as a planner's would; a no gives the item up; and one attempt
//! more than the plan allows begins on the token of the yes to it, once.

use serde_json::json;
use windlass_domain::approval::{
    ApprovalScope, ApprovalState, Binding, Card, CardId, RiskLevel, Verdict, WorstCase, bound,
};
use windlass_domain::queue::ExecutionStatus;
use windlass_domain::task::{Help, HelpAbout, HelpAnswer, HelpAnswered, HelpAsked, PartOf, TaskAction, share};
use windlass_domain::{Awaited, Digest, ErrorCode, ErrorDetails, Taint, TaskId, Usd, Wall};

use super::drive::Driven;
use super::driver::Driver;
use crate::Error;
use crate::approvals::{Approved, Use, request};
use crate::host::{Rider, item_shown};
use crate::parts::Status;

/// Of what became of the attempts, so much is shown on the card.
const MOST_CHARS: usize = 4_000;

impl Driver {
    /// Asks and goes to sleep.
    pub(super) async fn ask_help(&mut self, attempt: u32, about: HelpAbout) -> Result<Driven, Error> {
        let shared = self.engine.shared.clone();
        let now = shared.wall();
        let card = CardId::new(now, shared.runtime.random());
        let mut rider = Rider::default();
        let shown = self.help_card(HelpAsked { attempt, card, about }, now)?;
        let message = format!("attempt {attempt} failed as well; a person is asked: {}", shown.intent);
        // What failed is told in the words of whatever was run.
        request(&mut rider, shown, self.task, &shared.redactor, Taint::External, now)?;
        let stuck = Status::wrong(ExecutionStatus::Stuck, ErrorDetails::new(ErrorCode::ChecksFailed, message));
        self.engine.tell_status(&mut rider, &self.journal.state, stuck)?;
        let asked = TaskAction::AskHelp(HelpAsked { attempt, card, about });
        let mut driven = self.sleep(vec![asked], rider).await?;
        if let Driven::Waiting(result) = &mut driven {
            result.hitl_request = self.engine.hitl_request(Awaited::Card(card)).await?;
        }
        Ok(driven)
    }

    /// Takes in what a person has said; whether they have.
    pub(super) async fn hear_help(&mut self) -> Result<bool, Error> {
        let Some(Help { card, about, .. }) = self.journal.state.open_help().cloned() else { return Ok(false) };
        let journal = self.engine.asked(card).await?;
        let Some(answer) = heard(&journal.state, about) else { return Ok(false) };
        let rider = Rider { expect: vec![(journal.stream, journal.head)], ..Rider::default() };
        let answered = TaskAction::AnswerHelp(HelpAnswered { card, answer });
        self.act(vec![answered], rider, Vec::new()).await?;
        Ok(true)
    }

    /// Nobody is asked any more about what has ended.
    pub(super) async fn withdraw_help(&self, rider: &mut Rider) -> Result<(), Error> {
        match self.journal.state.open_help() {
            Some(help) => self.engine.withdraw(rider, help.card, "the run has ended").await,
            None => Ok(()),
        }
    }

    /// The token that the next attempt begins on, where it is one more than the plan allows.
    pub(super) fn leave_for_one_more(&self) -> Result<Option<Use>, Error> {
        let state = &self.journal.state;
        let made = u32::try_from(state.attempts.len()).unwrap_or(u32::MAX);
        if made < self.created()?.budget.max_attempts {
            return Ok(None);
        }
        let newest = state.helps.iter().rfind(|help| help.about == HelpAbout::OneMore);
        Ok(newest.map(|help| {
            let what = Approved::OneMore(one_more(self.task, help.attempt));
            Use { card_id: help.card, task: self.task, what }
        }))
    }

    fn help_card(&self, asked: HelpAsked, now: Wall) -> Result<Card, Error> {
        let HelpAsked { attempt, card, about } = asked;
        let shared = &self.engine.shared;
        let created = self.created()?;
        let item = item_shown(created);
        let named = item["id"].as_str().unwrap_or_default();
        let (intent, consequence) = match about {
            HelpAbout::NextAttempt => (
                format!("say what attempt {} of `{named}` should do differently", attempt + 1),
                "what you write with a yes or an edit is told to the next attempt; a no gives the item up",
            ),
            HelpAbout::OneMore => (
                format!("let `{named}` have one attempt more than its plan allows"),
                "one more attempt, which is told what you write beside the yes; a no or an edit gives the item up, and tells \
                 the planner why",
            ),
        };
        Ok(Card {
            card_id: card,
            intent,
            risk_level: RiskLevel::Low,
            rationale: self.journal.state.failures().join("\n\n").chars().take(MOST_CHARS).collect(),
            consequence_label: consequence.to_owned(),
            affected_items: vec![named.to_owned()],
            details: json!({"kind": "help", "about": about, "attempt": attempt, "item": item, "task_id": self.task}),
            worst_case: (about == HelpAbout::OneMore)
                .then(|| -> WorstCase { bound(&share(&created.budget), &created.base_case, (0, Usd::ZERO)) }),
            expires_at: now + shared.law.card_lifetime,
            binds: Binding {
                tenant: shared.tenant.clone(),
                work_item_id: self.task.to_string(),
                scope: ApprovalScope::Budget,
                plan_hash: None,
                binding_hash: Some(one_more(self.task, attempt)),
                spawn_policy_hash: None,
                max_executions: 1,
            },
        })
    }

    /// One that was allowed besides is checked against the plan too: it does what every attempt of the item would.
    pub(super) async fn use_one_more(
        &self,
        of: &PartOf,
        wanted: &Use,
        rider: &mut Rider,
    ) -> Result<Result<(), String>, Error> {
        match self.check_whole_approval(of, rider).await? {
            Ok(()) => crate::approvals::use_token(&self.engine.shared, wanted, rider).await,
            Err(why) => Ok(Err(why)),
        }
    }
}

/// What a yes to one more attempt binds: whose, and after which.
fn one_more(task: TaskId, attempt: u32) -> Digest {
    Digest::of(&serde_json::to_vec(&("one more attempt", task, attempt)).expect("plain data"))
}

fn heard(approval: &ApprovalState, about: HelpAbout) -> Option<HelpAnswer> {
    let give_up = |why: &str| Some(HelpAnswer::GiveUp { why: why.to_owned() });
    match approval {
        ApprovalState::Requested { .. } => None,
        // What is said beside a yes reaches the agent as a message.
        ApprovalState::Issued { .. } => Some(HelpAnswer::GoOn { said: String::new() }),
        // One attempt more needs a signed yes.
        ApprovalState::Refused { decision, .. }
            if decision.verdict == Verdict::EditRequested && about == HelpAbout::NextAttempt =>
        {
            Some(HelpAnswer::GoOn { said: decision.note.clone() })
        }
        ApprovalState::Refused { decision, .. } if decision.note.trim().is_empty() => give_up("no reason was given"),
        ApprovalState::Refused { decision, .. } => give_up(&decision.note),
        ApprovalState::Expired { .. } => give_up("nobody answered in time"),
        ApprovalState::Decided { .. } => give_up("the answer is not signed"),
        ApprovalState::Absent | ApprovalState::Withdrawn { .. } => give_up("the question was taken back"),
    }
}
