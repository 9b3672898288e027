//! The gateway from outside: agents on one side, model servers that are real, scripted or hostile on the other.

mod credential;
mod crowd;
mod door;
mod endings;
mod pairs;
mod passing;
mod rehearsed;
mod support;
mod terms;
mod translated;
