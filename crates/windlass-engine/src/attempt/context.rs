//! What is known about a task, gathered before its first attempt begins and written in the commit that begins it: a process that dies
//! before that has begun nothing, and whoever comes after asks again; once it is written, nobody asks any more. Where the operator has a
//! context service it says what is known, and what it says comes from outside. Without one it is what the tenant remembers.

use std::pin::pin;
use std::sync::Arc;

use futures_util::future::{Either, select};
use windlass_domain::known::{ContextGathered, ContextSource, ContextWanted, TaskContext};
use windlass_domain::task::TaskCreated;
use windlass_domain::{ContextService, ErrorDetails, Taint};

use super::driver::Driver;
use crate::Error;
use crate::host::Rider;
use crate::memories::known_here;

/// Of a goal, so much is told to a service.
const LONGEST_GOAL: usize = 32_768;

pub(super) enum Gathered {
    /// If anything is.
    Known(Option<Box<ContextGathered>>),
    /// The service does not say; the task fails (seed 000 §19.1).
    Unavailable(ErrorDetails),
    /// Somebody wants the task to stop.
    Stopped,
}

impl Driver {
    pub(super) async fn gather_context(&self) -> Result<Gathered, Error> {
        let (shared, state, created) = (&self.engine.shared, &self.journal.state, self.created()?);
        if !created.wants_context() || !state.attempts.is_empty() || state.context.is_some() {
            return Ok(Gathered::Known(None));
        }
        let (from, context) = match shared.equipment.context_service() {
            Some(service) => {
                // Nothing is told to anybody about work that may not begin; whoever begins it says why.
                if self.use_approval(&mut Rider::default()).await?.is_err() {
                    return Ok(Gathered::Known(None));
                }
                match self.ask_service(service, created).await {
                    Some(Ok(context)) => (ContextSource::Service, context.from_outside()),
                    Some(Err(error)) => return Ok(Gathered::Unavailable(error)),
                    None => return Ok(Gathered::Stopped),
                }
            }
            None => {
                let label = self.heritage().await?.taint.unwrap_or(Taint::Auth).join(state.inherited().0);
                let memories = known_here(shared, created, label).await?;
                (ContextSource::Memory, TaskContext { memories, ..TaskContext::default() })
            }
        };
        // Redacted before it is cut: a secret that was cut in two would no longer be known for one.
        let context = context.rewritten(|text| shared.redactor.redact(text).into_owned()).bounded();
        Ok(Gathered::Known((!context.is_empty()).then(|| Box::new(ContextGathered { from, context }))))
    }

    /// Nothing, where somebody wants the task to stop.
    async fn ask_service(
        &self,
        service: Arc<dyn ContextService>,
        created: &TaskCreated,
    ) -> Option<Result<TaskContext, ErrorDetails>> {
        let shared = &self.engine.shared;
        let command = &created.command;
        let goal = shared.redactor.redact(&command.goal);
        let asking = service.context(ContextWanted {
            tenant: shared.tenant.clone(),
            session_id: command.session_id,
            task_id: command.task_id,
            goal: goal[..goal.floor_char_boundary(LONGEST_GOAL)].to_owned(),
        });
        let signal = self.canceller.signal();
        match select(asking, pin!(signal.wait())).await {
            Either::Left((answered, _)) => Some(answered),
            Either::Right(_) => None,
        }
    }
}
