//! Going to sleep on a question and waking up with its answer. What parks has read its mailbox, and what it asks, itself or through
//! agents it spawned, is still open:
//! both are guards of the commit, so that an answer or a cancel at the last moment is not slept through.

use windlass_domain::execution::ExecutionState;
use windlass_store::MailboxSeen;

use super::driver::Driver;
use crate::Error;
use crate::control::mailbox;
use crate::host::Rider;

impl Driver {
    /// The guards of a commit that parks. `None`: somebody has answered by now, so that there is no need to.
    pub(super) async fn parking(&self, state: &ExecutionState) -> Result<Option<Rider>, Error> {
        let seen = MailboxSeen { mailbox: mailbox(self.task), seen: self.inbox.read() };
        let mut rider = Rider { unread: vec![seen], ..Rider::default() };
        for open in self.engine.waiting(state).await? {
            let Some(looked) = self.engine.look_at(&open).await? else { continue };
            if looked.heard.is_some() {
                return Ok(None);
            }
            rider.expect.push(looked.stands);
        }
        Ok(Some(rider))
    }
}
