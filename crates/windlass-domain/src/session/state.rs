//! The state of a session: a fold over its stream.

use std::collections::{BTreeMap, BTreeSet};

use super::event::{SessionEvent, Speaker, StatusTold, TaskTaken, TurnDone, TurnEnded, UserSaid};
use crate::caller::CallerName;
use crate::coordinate::{Channel, Names, TriggerType};
use crate::id::{MessageId, TaskId};
use crate::queue::ExecutionStatus;
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
    /// Of each task that something was told of.
    pub news: BTreeMap<TaskId, News>,
    /// Whose it is.
    pub user_id: String,
    /// By which it was opened.
    pub channel: Channel,
    /// By which anybody has spoken in it.
    doors: BTreeSet<Channel>,
    /// What its caller calls it, and its tasks.
    pub called: Option<CallerName>,
    pub names: BTreeMap<TaskId, Names>,
    /// Those of its tasks that are not over.
    pub under_way: BTreeSet<TaskId>,
    /// Those that rest until there is room for them, oldest first.
    pub waiting: Vec<TaskId>,
    /// Joined over everything that was said.
    taint: Option<Taint>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    User(String),
    Proxy(String),
}

/// How a task stands, as far as the session was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News {
    pub status: ExecutionStatus,
    /// What went wrong last, where anything did.
    pub trouble: Option<String>,
    /// Joined over everything that was told of it.
    pub taint: Taint,
}

impl News {
    fn after(known: Option<Self>, told: &StatusTold) -> Self {
        let (before, taint) = known.map_or((None, Taint::Auth), |known| (known.trouble, known.taint));
        let is_wrong = told.status.is_error() && !told.detail.is_empty();
        let trouble = if is_wrong { Some(told.detail.clone()) } else { before };
        Self { status: told.status, trouble, taint: taint.join(told.taint) }
    }
}

/// Somebody thinks about what was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// What it is about.
    pub message_id: MessageId,
    pub run: TaskId,
    pub words: String,
    pub by: Speaker,
}

impl SessionState {
    pub fn taint(&self) -> Taint {
        self.taint.unwrap_or(Taint::Auth)
    }

    /// What went wrong with the task that was begun last: of that one a proxy is told why, once it is over.
    pub fn newest_trouble(&self) -> Option<(TaskId, &News)> {
        let newest = *self.tasks.last()?;
        let news = self.news.get(&newest).filter(|news| news.trouble.is_some())?;
        Some((newest, news))
    }

    pub fn apply(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::Opened(opened) => {
                self.workspace = Some(opened.workspace.clone());
                self.user_id.clone_from(&opened.user_id);
                self.channel = opened.channel;
                self.doors.insert(opened.channel);
                self.called.clone_from(&opened.called);
            }
            SessionEvent::UserSaid(said) => {
                self.taint = Some(self.taint().join(said.taint));
                self.doors.extend(said.by.iter().map(|by| by.channel));
                self.unheard.push(said.clone());
            }
            SessionEvent::TurnStarted(started) => {
                let at = self.unheard.iter().position(|said| said.message_id == started.message_id);
                if let Some(said) = at.map(|at| self.unheard.remove(at)) {
                    let by =
                        said.by.unwrap_or_else(|| Speaker { user_id: self.user_id.clone(), channel: self.channel });
                    self.turn = Some(Turn { message_id: started.message_id, run: started.run, words: said.words, by });
                }
            }
            SessionEvent::TurnEnded(ended) => self.end(ended),
            SessionEvent::StatusTold(told) => {
                let known = self.news.remove(&told.task);
                self.news.insert(told.task, News::after(known, told));
            }
            SessionEvent::Triggered(triggered) => {
                let is_said =
                    matches!(triggered.kind, TriggerType::UserMessageReceived | TriggerType::HitlResponseReceived);
                self.doors.extend(is_said.then_some(triggered.channel));
            }
            SessionEvent::TaskTaken(taken) => self.take(taken),
            SessionEvent::TaskLetIn(let_in) => {
                self.waiting.retain(|waiting| *waiting != let_in.task_id);
                self.under_way.insert(let_in.task_id);
            }
            SessionEvent::TaskOver(over) => {
                self.waiting.retain(|waiting| *waiting != over.task_id);
                self.under_way.remove(&over.task_id);
            }
        }
    }

    fn take(&mut self, taken: &TaskTaken) {
        let TaskTaken { task_id, called, waits } = taken;
        self.remember(*task_id);
        // Commands come by no other door.
        self.doors.extend(called.command_id.is_some().then_some(Channel::Redis));
        if *called != Names::default() {
            self.names.insert(*task_id, called.clone());
        }
        match waits {
            true => self.waiting.push(*task_id),
            false => drop(self.under_way.insert(*task_id)),
        }
    }

    fn remember(&mut self, task: TaskId) {
        if !self.tasks.contains(&task) {
            self.tasks.push(task);
        }
    }

    /// Whether it is one of its tasks, and not over.
    pub fn has(&self, task: TaskId) -> bool {
        self.under_way.contains(&task) || self.waiting.contains(&task)
    }

    pub fn has_room(&self, most: u32) -> bool {
        self.under_way.len() < most as usize
    }

    /// Whether what comes of it is told there: whoever speaks by a door is answered there, whoever opened the conversation.
    pub fn is_heard_at(&self, door: Channel) -> bool {
        self.doors.contains(&door)
    }

    /// Whether none of its tasks is under way, or waits to be.
    pub fn rests(&self) -> bool {
        self.under_way.is_empty() && self.waiting.is_empty()
    }

    /// As its caller calls it.
    pub fn name_of(&self, task: TaskId) -> String {
        let called = self.names.get(&task).and_then(|names| names.task_id.as_ref());
        called.map_or_else(|| task.to_string(), ToString::to_string)
    }

    fn end(&mut self, ended: &TurnEnded) {
        let Some(turn) = self.turn.take_if(|turn| turn.run == ended.run) else { return };
        self.taint = Some(self.taint().join(ended.taint));
        self.said.push(Said::User(turn.words));
        self.said.push(Said::Proxy(ended.answer()));
        let too_many = self.said.len().saturating_sub(MOST_SAID);
        self.said.drain(..too_many);
        if let TurnDone::Began { task } = ended.done {
            self.remember(task);
        }
    }
}
