//! A session: a user's conversation, and what became of each thing they said (contracts §9). The stream is `session/<id>`. What a
//! user says is kept before anything is done about it; a turn, which is a task of its own, decides where it goes and ends without
//! waiting for the work it began. One turn at a time: what is said meanwhile has its turn next.

mod decide;
mod event;
mod state;

pub use decide::{SessionAction, SessionRejected, decide};
pub use event::{
    SessionEvent, SessionOpened, SessionTriggered, Speaker, StatusTold, TaskLetIn, TaskOver, TaskTaken, TurnDone,
    TurnEnded, TurnStarted, UserSaid,
};
pub use state::{News, Said, SessionState, Turn};
