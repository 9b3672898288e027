//! The state of a session: a fold over its stream.

use super::event::{SessionEvent, TurnDone, TurnEnded, UserSaid};
use crate::id::{MessageId, TaskId};
use crate::taint::Taint;

/// Of what was said, so much is remembered: who needs more asks the memory.
const MOST_SAID: usize = 50;

#[derive(Debug, Clone, Default)]
pub struct SessionState {
    /// The folder of its tasks; none before it was opened.
    pub workspace: Option<String>,
    /// The newest, oldest first.
    pub said: Vec<Said>,
    pub turn: Option<Turn>,
    /// What has had no turn yet, oldest first.
    pub unheard: Vec<UserSaid>,
    /// Tasks that were begun here, oldest first.
    pub tasks: Vec<TaskId>,
    /// Joined over everything that was said.
    taint: Option<Taint>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    User(String),
    Proxy(String),
}

/// Somebody thinks about what was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// What it is about.
    pub message_id: MessageId,
    pub run: TaskId,
    pub words: String,
}

impl SessionState {
    pub fn taint(&self) -> Taint {
        self.taint.unwrap_or(Taint::Auth)
    }

    pub fn apply(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::Opened(opened) => self.workspace = Some(opened.workspace.clone()),
            SessionEvent::UserSaid(said) => {
                self.taint = Some(self.taint().join(said.taint));
                self.unheard.push(said.clone());
            }
            SessionEvent::TurnStarted(started) => {
                let at = self.unheard.iter().position(|said| said.message_id == started.message_id);
                if let Some(said) = at.map(|at| self.unheard.remove(at)) {
                    self.turn = Some(Turn { message_id: started.message_id, run: started.run, words: said.words });
                }
            }
            SessionEvent::TurnEnded(ended) => self.end(ended),
            SessionEvent::StatusTold(_) => {}
        }
    }

    fn end(&mut self, ended: &TurnEnded) {
        let Some(turn) = self.turn.take_if(|turn| turn.run == ended.run) else { return };
        self.taint = Some(self.taint().join(ended.taint));
        self.said.push(Said::User(turn.words));
        self.said.push(Said::Proxy(answer(ended)));
        let too_many = self.said.len().saturating_sub(MOST_SAID);
        self.said.drain(..too_many);
        if let TurnDone::Began { task } = ended.done {
            self.tasks.push(task);
        }
    }
}

/// What the user was told.
fn answer(ended: &TurnEnded) -> String {
    match &ended.done {
        TurnDone::Not { why } => why.clone(),
        _ => ended.decision.response.clone().unwrap_or_default(),
    }
}
