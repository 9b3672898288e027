//! Forking: a new execution goes on with the conversation of an old one, from the end of one of its turns. The old one is only
//! read. What can be forked, and where, is decided here from the old journal alone; whether a program can is its adapter's word.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::execution::{Conversation, ExecutionEvent, ExecutionState, Lifecycle};
use crate::id::{ExecutionId, TaskId};
use crate::scope::Role;
use crate::taint::Taint;
use crate::time::Wall;
use crate::timeline::turn_ends;

/// Where a task comes from that goes on with an earlier conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForkedFrom {
    pub task_id: TaskId,
    pub execution_id: ExecutionId,
    /// The last turn of it that is taken over, from 1.
    pub turn: u32,
    /// How many records of its journal were read.
    pub records: u64,
    /// Names what is taken over, which is kept as a blob.
    pub content: Digest,
    /// Joined over everything that was read by then.
    pub taint: Taint,
    /// Calls that had not ended, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unended: Vec<String>,
    /// The copy of a program's home that attempts begin with, by the name that it has among the homes of executions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<ExecutionId>,
}

/// What is taken over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TakenOver {
    Conversation(Box<Conversation>),
    /// One that a program keeps in its home, by the program's own name for it.
    Session(String),
}

/// The record of it, which follows the header.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Forked {
    pub from: ForkedFrom,
    pub taken_over: TakenOver,
}

/// The end of a turn, and what was there by then.
#[derive(Debug, Clone, PartialEq)]
pub struct ForkPoint {
    pub turn: u32,
    pub records: u64,
    /// A later turn is still being worked on.
    pub leaves_out: Option<u32>,
    pub taken_over: TakenOver,
    pub taint: Taint,
    pub unended: Vec<String>,
    /// Whom it asked by then.
    pub model: String,
}

/// Why there is nothing to fork.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotFork {
    #[error("its agent has not begun")]
    NotBegun,
    #[error("it is a sub-agent's, which works for execution {0}: fork that one")]
    Child(ExecutionId),
    #[error("it is a {}'s, and only the work of a task can be gone on with", .0.as_str())]
    Role(Role),
    #[error("it was decided one call at a time, so that there is no conversation to go on with")]
    NoConversation,
    #[error(
        "it is at work on its first turn, and none is complete yet: wait for it, or stop it first with `windlass stop`"
    )]
    NoTurnYet,
    #[error("it has no turn {turn}: `windlass log --timeline` shows its turns, of which there are {turns}")]
    NoSuchTurn { turn: u32, turns: u32 },
    #[error("its turn {0} is still being worked on: wait for its end, or name an earlier one")]
    TurnIsOpen(u32),
    #[error("its program is at work, and has its conversation in hand: stop it first with `windlass stop`")]
    ProgramAtWork,
    #[error(
        "its program can fork a conversation at its end only, which is turn {last}: leave out --turn, or name {last}"
    )]
    OnlyLastTurn { last: u32 },
    #[error("its agent, {0}, cannot fork a conversation: begin a new one with `windlass run`")]
    Agent(String),
    #[error("the folder that its program kept the conversation in cannot be copied: {0}")]
    HomeGone(String),
    #[error("no conversation of its program's is on record that could be gone on with")]
    NoSession,
}

/// Where this journal is forked: at the end of the turn that is wanted, or of the last that is complete.
pub fn fork_point(journal: &[(ExecutionEvent, Wall)], wanted: Option<u32>) -> Result<ForkPoint, CannotFork> {
    let whole = folded(journal);
    let header = whole.header.as_ref().ok_or(CannotFork::NotBegun)?;
    if let Some(parent) = &header.parent {
        return Err(CannotFork::Child(parent.execution_id));
    }
    match header.role {
        Role::Executor | Role::Worker => {}
        Role::Tactician => return Err(CannotFork::NoConversation),
        role => return Err(CannotFork::Role(role)),
    }
    let ends = turn_ends(journal.iter().map(|(event, at)| (event, *at)));
    let turns = u32::try_from(ends.len()).unwrap_or(u32::MAX);
    let is_at_work =
        !(whole.lifecycle.is_over() || matches!(whole.lifecycle, Lifecycle::AwaitingInput | Lifecycle::Paused));
    if is_at_work && whole.is_foreign() {
        return Err(CannotFork::ProgramAtWork);
    }
    let complete = turns.saturating_sub(u32::from(is_at_work));
    let turn = match wanted {
        Some(turn) if turn == 0 || turn > turns => return Err(CannotFork::NoSuchTurn { turn, turns }),
        Some(turn) if turn > complete => return Err(CannotFork::TurnIsOpen(turn)),
        Some(turn) => turn,
        None if turns == 0 => return Err(CannotFork::NotBegun),
        None if complete == 0 => return Err(CannotFork::NoTurnYet),
        None => complete,
    };
    if whole.is_foreign() && turn != turns {
        return Err(CannotFork::OnlyLastTurn { last: turns });
    }
    let records = ends[usize::try_from(turn - 1).unwrap_or_default()];
    let state = if records == journal.len() { whole } else { folded(&journal[..records]) };
    let taken_over = match (state.is_foreign(), &state.foreign.session_id) {
        (false, _) => TakenOver::Conversation(Box::new(Conversation::of(&state))),
        (true, Some(session)) => TakenOver::Session(session.clone()),
        (true, None) => return Err(CannotFork::NoSession),
    };
    Ok(ForkPoint {
        turn,
        records: records as u64,
        leaves_out: (wanted.is_none() && turn < turns).then_some(turns),
        taken_over,
        taint: state.taint,
        unended: state.unended(),
        model: state.model().to_owned(),
    })
}

fn folded(journal: &[(ExecutionEvent, Wall)]) -> ExecutionState {
    let mut state = ExecutionState::default();
    journal.iter().for_each(|(event, at)| state.apply(event, *at));
    state
}
