//! Whether a yes that is said here counts where the work is. Keys belong to a machine, as folders do: what is signed with one of this
//! machine's is checked with those of the work's own, which do not know it. Whoever says so is told where to say it instead, before
//! anything is signed: a token that nobody trusts would have the work wait for an answer that it has. A no needs no key.

use windlass_domain::TaskId;
use windlass_domain::task::TaskCreated;

use super::journal::ApprovalJournal;
use crate::Error;
use crate::engine::Engine;
use crate::goals::goal_of;

impl Engine {
    pub(super) async fn signs_here(&self, asked: &ApprovalJournal, task: TaskId) -> Result<(), Error> {
        let created = match asked.is_standing() {
            true => self.goal_journal(goal_of(task)).await?.state.added.map(|added| *added.template),
            false => self.task(task).await?.created,
        };
        created.as_ref().map_or(Ok(()), |created| self.signs_for(created))
    }

    pub(crate) fn signs_for(&self, created: &TaskCreated) -> Result<(), Error> {
        match self.shared.process.elsewhere(created.placement.as_deref()) {
            Some(place) => Err(Error::KeysElsewhere(place.to_owned())),
            None => Ok(()),
        }
    }
}
