//! What a runner is given, and how a run ends.

use serde::{Deserialize, Serialize};

use crate::attachment::Attachment;
use crate::execution::{ForkedFrom, MessageKind};
use crate::id::{ExecutionId, RequestId, TaskId};
use crate::monitor::MonitoringSchedule;
use crate::port::Stop;
use crate::question::QuestionAsked;
use crate::result::ErrorDetails;
use crate::scope::Role;

/// Everything a runner needs to begin or to go on. The journal has the rest.
#[derive(Debug, Clone, PartialEq)]
pub struct Launch {
    pub execution_id: ExecutionId,
    pub task_id: TaskId,
    pub agent_id: String,
    pub role: Role,
    pub asked: Asked,
    pub model: String,
    pub task: TaskMessage,
    /// The patterns that a planner may choose from, in words.
    pub patterns: Vec<String>,
}

/// What an agent is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Asked {
    /// The work of its role.
    #[default]
    Work,
    /// Advice on work that somebody else is stuck with, in its own words.
    Guidance,
    /// What a user wants, and when a machine can tell that it is there.
    Alignment,
    /// The change of an objective that a user's words ask for.
    Correction,
    /// An atom of an objective, with a report as its last word.
    Atom,
}

/// The four parts of the first message (seed 000 §4.3), and the finish line.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TaskMessage {
    pub goal: String,
    pub constraints: Vec<String>,
    pub attachments: Vec<Attachment>,
    pub memories: Vec<String>,
    /// How people like things done, and texts that belong to the task, as a context service keeps them.
    pub kept: Vec<String>,
    /// What earlier attempts ran into, oldest first.
    pub previous_failures: Vec<String>,
    /// The checks that decide, in words.
    pub finish_line: Vec<String>,
    /// What items that this one depends on came to.
    pub bindings: Vec<String>,
    /// What a planner says about earlier attempts, oldest first.
    pub guidance: Vec<String>,
    /// Where the conversation before this message comes from, if from an earlier run.
    pub forked: Option<ForkedFrom>,
}

/// How a run ended, as the runner saw it. The engine decides what follows.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Completed {
        message: String,
    },
    Failed(ErrorDetails),
    /// A person's answer is needed before anything else can happen. Nothing is held meanwhile.
    Waiting,
    Stopped(Stop),
}

const RESPONDED: &str = "User responded to your question: ";
const REQUEST_ID: &str = "request_id";
const REPAIR: &str = "repair";
const MONITOR: &str = "monitor";
const KIND: &str = "kind";

fn you_asked(question: &str) -> String {
    format!("\n\n(You asked: {question})")
}

/// The person's own part of what `AgentInjection::user_responded` tells.
pub(crate) fn answer_in<'a>(told: &'a str, question: &str) -> Option<&'a str> {
    told.strip_prefix(RESPONDED)?.strip_suffix(&you_asked(question))
}

/// Seed 000 §3.3: outside input queued for an execution's next turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInjection {
    pub injection_type: InjectionType,
    pub content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<serde_json::Map<String, serde_json::Value>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InjectionType {
    UserMessage,
    HitlResponse,
    ExternalEvent,
    SystemControl,
}

impl AgentInjection {
    /// Seed 000 §3.3: what a user says unasked.
    pub fn user_says(words: &str) -> Self {
        let content = format!("User says: {words}");
        Self { injection_type: InjectionType::UserMessage, content, metadata: None }
    }

    /// Seed 000 §3.3: what a user answers. Several questions may have been put at once, hence which it was.
    pub fn user_responded(answer: &str, asked: &QuestionAsked) -> Self {
        let question = &asked.asked.question;
        let content = format!("{RESPONDED}{answer}{}", you_asked(question));
        let metadata = [(REQUEST_ID.to_owned(), serde_json::json!(asked.request_id))].into_iter().collect();
        Self { injection_type: InjectionType::HitlResponse, content, metadata: Some(metadata) }
    }

    /// The question that it answers.
    pub fn answers(&self) -> Option<RequestId> {
        self.metadata.as_ref()?.get(REQUEST_ID)?.as_str()?.parse().ok()
    }

