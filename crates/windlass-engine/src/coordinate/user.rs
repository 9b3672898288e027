//! A user's sessions that are under way, as a stream of their own.

use windlass_domain::Digest;
use windlass_domain::coordinate::{UserAction, UserEvent, UserRejected, UserState};

use crate::Error;
use crate::stream_journal::{Standing, StreamJournal, Streamed};

pub struct User;

pub type UserJournal = StreamJournal<User>;

impl Streamed for User {
    const KIND: &'static str = "user";
    /// Of the user's name, which may be anything.
    type Id = Digest;
    type State = UserState;
    type Action = UserAction;
    type Event = UserEvent;
    type Rejected = UserRejected;

    fn decide(state: &UserState, action: UserAction) -> Result<UserEvent, UserRejected> {
        state.decide(action)
    }

    fn apply(state: &mut UserState, event: &UserEvent) {
        state.apply(event);
    }

    fn refused(_: Digest, rejected: UserRejected) -> Error {
        Error::TooManySessions(rejected)
    }
}

/// About what it takes in memory.
pub fn user_weight(standing: &Standing<UserState>) -> usize {
    const ROW: usize = 64;
    ROW * standing.state.under_way.len()
}
