//! Hearing a user: what they say passes the operator's gates, is kept, and has its turn, now or after those before it.

use windlass_domain::session::{SessionAction, TurnStarted, UserSaid};
use windlass_domain::{MessageId, SessionId, Taint, TaskId};
use windlass_store::{Commit, Error as StoreError};

use super::journal::SessionJournal;
use crate::Error;
use crate::coordinate::{Mandate, Opening};
use crate::engine::Engine;
use crate::host::Rider;
use crate::submit::{Dispatch, Submission, Taken};

/// Others may speak in the same session; nobody does so for long.
const TRIES: usize = 16;

/// Something that a user says.
pub struct Saying {
    /// None: a conversation begins.
    pub session: Option<SessionId>,
    pub words: String,
    /// What tasks of the session are begun with; its goal is of no matter.
    pub template: Submission,
}

/// It is kept, and will be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted {
    pub session: SessionId,
    pub message: MessageId,
    /// The turn that answers it; none where another is under way, after which it has its own.
    pub run: Option<TaskId>,
}

impl Engine {
    pub async fn say(&self, saying: Saying, dispatch: Dispatch) -> Result<Accepted, Error> {
        self.say_as(saying, dispatch, &Opening::local(), &Mandate::own()).await
    }

    /// The same by whom `opening` names, who opens the session should it not be open.
    pub(crate) async fn say_as(
        &self,
        saying: Saying,
        dispatch: Dispatch,
        opening: &Opening,
        mandate: &Mandate,
    ) -> Result<Accepted, Error> {
        let shared = &self.shared;
        if saying.words.trim().is_empty() {
            return Err(Error::EmptyMessage);
        }
        let session = saying.session.unwrap_or_else(|| SessionId::new(shared.wall(), shared.runtime.random()));
        let message = MessageId::new(shared.wall(), shared.runtime.random());
        let run = TaskId::new(shared.wall(), shared.runtime.random());
        let heard = self.hear(run, saying.words.clone(), &[]).await?;
        let mut tries = 0;
        loop {
            tries += 1;
            let mut rider = Rider { processed: mandate.once(), ..Rider::default() };
            rider.events.extend(heard.audited.clone());
            let (words, by) = (heard.words.clone(), Some(opening.speaker()));
            let said = UserSaid { message_id: message, words, taint: Taint::Auth, template: None, by };
            match self.try_say((session, opening, mandate), said, run, &saying.template, rider, dispatch).await {
                Err(Error::Store(StoreError::Conflict { .. })) if tries < TRIES => {}
                heard => return heard,
            }
        }
    }

    async fn try_say(
        &self,
        (session, opening, mandate): (SessionId, &Opening, &Mandate),
        mut said: UserSaid,
        run: TaskId,
        template: &Submission,
        mut rider: Rider,
        dispatch: Dispatch,
    ) -> Result<Accepted, Error> {
        let shared = &self.shared;
        let mut journal: SessionJournal = self.session_journal(session).await?;
        let workspace = template.workspace.to_string_lossy().into_owned();
        let open = journal.state.workspace.is_none().then(|| SessionAction::Open(opening.opens(workspace)));
        let message_id = said.message_id;
        let goal = self.told(&journal.state, &said.words).await?;
        let start = journal.state.turn.is_none().then_some(SessionAction::Start(TurnStarted { message_id, run }));
        let has_its_turn = start.is_some();
        let mut commit = Commit::unfenced(shared.tenant.clone(), shared.wall());
        if !has_its_turn {
            // Its turn comes when nobody remembers with which options it was said.
            let submission = Submission { goal: said.words.clone(), ..template.clone() };
            let kept = Box::pin(self.turn_template(&mut commit, (session, message_id), run, submission)).await?;
            said.template = Some(Box::new(kept));
        }
        let triggered = mandate.triggered().map(SessionAction::Trigger);
        let actions = open.into_iter().chain(triggered).chain([SessionAction::Say(said)]).chain(start);
        journal.ride(&mut rider, actions, &shared.redactor, Taint::Auth, shared.wall())?;
        if !has_its_turn {
            rider.ride(&mut commit);
            shared.commit(commit).await?;
            return Ok(Accepted { session, message: message_id, run: None });
        }
        let submission = Submission { goal, ..template.clone() };
        let taken = Taken::Turn { task: run, session, message: message_id, rider: Box::new(rider) };
        Box::pin(self.take_task(submission, dispatch, None, taken)).await?;
        Ok(Accepted { session, message: message_id, run: Some(run) })
    }
}
