//! How a task stands, read from its records: whether it is over, who is asked, and whether anybody who is alive works on it or for it.

use windlass_domain::approval::{ApprovalState, CardId};
use windlass_domain::task::{TaskState, TaskStatus};
use windlass_domain::{Awaited, QuestionState, TaskId};

use super::stands::{Member, Stands, goes_on};
use crate::Error;
use crate::engine::Engine;

impl Engine {
    pub async fn how_it_stands(&self, task: TaskId, state: &TaskState) -> Result<Stands, Error> {
        Ok(match state.status {
            Some(TaskStatus::Completed) if state.result.as_ref().is_some_and(|result| result.verified) => {
                Stands::Verified
            }
            Some(TaskStatus::Completed) => Stands::Completed,
            Some(TaskStatus::Failed) => Stands::Failed,
            Some(TaskStatus::Cancelled) => Stands::Cancelled,
            Some(TaskStatus::Paused | TaskStatus::Running) | None => self.standing_while_open(task, state).await?,
        })
    }

    /// One who works for a task that stands so. A person who stopped the whole stopped them.
    pub async fn standing_of_part(&self, run: TaskId, whole: Stands) -> Result<Stands, Error> {
        let state = self.task(run).await?;
        let stands = self.how_it_stands(run, &state).await?;
        Ok(if stands == Stands::Paused && whole == Stands::Stopped { Stands::Stopped } else { stands })
    }

    /// Whether somebody works on it or for it.
    pub async fn is_driven(&self, task: TaskId) -> Result<bool, Error> {
        for member in self.members(task).await? {
            match self.nobody_drives(member).await {
                Ok(()) => {}
                Err(Error::HeldElsewhere { .. }) => return Ok(true),
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    async fn standing_while_open(&self, task: TaskId, state: &TaskState) -> Result<Stands, Error> {
        if let Some(asked) = self.asked_of_people(task, state).await? {
            return Ok(asked);
        }
        if state.status == Some(TaskStatus::Paused) {
            return Ok(if state.is_stopped { Stands::Stopped } else { Stands::Paused });
        }
        if self.is_driven(task).await? {
            return Ok(Stands::Running);
        }
        if is_planned(state) && self.graph(task).await?.is_aligned() {
            return Ok(Stands::Agreed);
        }
        Ok(goes_on(&self.members_known(task).await?))
    }

    /// What a person is asked by the task or by those who work for it.
    async fn asked_of_people(&self, task: TaskId, state: &TaskState) -> Result<Option<Stands>, Error> {
        let waits_for: Vec<Awaited> = match is_planned(state) {
            true => self.asks(task).await?.into_iter().map(|(_, about)| about).collect(),
            false => state.waits_for.clone(),
        };
        for about in &waits_for {
            if self.is_open(*about).await? {
                return Ok(Some(Stands::Waiting(*about)));
            }
        }
        Ok((!waits_for.is_empty()).then_some(Stands::Answered))
    }

    async fn is_open(&self, about: Awaited) -> Result<bool, Error> {
        Ok(match about {
            Awaited::Card(card) => self.is_card_open(card).await?,
            Awaited::Question(question) => matches!(self.question(question).await?, QuestionState::Open(_)),
            // Nobody is asked about it.
            Awaited::Research(_) | Awaited::Monitor(_) => true,
        })
    }

    async fn is_card_open(&self, card: CardId) -> Result<bool, Error> {
        let (state, _) = self.card(card).await?;
        Ok(matches!(state, ApprovalState::Requested { card } if self.shared.wall() < card.expires_at))
    }

    async fn members_known(&self, task: TaskId) -> Result<Vec<Member>, Error> {
        let mut members = Vec::new();
        for member in self.members(task).await? {
            let state = self.task(member).await?;
            members.push(Member {
                has_begun: !state.attempts.is_empty(),
                is_paused: state.status == Some(TaskStatus::Paused),
                sending: self.sending(member).await?,
            });
        }
        Ok(members)
    }
}

fn is_planned(state: &TaskState) -> bool {
    state.created.as_ref().is_some_and(|created| created.planned)
}