    /// A person's response, in their own words, where it is one. Another program may say it as agents hear it, or bare.
    pub fn response(&self) -> Option<&str> {
        let is_one = self.injection_type == InjectionType::HitlResponse;
        is_one.then(|| self.content.strip_prefix(RESPONDED).unwrap_or(&self.content))
    }

    /// What an agent is told whose last word has not the form that was asked for.
    pub fn repair(words: &str) -> Self {
        let metadata = [(REPAIR.to_owned(), serde_json::json!(true))].into_iter().collect();
        Self { injection_type: InjectionType::SystemControl, content: words.to_owned(), metadata: Some(metadata) }
    }

    pub fn is_repair(&self) -> bool {
        self.metadata.as_ref().and_then(|metadata| metadata.get(REPAIR)) == Some(&serde_json::Value::Bool(true))
    }

    /// A person breaks off what the agent does.
    pub fn interrupt() -> Self {
        let content = "A person interrupts you.".to_owned();
        let interrupt = Self { injection_type: InjectionType::SystemControl, content, metadata: None };
        interrupt.of_kind(MessageKind::Interrupt)
    }

    /// A person wants another model to be asked. Its agent does not hear of it.
    pub fn switch_model(name: &str) -> Self {
        let switch = Self { injection_type: InjectionType::SystemControl, content: name.to_owned(), metadata: None };
        switch.of_kind(MessageKind::Model)
    }

    #[must_use]
    pub fn of_kind(mut self, kind: MessageKind) -> Self {
        self.metadata.get_or_insert_default().insert(KIND.to_owned(), serde_json::json!(kind));
        self
    }

    /// What is said without a kind is a prompt, and what answers a question a reply.
    pub fn kind(&self) -> MessageKind {
        let said = self.metadata.as_ref().and_then(|metadata| metadata.get(KIND)).cloned();
        let plain = if self.answers().is_some() { MessageKind::Reply } else { MessageKind::Prompt };
        said.and_then(|said| serde_json::from_value(said).ok()).unwrap_or(plain)
    }

    /// What an agent is told whose folder was lost while it was away: it would believe in files that are not there.
    pub fn folder_lost() -> Self {
        let content = "The folder you worked in was lost and has been made anew: it holds what you began with, and nothing you \
                       changed since. Look at it before you go on.";
        Self { injection_type: InjectionType::SystemControl, content: content.to_owned(), metadata: None }
    }

    /// Seed 000 §13.1: what an agent is told that watches something, in the words of whoever set it.
    pub fn check_now(schedule: &MonitoringSchedule, firing: u32) -> Self {
        let metadata = [(MONITOR.to_owned(), serde_json::json!(firing))].into_iter().collect();
        let content = schedule.check_prompt.clone();
        Self { injection_type: InjectionType::SystemControl, content, metadata: Some(metadata) }
    }

    pub fn is_check(&self) -> bool {
        self.metadata.as_ref().is_some_and(|metadata| metadata.contains_key(MONITOR))
    }

    /// Seed 000 §3.3: what happened elsewhere. Whether that matters is the agent's to find out (§14.2).
    pub fn event_received(payload: &str) -> Self {
        let content = format!("Event received: {payload}");
        Self { injection_type: InjectionType::ExternalEvent, content, metadata: None }
    }

    /// Seed 000 §13.1: the time has come to look at something.
    pub fn scheduled(prompt: &str) -> Self {
        Self { injection_type: InjectionType::SystemControl, content: prompt.to_owned(), metadata: None }
    }

    /// What another system says was said before it handed the task on. Nobody here heard it.
    pub fn said_elsewhere(messages: &[serde_json::Value]) -> Self {
        let told: Vec<String> = messages.iter().map(ToString::to_string).collect();
        let content = format!("Another system says that this was said before:\n{}", told.join("\n"));
        Self { injection_type: InjectionType::ExternalEvent, content, metadata: None }
    }

    /// Seed 000 §3.3: what a task that goes on after a pause is told.
    pub fn resumed() -> Self {
        Self {
            injection_type: InjectionType::SystemControl,
            content: "Task resumed by user".to_owned(),
            metadata: None,
        }
    }
}
