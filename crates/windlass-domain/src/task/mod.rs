//! The task: what a user asked for, its attempts, and the checks that decide. A planned task has a work graph instead of
//! attempts (`graph`), and all who work for it are tasks again, its parts.

mod command;
mod control;
mod decide;
mod event;
mod moves;
mod part;
mod state;
mod time_up;

pub use command::{CompactionConfig, ExecutionConfig, ResumeContext, TaskCommand};
pub use control::{Control, Wish};
pub use decide::{TaskAction, TaskRejected, decide};
pub use event::{
    AttemptEnded, AttemptInterrupted, AttemptStarted, AttemptWaiting, AttemptWoken, CandidateOutdated, ChecksRecorded,
    ConsultAnswered, ConsultAsked, DeadlineSet, HelpAbout, HelpAnswer, HelpAnswered, HelpAsked, ModelChoice,
    ResearchAnswered, ResearchAsked, ResearchExpired, ResearchTimedOut, TaskChanged, TaskCreated, TaskEvent,
    TaskFinished, TaskStatus,
};
pub use moves::{Move, has_a_hearer, next_move, share};
pub use part::{Part, PartOf};
pub use state::{Attempt, Consult, Help, TaskState};
pub use time_up::{Deadline, DeadlineAction, TimeLimit, TimeUp};
