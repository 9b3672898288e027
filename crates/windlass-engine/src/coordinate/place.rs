//! A task's place in its session (seed 000 §3.5). As many as may be are under way at once; one more is taken in all the same and rests until
//! one of them is over, in the order in which they came. A session with a task under way counts against its user's. Both are counted in
//! the commit that takes the task in, by what the streams of session and user say then: no two are let through by looking at once.

use windlass_domain::coordinate::{Names, UNNAMED_USER, UserAction};
use windlass_domain::session::{SessionAction, SessionState};
use windlass_domain::task::{TaskAction, TaskState};
use windlass_domain::{Digest, SessionId, Taint, TaskId};

use super::user::UserJournal;
use crate::Error;
use crate::engine::Engine;
use crate::host::Rider;
use crate::turns::SessionJournal;

/// Whether a task begins at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Begins,
    /// So many are before it that no more may be.
    Waits {
        most: u32,
    },
}

impl Place {
    /// One that waits rests, and says what for.
    pub fn rests(self) -> Option<TaskAction> {
        match self {
            Self::Begins => None,
            Self::Waits { most } => Some(TaskAction::Pause {
                reason: format!("waits until one of the {most} tasks that are under way in its conversation is over"),
            }),
        }
    }
}

impl Engine {
    /// A place for a new task, as part of the commit that takes it in. The session must be open.
    pub(crate) async fn take_place(
        &self,
        rider: &mut Rider,
        journal: &mut SessionJournal,
        task_id: TaskId,
        called: Names,
    ) -> Result<Place, Error> {
        let shared = &self.shared;
        let limits = shared.law.concurrency;
        if journal.state.rests() {
            let most = limits.max_concurrent_sessions_per_user;
            self.count(rider, journal, |session_id| UserAction::Begin { session_id, most }).await?;
        }
        let most = limits.max_concurrent_tasks_per_session;
        let take = [SessionAction::Take { task_id, called, most }];
        journal.ride(rider, take, &shared.redactor, Taint::Auth, shared.wall())?;
        let waits = journal.state.waiting.contains(&task_id);
        Ok(if waits { Place::Waits { most } } else { Place::Begins })
    }

    /// A task that ends leaves its session, and whoever waits there comes in, as part of the commit that ends it. Whether it was in one
    /// that others may write to at the same moment.
    pub(crate) async fn leave_session(&self, state: &TaskState, rider: &mut Rider) -> Result<bool, Error> {
        let shared = &self.shared;
        let Some(created) = state.created.as_ref().filter(|created| created.part_of.is_none()) else {
            return Ok(false);
        };
        if created.turn.is_some() {
            return Ok(true);
        }
        let task_id = created.command.task_id;
        let mut journal = self.session_journal(created.command.session_id).await?;
        if !journal.state.has(task_id) {
            return Ok(false);
        }
        let over = [SessionAction::Over { task_id }];
        journal.ride(rider, over, &shared.redactor, Taint::Auth, shared.wall())?;
        let most = shared.law.concurrency.max_concurrent_tasks_per_session;
        while let Some(next) = next_in(&journal.state, most) {
            let action = match self.task(next).await?.is_over() {
                true => SessionAction::Over { task_id: next },
                false => {
                    self.send_to_resting(rider, next).await?;
                    SessionAction::LetIn { most }
                }
            };
            journal.ride(rider, [action], &shared.redactor, Taint::Auth, shared.wall())?;
        }
        if journal.state.rests() {
            self.count(rider, &journal, |session_id| UserAction::Rest { session_id }).await?;
        }
        Ok(true)
    }

    /// Changes the count of a user's sessions. Whom nobody names is nobody whose sessions could be counted.
    ///
    /// Session and user are read one after the other. Where the user's count stands already, somebody wrote both in between: the commit
    /// finds the session changed, and whoever makes it looks again.
    async fn count(
        &self,
        rider: &mut Rider,
        journal: &SessionJournal,
        action: impl FnOnce(SessionId) -> UserAction,
    ) -> Result<(), Error> {
        let shared = &self.shared;
        if journal.state.user_id == UNNAMED_USER {
            return Ok(());
        }
        let name = Digest::of(journal.state.user_id.as_bytes());
        let mut user: UserJournal = self.kept_journal_of(name, &shared.users).await?;
        let action = action(journal.id);
        if user.state.stands(&action) {
            return Ok(());
        }
        user.ride(rider, [action], &shared.redactor, Taint::Auth, shared.wall())
    }
}

fn next_in(session: &SessionState, most: u32) -> Option<TaskId> {
    session.waiting.first().copied().filter(|_| session.has_room(most))
}
