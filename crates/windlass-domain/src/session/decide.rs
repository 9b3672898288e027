//! What may happen in a session. Total and pure: whatever its driver believes, nothing that was said has two turns, and no two turns
//! are under way at once.

use super::event::{
    SessionEvent, SessionOpened, SessionTriggered, StatusTold, TaskLetIn, TaskOver, TaskTaken, TurnEnded, TurnStarted,
    UserSaid,
};
use super::state::SessionState;
use crate::coordinate::Names;
use crate::id::TaskId;

#[derive(Debug, Clone)]
pub enum SessionAction {
    Open(SessionOpened),
    Say(UserSaid),
    Start(TurnStarted),
    End(Box<TurnEnded>),
    Tell(StatusTold),
    Trigger(SessionTriggered),
    /// Whether it begins or waits is decided here: so many at once, and whoever came first goes first.
    Take {
        task_id: TaskId,
        called: Names,
        most: u32,
    },
    /// The first of those that wait, where there is room for it.
    LetIn {
        most: u32,
    },
    Over {
        task_id: TaskId,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SessionRejected {
    #[error("the session was not opened")]
    NotOpen,
    #[error("the session was opened before")]
    AlreadyOpen,
    #[error("this was said before")]
    SaidBefore,
    #[error("another turn is under way")]
    InATurn,
    #[error("this was not said, or has had its turn")]
    NotSaid,
    #[error("no such turn is under way")]
    NoSuchTurn,
    #[error("the session has this task already")]
    TakenBefore,
    #[error("no such task of the session is under way")]
    NoSuchTask,
    #[error("nobody waits, or there is no room")]
    NoRoom,
}

pub fn decide(session: &SessionState, action: SessionAction) -> Result<SessionEvent, SessionRejected> {
    match (&session.workspace, action) {
        (None, SessionAction::Open(opened)) => Ok(SessionEvent::Opened(opened)),
        (Some(_), SessionAction::Open(_)) => Err(SessionRejected::AlreadyOpen),
        (None, _) => Err(SessionRejected::NotOpen),
        (_, SessionAction::Say(said)) => match is_unheard(session, &said.message_id) {
            true => Err(SessionRejected::SaidBefore),
            false => Ok(SessionEvent::UserSaid(said)),
        },
        (_, SessionAction::Start(_)) if session.turn.is_some() => Err(SessionRejected::InATurn),
        (_, SessionAction::Start(started)) => match is_unheard(session, &started.message_id) {
            true => Ok(SessionEvent::TurnStarted(started)),
            false => Err(SessionRejected::NotSaid),
        },
        (_, SessionAction::End(ended)) => match &session.turn {
            Some(turn) if turn.run == ended.run => Ok(SessionEvent::TurnEnded(*ended)),
            _ => Err(SessionRejected::NoSuchTurn),
        },
        (_, SessionAction::Tell(told)) => Ok(SessionEvent::StatusTold(told)),
        (_, SessionAction::Trigger(triggered)) => Ok(SessionEvent::Triggered(triggered)),
        (_, SessionAction::Take { task_id, .. }) if session.has(task_id) => Err(SessionRejected::TakenBefore),
        (_, SessionAction::Take { task_id, called, most }) => {
            let waits = !session.waiting.is_empty() || !session.has_room(most);
            Ok(SessionEvent::TaskTaken(TaskTaken { task_id, called, waits }))
        }
        (_, SessionAction::LetIn { most }) => match session.waiting.first() {
            Some(first) if session.has_room(most) => Ok(SessionEvent::TaskLetIn(TaskLetIn { task_id: *first })),
            _ => Err(SessionRejected::NoRoom),
        },
        (_, SessionAction::Over { task_id }) => match session.has(task_id) {
            true => Ok(SessionEvent::TaskOver(TaskOver { task_id })),
            false => Err(SessionRejected::NoSuchTask),
        },
    }
}

fn is_unheard(session: &SessionState, message: &crate::id::MessageId) -> bool {
    session.unheard.iter().any(|unheard| unheard.message_id == *message)
}

#[cfg(test)]
mod tests {
    use super::super::event::TurnDone;
    use super::*;
    use crate::id::{MessageId, TaskId};
    use crate::role_output::RouteDecision;
    use crate::session::Said;
    use crate::taint::Taint;
    use crate::time::Wall;

    fn message(number: u128) -> MessageId {
        MessageId::new(Wall::default(), number << 48)
    }

    fn run(number: u128) -> TaskId {
        TaskId::new(Wall::default(), number << 48)
    }

    /// `o` opens, `s1` says the first, `t1` is its turn, `e1` ends it; `k1` takes a task where there is room for two, `l` lets one in, `d1`
    /// is its end.
    fn action(word: &str) -> SessionAction {
        let number = word[1..].parse().unwrap_or(0);
        match &word[..1] {
            "o" => SessionAction::Open(SessionOpened::local("/home/you".to_owned())),
            "s" => {
                let (message_id, words, taint) = (message(number), word.to_owned(), Taint::Auth);
                SessionAction::Say(UserSaid { message_id, words, taint, template: None, by: None })
            }
            "k" => SessionAction::Take { task_id: run(number), called: Names::default(), most: 2 },
            "l" => SessionAction::LetIn { most: 2 },
            "d" => SessionAction::Over { task_id: run(number) },
            "t" => SessionAction::Start(TurnStarted { message_id: message(number), run: run(number) }),
            _ => SessionAction::End(Box::new(TurnEnded {
                run: run(number),
                decision: RouteDecision::of(word),
                done: TurnDone::Answered,
                taint: Taint::External,
            })),
        }
    }

    fn after(story: &str) -> SessionState {
        let mut session = SessionState::default();
        for word in story.split_whitespace() {
            let event =
                decide(&session, action(word)).unwrap_or_else(|rejected| panic!("{word} in {story}: {rejected}"));
            session.apply(&event);
        }
        session
    }

    #[test]
    fn one_turn_at_a_time_and_each_thing_said_has_one() {
        let check = |story: &str, word: &str, expected| {
            assert_eq!(decide(&after(story), action(word)).err(), expected, "{word} after {story}");
        };
        check("", "s1", Some(SessionRejected::NotOpen));
        check("o", "o", Some(SessionRejected::AlreadyOpen));
        check("o s1", "s1", Some(SessionRejected::SaidBefore));
        check("o s1 s2 t1", "t2", Some(SessionRejected::InATurn));
        check("o s1 s2 t1 e1", "t2", None);
        check("o s1 t1 e1", "t1", Some(SessionRejected::NotSaid));
        check("o s1 t1", "e2", Some(SessionRejected::NoSuchTurn));
        check("o s1 t1 e1", "e1", Some(SessionRejected::NoSuchTurn));
    }

    #[test]
    fn what_was_said_is_remembered_with_its_answer_and_its_taint() {
        let session = after("o s1 s2 t1 e1");
        assert_eq!(session.said, [Said::User("s1".to_owned()), Said::Proxy("e1".to_owned())]);
        assert_eq!((session.unheard.len(), session.taint()), (1, Taint::External));
    }

    #[test]
    fn so_many_tasks_are_under_way_and_the_others_wait_in_their_order() {
        let check = |story: &str, under_way: &[u128], waiting: &[u128]| {
            let session = after(story);
            let expected = (
                under_way.iter().map(|number| run(*number)).collect(),
                waiting.iter().map(|number| run(*number)).collect(),
            );
            assert_eq!((session.under_way, session.waiting), expected, "{story}");
        };
        check("o k1 k2", &[1, 2], &[]);
        check("o k1 k2 k3 k4", &[1, 2], &[3, 4]);
        check("o k1 k2 k3 k4 d1 l", &[2, 3], &[4]);
        // Whoever waits goes before whoever comes.
        check("o k1 k2 k3 d1 k4", &[2], &[3, 4]);
        check("o k1 k2 k3 k4 d3 d2 l", &[1, 4], &[]);
        let refused = |story: &str, word: &str, expected| {
            assert_eq!(decide(&after(story), action(word)).err(), Some(expected), "{word} after {story}");
        };
        refused("o k1 k2 k3", "l", SessionRejected::NoRoom);
        refused("o k1", "l", SessionRejected::NoRoom);
        refused("o k1", "k1", SessionRejected::TakenBefore);
        refused("o k1 d1", "d1", SessionRejected::NoSuchTask);
    }
}
