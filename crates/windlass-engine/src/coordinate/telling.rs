//! Telling those at work. What comes from outside is for one task, or for all of a conversation that are under way; of a planned task those
//! hear it who work for it now. All of them hear it by one commit, which holds only while each is where it was when it was looked at: whoever
//! is named as a hearer hears it. Where nobody does, nothing is written, and whoever told it can tell it again.

use windlass_domain::execution::AgentInjection;
use windlass_domain::task::{Control, has_a_hearer};
use windlass_domain::{SessionId, Taint, TaskId};

use super::trigger::Deed;
use super::{Heeded, Mandate};
use crate::Error;
use crate::attempt::TaskJournal;
use crate::engine::Engine;
use crate::host::Rider;
use crate::questions::fits;

/// For whom it is.
pub(super) enum Audience {
    Task(TaskId),
    /// Its tasks that are under way; `called` is what it goes by where it was told.
    Conversation {
        session: SessionId,
        called: String,
    },
}

pub(crate) struct Told<'a> {
    pub injection: &'a AgentInjection,
    pub taint: Taint,
}

impl Engine {
    pub(super) async fn tell_those_at_work(
        &self,
        audience: Audience,
        injection: &AgentInjection,
        taint: Taint,
        mandate: &Mandate,
    ) -> Result<Heeded, Error> {
        fits(&injection.content)?;
        let told = Told { injection, taint };
        Ok(Heeded::Told(self.in_a_commit(mandate, &Deed::Tell(&audience, &told)).await?))
    }

    /// Those who hear it.
    pub(super) async fn tell_audience(
        &self,
        rider: &mut Rider,
        audience: &Audience,
        told: &Told<'_>,
    ) -> Result<Vec<TaskId>, Error> {
        match audience {
            Audience::Task(task) => self.tell_task(rider, *task, told).await.map(|()| vec![*task]),
            Audience::Conversation { session, called } => self.tell_all_in(rider, *session, called, told).await,
        }
    }

    async fn tell_all_in(
        &self,
        rider: &mut Rider,
        session: SessionId,
        called: &str,
        told: &Told<'_>,
    ) -> Result<Vec<TaskId>, Error> {
        let mut hearers = Vec::new();
        let journal = self.session_journal(session).await?;
        for task in &journal.state.under_way {
            match self.tell_task(rider, *task, told).await {
                Ok(()) => hearers.push(*task),
                // It is for whoever else can hear it.
                Err(Error::Over(_) | Error::TooLate(_) | Error::NobodyHears(_)) => {}
                Err(error) => return Err(error),
            }
        }
        if hearers.is_empty() {
            // Where one was over when it was looked at, another may have begun in the same commit.
            journal.stands_still(self).await?;
            return Err(Error::NothingUnderWay(called.to_owned()));
        }
        Ok(hearers)
    }

    /// Adds nothing where nobody hears it.
    pub(crate) async fn tell_task(&self, rider: &mut Rider, task: TaskId, told: &Told<'_>) -> Result<(), Error> {
        let journal = self.task_journal(task).await?;
        if journal.state.is_over() {
            return Err(Error::Over(task));
        }
        if !journal.state.created.as_ref().is_some_and(|created| created.planned) {
            let is_heard = self.tell_agent(rider, task, &journal, told).await?;
            return if is_heard { Ok(()) } else { Err(Error::TooLate(task)) };
        }
        let mut is_heard = false;
        let graph = self.graph_journal(task).await?;
        for part in self.members(task).await?.split_off(1) {
            let journal = self.task_journal(part).await?;
            is_heard |= self.tell_agent(rider, part, &journal, told).await?;
        }
        if !is_heard {
            // While those were looked at who then worked for it, others may have begun to.
            graph.stands_still(self).await?;
            return Err(Error::NobodyHears(task));
        }
        Ok(())
    }

    /// Whether an agent of this run hears it. One that waits for a person does when it wakes; one that only watches something wakes for it.
    async fn tell_agent(
        &self,
        rider: &mut Rider,
        run: TaskId,
        journal: &TaskJournal,
        told: &Told<'_>,
    ) -> Result<bool, Error> {
        if !has_a_hearer(&journal.state) {
            return Ok(false);
        }
        rider.expect.push((journal.stream.clone(), journal.head));
        rider.messages.push(self.mail(run, Control::Inject(told.injection.clone()), told.taint)?);
        if journal.state.is_monitoring() {
            self.wake_for(rider, run, None).await?;
        }
        Ok(true)
    }
}
