//! What can be asked of a task from outside while it runs, from another terminal for instance. Each is a durable message
//! in the task's mailbox; whoever holds the task's lease reads it.

use serde::{Deserialize, Serialize};

use crate::event::events;
use crate::execution::AgentInjection;
use crate::task::TimeUp;

events! {
    pub enum Control {
        Cancel(Wish) = "task.cancel",
        Pause(Wish) = "task.pause",
        Stop(Wish) = "task.stop",
        Inject(AgentInjection) = "task.inject",
        TimeUp(TimeUp) = "task.time_up",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    pub reason: String,
}
