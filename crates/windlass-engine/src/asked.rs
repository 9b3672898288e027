//! Who asked that a task rest, go on or end. It stands in the audit, in the commit that asks for it; whether it came about, the task's own
//! journal says. What the runtime does by itself nobody asked for, and has nobody to name.

use serde_json::json;
use windlass_domain::coordinate::Channel;
use windlass_domain::task::{Control, TaskStatus, Wish};
use windlass_domain::{Taint, TaskId};
use windlass_store::queue::{Actor, AuditType};
use windlass_store::{Commit, NewEvent};

use crate::Error;
use crate::approvals::Audited;
use crate::engine::{Engine, Shared};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Asker {
    /// In whose name the engine is used.
    #[default]
    Named,
    /// Whom the door knows by which it came.
    Outside {
        by: String,
        channel: Channel,
    },
    Nobody,
}

/// What is asked for, and why.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Asked<'a> {
    Cancel(&'a str),
    Pause(&'a str),
    Stop(&'a str),
    Resume(&'a str),
}

impl<'a> Asked<'a> {
    pub fn of(control: &'a Control) -> Option<Self> {
        match control {
            Control::Cancel(Wish { reason }) => Some(Self::Cancel(reason)),
            Control::Pause(Wish { reason }) => Some(Self::Pause(reason)),
            Control::Stop(Wish { reason }) => Some(Self::Stop(reason)),
            Control::Inject(_) | Control::TimeUp(_) => None,
        }
    }

    const fn in_words(self) -> (&'static str, &'a str) {
        match self {
            Self::Cancel(reason) => ("cancel", reason),
            Self::Pause(reason) => ("pause", reason),
            Self::Stop(reason) => ("stop", reason),
            Self::Resume(reason) => ("resume", reason),
        }
    }
}

impl Shared {
    pub fn asked(&self, task: TaskId, asked: Asked<'_>, asker: &Asker) -> Option<NewEvent> {
        let details = match asker {
            Asker::Named => json!({"by": self.name.as_deref()?}),
            Asker::Outside { by, channel } => json!({"by": by, "channel": channel}),
            Asker::Nobody => return None,
        };
        let (decision, reason) = asked.in_words();
        let audited = Audited { event_type: AuditType::Enqueue, actor: Actor::User, decision, reason, details };
        Some(audited.about(task, self, Taint::Auth, self.wall()))
    }
}

impl Engine {
    /// For a process that itself goes on with a task that rests: whoever uses it asked for that.
    pub async fn note_going_on(&self, task: TaskId) -> Result<(), Error> {
        let rests = self.task(task).await?.status == Some(TaskStatus::Paused);
        let asked = self.shared.asked(task, Asked::Resume(""), &Asker::Named);
        let Some(asked) = asked.filter(|_| rests) else { return Ok(()) };
        let mut commit = Commit::unfenced(self.shared.tenant.clone(), self.shared.wall());
        commit.events.push(asked);
        self.shared.commit(commit).await?;
        Ok(())
    }
}
