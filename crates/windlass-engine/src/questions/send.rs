//! What a user says to a task: the answer to a question of its, where it has asked one, and otherwise something for its agent
//! to hear. An answer, the words for the agent and the end of the task's sleep are one commit; of two answers to one
//! question one counts, and the other is heard as what a user says unasked.

use windlass_domain::execution::AgentInjection;
use windlass_domain::task::Control;
use windlass_domain::{QuestionAnswered, QuestionAsked, QuestionEvent, QuestionState, RequestId, Taint, TaskId};
use windlass_store::{Commit, Error as StoreError};

use super::journal::QuestionJournal;
use super::put::review_message;
use crate::Error;
use crate::coordinate::Mandate;
use crate::engine::Engine;

/// In bytes. What is longer belongs into a file of the workspace.
pub const LONGEST_MESSAGE: usize = 64 << 10;
/// Others may write to the same streams meanwhile; nobody does so for long.
const TRIES: usize = 16;

/// What somebody says, to which question, if to one.
#[derive(Debug, Clone)]
pub struct Message {
    pub text: String,
    pub question: Option<RequestId>,
    pub by: String,
}

/// What a message came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// It answers this question.
    Answer(Box<QuestionAsked>),
    /// The agent hears it before its next question to the model.
    Words,
    /// The same: the question that it was meant for had its answer.
    TooLate(RequestId),
}

impl Engine {
    pub async fn send(&self, task: TaskId, message: &Message) -> Result<Sent, Error> {
        self.send_as(Taint::Auth, task, message, &Mandate::own()).await
    }

    /// What somebody says who is not the owner, such as another agent: heard all the same, and external from then on.
    pub async fn send_from_outside(&self, task: TaskId, message: &Message) -> Result<Sent, Error> {
        self.send_as(Taint::External, task, message, &Mandate::own()).await
    }

    pub(crate) async fn send_as(
        &self,
        taint: Taint,
        task: TaskId,
        message: &Message,
        mandate: &Mandate,
    ) -> Result<Sent, Error> {
        if message.text.trim().is_empty() {
            return Err(Error::EmptyMessage);
        }
        if message.text.len() > LONGEST_MESSAGE {
            return Err(Error::MessageTooLong { most: LONGEST_MESSAGE });
        }
        let mut tries = 0;
        loop {
            tries += 1;
            match self.try_send(taint, task, message, mandate).await {
                Err(Error::Store(StoreError::Conflict { .. } | StoreError::Gone { .. }) | Error::Question(_))
                    if tries < TRIES => {}
                sent => return sent,
            }
        }
    }

    async fn try_send(&self, taint: Taint, task: TaskId, message: &Message, mandate: &Mandate) -> Result<Sent, Error> {
        if self.task(task).await?.is_over() {
            return Err(Error::Over(task));
        }
        match self.meant(task, message.question).await? {
            Some(question) => self.answer_question((taint, mandate), task, message, question).await,
            None => {
                let words = Control::Inject(AgentInjection::user_says(&message.text));
                self.tell(task, words, taint, mandate).await?;
                Ok(message.question.map_or(Sent::Words, Sent::TooLate))
            }
        }
    }

    /// The open question that is meant: the named one, or the only one of the task's.
    async fn meant(&self, task: TaskId, named: Option<RequestId>) -> Result<Option<RequestId>, Error> {
        let Some(named) = named else {
            let open = self.questions().await?.into_iter().map(|open| open.asked);
            let open: Vec<QuestionAsked> = open.filter(|asked| asked.task_id == task).collect();
            return match open.as_slice() {
                [] => Ok(None),
                [only] => Ok(Some(only.request_id)),
                _ => Err(Error::SeveralQuestions { task, open }),
            };
        };
        let state = self.question(named).await?;
        match state.asked() {
            Some(asked) if asked.task_id == task => Ok(matches!(state, QuestionState::Open(_)).then_some(named)),
            Some(_) | None => Err(Error::NoSuchQuestion { task, question: named }),
        }
    }

    async fn answer_question(
        &self,
        (taint, mandate): (Taint, &Mandate),
        task: TaskId,
        message: &Message,
        question: RequestId,
    ) -> Result<Sent, Error> {
        let shared = &self.shared;
        let now = shared.wall();
        let mut journal = QuestionJournal::load(shared.store.as_ref(), &shared.tenant, question).await?;
        let mut commit = Commit::unfenced(shared.tenant.clone(), now);
        mandate.rider(self).await?.ride(&mut commit);
        commit.expect.push((journal.stream.clone(), journal.head));
        let answered = QuestionAnswered { answer: message.text.clone(), by: message.by.clone() };
        commit.events.push(journal.advance(QuestionEvent::Answered(answered), &shared.redactor, taint, now)?);
        let asked = journal.state.asked().cloned().ok_or(Error::NoSuchQuestion { task, question })?;
        commit.acks.push(review_message(question));
        let heard = AgentInjection::user_responded(&message.text, &asked);
        commit.messages.push(self.mail(task, Control::Inject(heard), taint)?);
        self.wake(&mut commit, task).await?;
        shared.commit(commit).await?;
        Ok(Sent::Answer(Box::new(asked)))
    }
}
