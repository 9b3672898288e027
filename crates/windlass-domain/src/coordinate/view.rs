//! Seed 000 §3.4: a session and its tasks as any front door shows them, field for field. A projection: nothing is decided by it.

use serde::Serialize;

use crate::id::SessionId;
use crate::session::SessionState;
use crate::task::{TaskState, TaskStatus};
use crate::time::Wall;

/// Of a goal, so much is a summary.
const MOST_CHARS: usize = 200;

/// The seed's `SessionState`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionView {
    pub session_id: String,
    pub user_id: String,
    pub tasks: Vec<TaskEntry>,
    /// The newest that is under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_task_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskEntry {
    pub task_id: String,
    pub goal_summary: String,
    pub status: TaskStatus,
    /// The newest execution; the task itself before there is one.
    pub agent_session_id: String,
    /// Sandboxes have no name that lasts: a task that rests has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_id: Option<String>,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_action: Option<String>,
}

/// What callers call things, where they have names of their own for them.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Deserialize, Serialize)]
pub struct Names {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command_id: Option<crate::CallerName>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<crate::CallerName>,
}

impl SessionView {
    /// `tasks` are the session's, oldest first, each with the time of its newest change of status.
    pub fn of(session_id: SessionId, session: &SessionState, tasks: &[(TaskState, Wall)]) -> Self {
        let entries: Vec<TaskEntry> =
            tasks.iter().filter_map(|(state, changed)| TaskEntry::of(session, state, *changed)).collect();
        let active = entries.iter().rev().find(|entry| entry.status == TaskStatus::Running);
        Self {
            session_id: session.called.as_ref().map_or_else(|| session_id.to_string(), ToString::to_string),
            user_id: session.user_id.clone(),
            active_task_id: active.map(|entry| entry.task_id.clone()),
            tasks: entries,
        }
    }
}

impl TaskEntry {
    fn of(session: &SessionState, state: &TaskState, changed: Wall) -> Option<Self> {
        let (created, status) = (state.created.as_ref()?, state.status?);
        let task = created.command.task_id;
        let goal = created.command.goal.lines().next().unwrap_or_default();
        let deadline = state.deadline();
        let at = |is_so: bool| is_so.then(|| changed.to_rfc3339());
        Some(Self {
            task_id: session.name_of(task),
            goal_summary: goal.chars().take(MOST_CHARS).collect(),
            status,
            agent_session_id: state
                .attempts
                .last()
                .map_or_else(|| task.to_string(), |attempt| attempt.execution_id.to_string()),
            container_id: None,
            created_at: state.created_at.to_rfc3339(),
            completed_at: at(status.is_over()),
            paused_at: at(status == TaskStatus::Paused),
            deadline: deadline.map(|deadline| deadline.at.to_rfc3339()),
            deadline_action: deadline.map(|deadline| deadline.action.as_str().to_owned()),
        })
    }
}
