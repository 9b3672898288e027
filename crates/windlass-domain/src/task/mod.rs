//! The task: what a user asked for, its attempts, and the checks that decide. For now a task is one atom; the work graph
//! grows here.

mod command;
mod control;
mod decide;
mod event;
mod moves;
mod state;

pub use command::{CompactionConfig, ExecutionConfig, ResumeContext, TaskCommand};
pub use control::{Control, Wish};
pub use decide::{TaskAction, TaskRejected, decide};
pub use event::{
    AttemptEnded, AttemptInterrupted, AttemptStarted, AttemptWaiting, AttemptWoken, ChecksRecorded, ModelChoice,
    TaskChanged, TaskCreated, TaskEvent, TaskFinished, TaskStatus,
};
pub use moves::{Move, next_move};
pub use state::{Attempt, TaskState};
