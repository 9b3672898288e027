//! What a user says to a task: the answer to a question of its, where it or somebody who works for it has asked one, and otherwise something
//! for whoever works on it to hear. An answer, the words for the agent and the end of the task's sleep are one commit; of two answers to one
//! question one counts, and the other is heard as what a user says unasked.

use windlass_domain::execution::AgentInjection;
use windlass_domain::task::Control;
use windlass_domain::{QuestionAnswered, QuestionAsked, QuestionEvent, QuestionState, RequestId, Taint, TaskId};
use windlass_store::{Commit, Error as StoreError};

use super::journal::QuestionJournal;
use super::put::review_message;
use crate::Error;
use crate::coordinate::{Mandate, Told};
use crate::engine::Engine;
use crate::host::Rider;

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
        let shared = &self.shared;
        let mut rider = mandate.rider(self).await?;
        let sent = self.add_words(&mut rider, task, message, taint).await?;
        let mut commit = Commit::unfenced(shared.tenant.clone(), shared.wall());
        rider.ride(&mut commit);
        shared.commit(commit).await?;
        Ok(sent)
    }

    /// The same as part of what a commit carries: the words answer the task's open question, or are heard by whoever works on it. Adds
    /// nothing where it fails.
    pub(crate) async fn add_words(
        &self,
        rider: &mut Rider,
        task: TaskId,
        message: &Message,
        taint: Taint,
    ) -> Result<Sent, Error> {
        fits(&message.text)?;
        if self.task(task).await?.is_over() {
            return Err(Error::Over(task));
        }
        match self.meant(task, message.question).await? {
            Some(question) => self.add_answer(rider, question, message, taint).await,
            None => {
                let words = AgentInjection::user_says(&message.text);
                self.tell_task(rider, task, &Told { injection: &words, taint }).await?;
                Ok(message.question.map_or(Sent::Words, Sent::TooLate))
            }
        }
    }

    /// Seed 000 §15.1 and §19.3: another program's injection. One that is a person's response answers the open question, the only one or the
    /// one that its metadata name; any other is heard.
    pub(crate) async fn add_injection(
        &self,
        rider: &mut Rider,
        task: TaskId,
        injection: &AgentInjection,
        (by, taint): (&str, Taint),
    ) -> Result<(), Error> {
        fits(&injection.content)?;
        if let Some(text) = injection.response()
            && !self.task(task).await?.is_over()
            && let Some(question) = self.meant(task, injection.answers()).await?
        {
            let message = Message { text: text.to_owned(), question: Some(question), by: by.to_owned() };
            return self.add_answer(rider, question, &message, taint).await.map(drop);
        }
        self.tell_task(rider, task, &Told { injection, taint }).await
    }

    /// The open question that is meant: the named one, or the only one of those that the task and all who work for it have asked.
    async fn meant(&self, task: TaskId, named: Option<RequestId>) -> Result<Option<RequestId>, Error> {
        let members = self.members(task).await?;
        let Some(named) = named else {
            let open = self.questions().await?.into_iter().map(|open| open.asked);
            let open: Vec<QuestionAsked> = open.filter(|asked| members.contains(&asked.task_id)).collect();
            return match open.as_slice() {
                [] => Ok(None),
                [only] => Ok(Some(only.request_id)),
                _ => Err(Error::SeveralQuestions { task, open }),
            };
        };
        let state = self.question(named).await?;
        match state.asked() {
            Some(asked) if members.contains(&asked.task_id) => {
                Ok(matches!(state, QuestionState::Open(_)).then_some(named))
            }
            Some(_) | None => Err(Error::NoSuchQuestion { task, question: named }),
        }
    }

    async fn add_answer(
        &self,
        rider: &mut Rider,
        question: RequestId,
        message: &Message,
        taint: Taint,
    ) -> Result<Sent, Error> {
        let shared = &self.shared;
        let mut journal = QuestionJournal::load(shared.store.as_ref(), &shared.tenant, question).await?;
        let head = (journal.stream.clone(), journal.head);
        let answered = QuestionAnswered { answer: message.text.clone(), by: message.by.clone() };
        let row = journal.advance(QuestionEvent::Answered(answered), &shared.redactor, taint, shared.wall())?;
        let asked = journal.state.asked().cloned().ok_or_else(|| Error::NoSuchRequest(question.to_string()))?;
        let heard = AgentInjection::user_responded(&message.text, &asked);
        let mail = self.mail(asked.task_id, Control::Inject(heard), taint)?;
        self.wake_for(rider, asked.task_id, None).await?;
        rider.expect.push(head);
        rider.events.push(row);
        rider.acks.push(review_message(question));
        rider.messages.push(mail);
        Ok(Sent::Answer(Box::new(asked)))
    }
}

/// Whether it is something to hear.
pub(crate) fn fits(text: &str) -> Result<(), Error> {
    match text {
        _ if text.trim().is_empty() => Err(Error::EmptyMessage),
        _ if text.len() > LONGEST_MESSAGE => Err(Error::MessageTooLong { most: LONGEST_MESSAGE }),
        _ => Ok(()),
    }
}
