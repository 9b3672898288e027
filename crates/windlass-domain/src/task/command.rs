//! Seed 000 §15.1's input, field for field, with its defaults.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::execution::AgentInjection;
use crate::id::{CommandId, SessionId, TaskId};
use crate::pattern::Pattern;
use crate::task::{Deadline, DeadlineAction};
use crate::time::{Wall, optional_moment};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TaskCommand {
    pub command_id: CommandId,
    pub session_id: SessionId,
    pub task_id: TaskId,
    pub goal: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
    #[serde(default)]
    pub execution_config: ExecutionConfig,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_context: Option<ResumeContext>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecutionConfig {
    pub timeout_seconds: u64,
    pub max_iterations: u32,
    pub model: String,
    /// Whom planners ask, where that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planner_model: Option<String>,
    /// Of a turn: whom those ask who work on what it begins, where that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_model: Option<String>,
    pub compaction: CompactionConfig,
    /// The name of the pattern that leads the work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The patterns that there were when the task was begun, as far as it may need them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<Arc<Pattern>>,
    /// The model is asked for one decision at a time instead of being given tools.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tactician: bool,
    /// A foreign agent runs on its own screen, in a terminal that people look at and type into.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub terminal: bool,
    /// Of the whole task, whoever works on it; those who work for it have none of their own.
    #[serde(skip_serializing_if = "Option::is_none", with = "optional_moment")]
    pub deadline: Option<Wall>,
    #[serde(skip_serializing_if = "DeadlineAction::is_usual")]
    pub deadline_action: DeadlineAction,
}

impl ExecutionConfig {
    pub fn deadline(&self) -> Option<Deadline> {
        self.deadline.map(|at| Deadline { at, action: self.deadline_action })
    }

    /// The same for whoever works for the task.
    fn without_deadline(&self) -> Self {
        Self { deadline: None, deadline_action: DeadlineAction::default(), ..self.clone() }
    }

    /// The same for one of the planned task's planners, which has tools and no pattern.
    #[must_use]
    pub fn for_planner(&self) -> Self {
        let model = self.planner_model.clone().unwrap_or_else(|| self.model.clone());
        Self { model, pattern: None, tactician: false, ..self.without_deadline() }
    }

    /// The same for whoever only looks, which has tools and no pattern.
    #[must_use]
    pub fn for_looking(&self) -> Self {
        Self { pattern: None, patterns: Vec::new(), tactician: false, ..self.without_deadline() }
    }

    /// The same for an item that names this pattern. One that decides one call at a time has one in any case.
    #[must_use]
    pub fn for_item(&self, pattern: &str) -> Self {
        let is_wanted = |known: &&Arc<Pattern>| known.name == pattern && (known.leads() || self.tactician);
        let patterns: Vec<_> = self.patterns.iter().filter(is_wanted).cloned().collect();
        let is_named = pattern != Pattern::GENERIC || !patterns.is_empty();
        Self { pattern: is_named.then(|| pattern.to_owned()), patterns, ..self.without_deadline() }
    }

    /// What leads the work, if anything does; or the name that stands for nothing.
    pub fn leading(&self) -> Result<Option<&Arc<Pattern>>, String> {
        let Some(name) = &self.pattern else { return Ok(None) };
        match self.patterns.iter().find(|known| known.name == *name) {
            Some(pattern) => Ok(Some(pattern)),
            None => Err(name.clone()),
        }
    }
}

impl ExecutionConfig {
    /// The same for a task that a turn begins.
    #[must_use]
    pub fn for_work(&self) -> Self {
        Self { model: self.work_model.clone().unwrap_or_else(|| self.model.clone()), work_model: None, ..self.clone() }
    }
}

impl Default for ExecutionConfig {
    fn default() -> Self {
        Self {
            timeout_seconds: 600,
            max_iterations: 200,
            model: "gpt-4o".to_owned(),
            planner_model: None,
            work_model: None,
            compaction: CompactionConfig::default(),
            pattern: None,
            patterns: Vec::new(),
            tactician: false,
            terminal: false,
            deadline: None,
            deadline_action: DeadlineAction::default(),
        }
    }
}

/// Seed 000 §6.2. `context_window_tokens` is the model's own where it is not given.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompactionConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window_tokens: Option<u64>,
    pub response_reserve_tokens: u64,
    pub compaction_trigger_ratio: f64,
    pub memory_flush_enabled: bool,
    pub memory_flush_soft_threshold_tokens: u64,
    pub max_summary_tokens: u64,
    pub preserve_recent_turns: u32,
}

impl Default for CompactionConfig {
    fn default() -> Self {
        Self {
            context_window_tokens: None,
            response_reserve_tokens: 4_096,
            compaction_trigger_ratio: 0.85,
            memory_flush_enabled: true,
            memory_flush_soft_threshold_tokens: 4_000,
            max_summary_tokens: 2_000,
            preserve_recent_turns: 6,
        }
    }
}

impl CompactionConfig {
    /// What cannot work, in words.
    pub fn objection(&self) -> Option<String> {
        const LARGEST: u64 = 1 << 32;
        if !(0.1..=0.95).contains(&self.compaction_trigger_ratio) {
            return Some("compaction_trigger_ratio must be between 0.1 and 0.95".to_owned());
        }
        let bounds = [
            ("context_window_tokens", self.context_window_tokens.unwrap_or(LARGEST), 1_024, LARGEST),
            ("response_reserve_tokens", self.response_reserve_tokens, 1, LARGEST),
            ("memory_flush_soft_threshold_tokens", self.memory_flush_soft_threshold_tokens, 0, LARGEST),
            ("max_summary_tokens", self.max_summary_tokens, 100, LARGEST),
            ("preserve_recent_turns", self.preserve_recent_turns.into(), 1, 1_000),
        ];
        let (name, _, least, most) =
            bounds.into_iter().find(|(_, given, least, most)| !(*least..=*most).contains(given))?;
        Some(format!("{name} must be between {least} and {most}"))
    }
}

/// `previous_messages` is another system's account of the conversation: kept as it came, and believed by nobody where
/// there is a journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ResumeContext {
    pub previous_messages: Vec<serde_json::Value>,
    pub injection: AgentInjection,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_leaves_out_is_as_the_seed_says() {
        let id = "0199f1c2-7d7e-7c1a-9a52-0d6c2f1b8e11";
        let text = format!(r#"{{"command_id":"{id}","session_id":"{id}","task_id":"{id}","goal":"g"}}"#);
        let command: TaskCommand = serde_json::from_str(&text).expect("complete");
        let config = command.execution_config;
        assert_eq!((config.timeout_seconds, config.max_iterations, config.model.as_str()), (600, 200, "gpt-4o"));
        assert_eq!(config.compaction.response_reserve_tokens, 4_096);
        assert_eq!(config.compaction.preserve_recent_turns, 6);
    }
}
