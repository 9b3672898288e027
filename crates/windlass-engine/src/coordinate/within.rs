//! A task that somebody asks for within a conversation, without a turn in which its proxy would find out that it is one. It counts against the
//! conversation's limits, what becomes of it is told there, and its folder is the conversation's.

use windlass_domain::coordinate::{Names, Origin};
use windlass_domain::session::SessionAction;
use windlass_domain::{CommandId, SessionId, Taint, TaskId};
use windlass_policy::approve::OwnerKey;
use windlass_store::Error as StoreError;

use super::{Opening, Place};
use crate::Error;
use crate::engine::Engine;
use crate::host::Rider;
use crate::submit::{Commission, Dispatch, Submission, Taken};

/// Others may write to the same conversation meanwhile; nobody does so for long.
const TRIES: usize = 16;

impl Engine {
    /// Where nobody has said anything in it yet, the conversation begins with it, as `origin`'s.
    pub async fn submit_within(
        &self,
        session: SessionId,
        origin: &Origin,
        submission: Submission,
        issuer: Option<&OwnerKey>,
    ) -> Result<TaskId, Error> {
        let _one_after_the_other = self.shared.turnstiles.pass(session).await;
        let mut tries = 0;
        loop {
            tries += 1;
            match Box::pin(self.try_within(session, origin, submission.clone(), issuer)).await {
                Err(Error::Store(StoreError::Conflict { .. })) if tries < TRIES => {}
                taken => return taken,
            }
        }
    }

    async fn try_within(
        &self,
        session: SessionId,
        origin: &Origin,
        submission: Submission,
        issuer: Option<&OwnerKey>,
    ) -> Result<TaskId, Error> {
        let shared = &self.shared;
        let task = TaskId::new(shared.wall(), shared.runtime.random());
        let command = CommandId::new(shared.wall(), shared.runtime.random());
        let mut rider = Rider::default();
        let mut journal = self.session_journal(session).await?;
        if journal.state.workspace.is_none() {
            let workspace = submission.workspace.to_string_lossy().into_owned();
            let open = [SessionAction::Open(Opening::by(origin).opens(workspace))];
            journal.ride(&mut rider, open, &shared.redactor, Taint::Auth, shared.wall())?;
        }
        let place: Place = self.take_place(&mut rider, &mut journal, task, Names::default()).await?;
        let taken = Taken::Commanded(Box::new(Commission { task, session, command, place, rider }));
        Box::pin(self.take_task(submission, Dispatch::ToWorkers, issuer, taken)).await
    }
}
