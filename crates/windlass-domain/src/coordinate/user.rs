//! A user's sessions that are under way: a stream of their own, `user/<digest>`, so that they are counted in the commit that begins a
//! task, whichever process makes it.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::event::events;
use crate::id::SessionId;

events! {
    pub enum UserEvent {
        SessionBegan(SessionBegan) = "user.session_began",
        SessionRested(SessionRested) = "user.session_rested",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionBegan {
    pub session_id: SessionId,
}

/// None of its tasks is under way any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRested {
    pub session_id: SessionId,
}

#[derive(Debug, Clone, Default)]
pub struct UserState {
    pub under_way: BTreeSet<SessionId>,
}

#[derive(Debug, Clone, Copy)]
pub enum UserAction {
    /// `most`: so many at once.
    Begin {
        session_id: SessionId,
        most: u32,
    },
    Rest {
        session_id: SessionId,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UserRejected {
    #[error("{most} conversations of this user have tasks under way already: wait until one of them is done")]
    TooMany { most: u32 },
    #[error("the session is under way already")]
    UnderWay,
    #[error("the session is not under way")]
    Resting,
}

impl UserState {
    /// Whether there is nothing left to do.
    pub fn stands(&self, action: &UserAction) -> bool {
        match action {
            UserAction::Begin { session_id, .. } => self.under_way.contains(session_id),
            UserAction::Rest { session_id } => !self.under_way.contains(session_id),
        }
    }

    pub fn decide(&self, action: UserAction) -> Result<UserEvent, UserRejected> {
        match action {
            UserAction::Begin { session_id, .. } if self.under_way.contains(&session_id) => Err(UserRejected::UnderWay),
            UserAction::Begin { most, .. } if self.under_way.len() >= most as usize => {
                Err(UserRejected::TooMany { most })
            }
            UserAction::Begin { session_id, .. } => Ok(UserEvent::SessionBegan(SessionBegan { session_id })),
            UserAction::Rest { session_id } if !self.under_way.contains(&session_id) => Err(UserRejected::Resting),
            UserAction::Rest { session_id } => Ok(UserEvent::SessionRested(SessionRested { session_id })),
        }
    }

    pub fn apply(&mut self, event: &UserEvent) {
        match event {
            UserEvent::SessionBegan(began) => drop(self.under_way.insert(began.session_id)),
            UserEvent::SessionRested(rested) => drop(self.under_way.remove(&rested.session_id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Wall;

    #[test]
    fn so_many_sessions_are_under_way_and_one_that_rests_makes_room() {
        let session = |number: u128| SessionId::new(Wall::default(), number << 48);
        let begin = |number| UserAction::Begin { session_id: session(number), most: 2 };
        let mut user = UserState::default();
        for number in [1, 2] {
            let event = user.decide(begin(number)).unwrap();
            user.apply(&event);
        }
        assert_eq!(user.decide(begin(2)).err(), Some(UserRejected::UnderWay));
        assert_eq!(user.decide(begin(3)).err(), Some(UserRejected::TooMany { most: 2 }));
        assert_eq!(user.decide(UserAction::Rest { session_id: session(3) }).err(), Some(UserRejected::Resting));
        let rested = user.decide(UserAction::Rest { session_id: session(1) }).unwrap();
        user.apply(&rested);
        assert!(user.decide(begin(3)).is_ok());
        assert!(user.stands(&begin(2)) && !user.stands(&begin(3)));
        let rest = |number| UserAction::Rest { session_id: session(number) };
        assert!(user.stands(&rest(1)) && !user.stands(&rest(2)));
    }
}
