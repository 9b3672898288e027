//! Seed 000 §15.1's `TaskCommand`: a direct run that another program orders, under ids that it chose. Who signs for it is whoever opened the
//! door it came by; the run is then approved as any direct run is, for low and medium calls in the folder that the door's operator named.

use windlass_domain::coordinate::{Names, Origin};
use windlass_domain::execution::{AgentInjection, InjectionType};
use windlass_domain::session::SessionAction;
use windlass_domain::task::{Control, ResumeContext};
use windlass_domain::{CallerName, CommandId, SessionId, Taint, TaskId};
use windlass_policy::approve::OwnerKey;
use windlass_store::Error as StoreError;

use super::mandate::marker;
use super::{Opening, Place};
use crate::Error;
use crate::engine::Engine;
use crate::host::Rider;
use crate::submit::{Commission, Dispatch, Submission, Taken};

const KIND: &str = "task-command";
/// Others may write to the same session meanwhile; nobody does so for long.
const TRIES: usize = 16;

#[derive(Debug, Clone)]
pub struct TaskOrder {
    pub command_id: CallerName,
    pub session_id: CallerName,
    pub task_id: CallerName,
    pub origin: Origin,
    pub submission: Submission,
    /// Of a task that another system had, or that is to go on here.
    pub resume_context: Option<ResumeContext>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commanded {
    /// It was taken in when it came the first time.
    Before,
    Begun(TaskId),
    /// It begins when one of its session's tasks is over.
    Waits(TaskId),
    /// There is such a task: it hears what the command brings.
    Told(TaskId),
}

impl Engine {
    pub async fn command(&self, order: &TaskOrder, issuer: Option<&OwnerKey>) -> Result<Commanded, Error> {
        let session = SessionId::called(&self.shared.tenant, &order.session_id);
        let _one_after_the_other = self.shared.turnstiles.pass(session).await;
        let mut tries = 0;
        loop {
            tries += 1;
            if self.is_commanded(order).await? {
                return Ok(Commanded::Before);
            }
            match Box::pin(self.try_command(order, session, issuer)).await {
                Err(
                    Error::Store(StoreError::Conflict { .. } | StoreError::Duplicate { .. } | StoreError::Gone { .. })
                    | Error::Question(_),
                ) if tries < TRIES => {}
                commanded => return commanded,
            }
        }
    }

    async fn is_commanded(&self, order: &TaskOrder) -> Result<bool, Error> {
        let once = marker(KIND, order.command_id.as_str());
        Ok(self.shared.store.is_marked(&self.shared.tenant, &once).await?)
    }

    async fn try_command(
        &self,
        order: &TaskOrder,
        session: SessionId,
        issuer: Option<&OwnerKey>,
    ) -> Result<Commanded, Error> {
        let shared = &self.shared;
        let task = self.task_called(&order.task_id);
        let mut rider = Rider { processed: vec![marker(KIND, order.command_id.as_str())], ..Rider::default() };
        match (self.task(task).await, &order.resume_context) {
            (Err(Error::NoSuchTask(_)), _) => {}
            (Err(error), _) => return Err(error),
            (Ok(_), None) => return Err(Error::TaskKnown(task)),
            (Ok(_), Some(context)) => return self.go_on_as_told(task, context, order, rider).await,
        }
        let mut journal = self.session_journal(session).await?;
        if journal.state.workspace.is_none() {
            let called = Some(order.session_id.clone());
            let opening = Opening { called, ..Opening::by(&order.origin) };
            let workspace = order.submission.workspace.to_string_lossy().into_owned();
            let open = [SessionAction::Open(opening.opens(workspace))];
            journal.ride(&mut rider, open, &shared.redactor, Taint::Auth, shared.wall())?;
        }
        let called = Names { command_id: Some(order.command_id.clone()), task_id: Some(order.task_id.clone()) };
        let place = self.take_place(&mut rider, &mut journal, task, called).await?;
        for (injection, taint) in order.resume_context.iter().flat_map(brought) {
            rider.messages.push(self.mail(task, Control::Inject(injection), taint)?);
        }
        let command = CommandId::called(&shared.tenant, &order.command_id);
        let taken = Taken::Commanded(Box::new(Commission { task, session, command, place, rider }));
        Box::pin(self.take_task(order.submission.clone(), Dispatch::ToWorkers, issuer, taken)).await?;
        Ok(match place {
            Place::Begins => Commanded::Begun(task),
            Place::Waits { .. } => Commanded::Waits(task),
        })
    }

    /// What was said is in the task's own journal, whatever the command says of it; new is what it brings, perhaps the answer to a question.
    async fn go_on_as_told(
        &self,
        task: TaskId,
        context: &ResumeContext,
        order: &TaskOrder,
        mut rider: Rider,
    ) -> Result<Commanded, Error> {
        let shared = &self.shared;
        let journal = self.task_journal(task).await?;
        if journal.state.is_over() {
            return Err(Error::Over(task));
        }
        rider.expect.push((journal.stream, journal.head));
        let from = (order.origin.by.as_str(), order.origin.taint);
        match self.add_injection(&mut rider, task, &context.injection, from).await {
            // A plain word to go on is heeded also where nobody is there yet, or any more, who could hear it.
            Err(Error::NobodyHears(_) | Error::TooLate(_) | Error::EmptyMessage)
                if context.injection.injection_type == InjectionType::SystemControl => {}
            told => told?,
        }
        if !self.is_sent_for(task).await? {
            self.go_on_with(&mut rider, task).await?;
        }
        let mut commit = windlass_store::Commit::unfenced(shared.tenant.clone(), shared.wall());
        rider.ride(&mut commit);
        shared.commit(commit).await?;
        Ok(Commanded::Told(task))
    }
}

/// What a new task hears first: what another system says was said, which nobody here can vouch for, and then what the command brings.
fn brought(context: &ResumeContext) -> Vec<(AgentInjection, Taint)> {
    let before = (!context.previous_messages.is_empty())
        .then(|| (AgentInjection::said_elsewhere(&context.previous_messages), Taint::External));
    before.into_iter().chain([(context.injection.clone(), Taint::Auth)]).collect()
}
