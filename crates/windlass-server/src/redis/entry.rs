//! What stands in an entry of a stream, read: seed 000's objects, one JSON text each. Fields that nobody here knows are left alone. What
//! cannot be read says why, in a sentence for whoever wrote it.

use serde::Deserialize;
use serde_json::{Map, Value};
use windlass_domain::coordinate::{Channel, Origin, Steering, Trigger, Triggered, UNNAMED_USER, is_nobodys};
use windlass_domain::task::{CompactionConfig, ResumeContext};
use windlass_domain::{CallerName, Taint};
use windlass_engine::{Submission, TaskOrder};

/// The streams that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Inlet {
    TaskCommand,
    UserMessage,
    HitlResponse,
    ExternalEvent,
    TaskControl,
    Scheduled,
}

impl Inlet {
    pub const ALL: [Self; 6] = [
        Self::TaskCommand,
        Self::UserMessage,
        Self::HitlResponse,
        Self::ExternalEvent,
        Self::TaskControl,
        Self::Scheduled,
    ];

    pub const fn stream(self) -> &'static str {
        match self {
            Self::TaskCommand => "task-command",
            Self::UserMessage => "user-message-received",
            Self::HitlResponse => "hitl-response-received",
            Self::ExternalEvent => "external-event-received",
            Self::TaskControl => "task-control-received",
            Self::Scheduled => "scheduled-trigger",
        }
    }
}

/// What an entry asks for.
#[derive(Debug)]
pub enum Read {
    Command(Box<TaskOrder>),
    Trigger(Trigger),
}

/// The names that it goes by, as far as they can be read: of what is refused, too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headings {
    pub session_id: Option<String>,
    pub task_id: Option<String>,
    pub command_id: Option<String>,
}

#[derive(Deserialize)]
struct Command {
    command_id: CallerName,
    session_id: CallerName,
    task_id: CallerName,
    goal: String,
    #[serde(default)]
    constraints: Vec<String>,
    #[serde(default)]
    execution_config: Overrides,
    #[serde(default)]
    resume_context: Option<ResumeContext>,
}

/// Seed 000 §17.2: what a command may have otherwise than its door's operator said.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Overrides {
    timeout_seconds: Option<u64>,
    max_iterations: Option<u32>,
    model: Option<String>,
    compaction: Map<String, Value>,
}

/// `entry` is the entry's own name, for what has no id of its own.
pub fn read_entry(inlet: Inlet, entry: &str, json: &str, template: &Submission) -> Result<Read, String> {
    let value: Value = serde_json::from_str(json).map_err(|error| format!("it is no JSON: {error}"))?;
    if !value.is_object() {
        return Err("it is no JSON object".to_owned());
    }
    let fields = Fields(&value);
    let origin = fields.origin()?;
    if inlet == Inlet::TaskCommand {
        let command: Command = serde_json::from_value(value).map_err(|error| error.to_string())?;
        return Ok(Read::Command(Box::new(order(command, origin, template)?)));
    }
    let what = match inlet {
        Inlet::TaskCommand | Inlet::UserMessage => Triggered::UserMessage {
            words: fields.text(&["message", "content", "text"])?,
            task_id: fields.name("task_id")?,
        },
        Inlet::HitlResponse => Triggered::HitlResponse {
            request_id: fields.text(&["request_id"])?,
            response: fields.text(&["response", "answer", "content", "message"])?,
        },
        Inlet::ExternalEvent => {
            let payload = fields.text(&["payload", "event", "content", "message"])?;
            Triggered::ExternalEvent { payload, task_id: fields.name("task_id")? }
        }
        Inlet::TaskControl => Triggered::TaskControl {
            task_id: fields.needed("task_id")?,
            steering: fields.steering()?,
            reason: fields.text(&["reason"]).unwrap_or_else(|_| "asked for by another program".to_owned()),
        },
        Inlet::Scheduled => Triggered::Scheduled {
            task_id: fields.needed("task_id")?,
            prompt: fields.text(&["check_prompt", "prompt", "message", "content"])?,
        },
    };
    let session_id = fields.name("session_id")?;
    Ok(Read::Trigger(Trigger { trigger_id: fields.id(inlet, entry)?, origin, session_id, what }))
}

pub fn headings(json: &str) -> Headings {
    let value: Value = serde_json::from_str(json).unwrap_or_default();
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    Headings { session_id: text("session_id"), task_id: text("task_id"), command_id: text("command_id") }
}

struct Fields<'a>(&'a Value);

impl Fields<'_> {
    /// Who is not named is not counted as anybody, and nobody goes by a name that records have for others: whoever is called as this
    /// machine's own user would be counted as that one, and stand for them in the audit.
    fn origin(&self) -> Result<Origin, String> {
        let named = self.0.get("user_id").and_then(Value::as_str).filter(|user| !user.trim().is_empty());
        let by = match named {
            None | Some(UNNAMED_USER) => UNNAMED_USER,
            Some(user) if is_nobodys(user) => {
                return Err(format!(
                    "`user_id`: records have `{user}` for what has nobody's name; give the user another one"
                ));
            }
            Some(user) => user,
        };
        Ok(Origin { by: by.to_owned(), channel: Channel::Redis, taint: Taint::Auth })
    }

    /// The first of these that is there; what is no text is told as JSON.
    fn text(&self, names: &[&str]) -> Result<String, String> {
        let found = names.iter().find_map(|name| self.0.get(*name).filter(|value| !value.is_null()));
        match found {
            Some(Value::String(text)) => Ok(text.clone()),
            Some(other) => Ok(other.to_string()),
            None => Err(format!("`{}` is missing", names[0])),
        }
    }

    fn name(&self, field: &str) -> Result<Option<CallerName>, String> {
        match self.0.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => text.parse().map(Some).map_err(|bad| format!("`{field}`: {bad}")),
            Some(_) => Err(format!("`{field}` is no text")),
        }
    }

    fn needed(&self, field: &str) -> Result<CallerName, String> {
        self.name(field)?.ok_or_else(|| format!("`{field}` is missing"))
    }

    fn id(&self, inlet: Inlet, entry: &str) -> Result<CallerName, String> {
        for field in ["trigger_id", "event_id", "message_id"] {
            if let Some(name) = self.name(field)? {
                return Ok(name);
            }
        }
        format!("{}:{entry}", inlet.stream()).parse().map_err(|bad| format!("the entry's own id: {bad}"))
    }

    fn steering(&self) -> Result<Steering, String> {
        match self.text(&["action", "control", "command"])?.to_ascii_lowercase().as_str() {
            "pause" => Ok(Steering::Pause),
            "resume" => Ok(Steering::Resume),
            "cancel" => Ok(Steering::Cancel),
            other => Err(format!("`action` is `{other}`: say pause, resume or cancel")),
        }
    }
}

fn order(command: Command, origin: Origin, template: &Submission) -> Result<TaskOrder, String> {
    let Command { command_id, session_id, task_id, goal, constraints, execution_config, resume_context } = command;
    if goal.trim().is_empty() {
        return Err("`goal` is empty".to_owned());
    }
    let mut submission = Submission { goal, ..template.clone() };
    submission.constraints.extend(constraints);
    override_config(&mut submission, execution_config)?;
    Ok(TaskOrder { command_id, session_id, task_id, origin, submission, resume_context })
}

/// Budgets stay the operator's: time beyond them would not be had anyway.
fn override_config(submission: &mut Submission, wanted: Overrides) -> Result<(), String> {
    let config = &mut submission.config;
    if wanted.timeout_seconds == Some(0) || wanted.max_iterations == Some(0) {
        return Err("`timeout_seconds` and `max_iterations` must be at least 1".to_owned());
    }
    config.timeout_seconds = wanted.timeout_seconds.unwrap_or(config.timeout_seconds);
    config.max_iterations = wanted.max_iterations.unwrap_or(config.max_iterations);
    if let Some(model) = wanted.model.filter(|model| !model.trim().is_empty()) {
        config.model = model;
    }
    config.compaction = overridden(config.compaction, wanted.compaction)?;
    config.compaction.objection().map_or(Ok(()), |objection| Err(format!("`compaction`: {objection}")))
}

fn overridden(operators: CompactionConfig, wanted: Map<String, Value>) -> Result<CompactionConfig, String> {
    let mut merged = serde_json::to_value(operators).map_err(|error| error.to_string())?;
    if let Value::Object(fields) = &mut merged {
        fields.extend(wanted);
    }
    serde_json::from_value(merged).map_err(|error| format!("`compaction`: {error}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_domain::task::ExecutionConfig;
    use windlass_domain::{BaseCase, Budget};
    use windlass_engine::{Planning, SubmittedModel};

    use super::*;

    fn template() -> Submission {
        Submission {
            goal: "anything".to_owned(),
            constraints: vec!["the operator's".to_owned()],
            attachments: Vec::new(),
            config: ExecutionConfig { timeout_seconds: 100, ..ExecutionConfig::default() },
            agent_id: "executor".to_owned(),
            model: SubmittedModel::Rehearsal(String::new()),
            workspace: "/srv/shop".into(),
            base_case: BaseCase(Vec::new()),
            budget: Budget::default(),
            sandbox: "cells".to_owned(),
            planning: Planning::None,
        }
    }

    fn read(inlet: Inlet, entry: &Value) -> Result<Read, String> {
        read_entry(inlet, "17-0", &entry.to_string(), &template())
    }

    fn ordered(entry: &Value) -> Result<TaskOrder, String> {
        match read(Inlet::TaskCommand, entry)? {
            Read::Command(order) => Ok(*order),
            Read::Trigger(trigger) => Err(format!("{trigger:?}")),
        }
    }

    #[test]
    fn a_command_changes_time_calls_and_model_and_nothing_else() {
        let mut entry = json!({"command_id": "c", "session_id": "s", "task_id": "t", "goal": "Do it"});
        let plain = ordered(&entry).unwrap();
        assert_eq!((plain.submission.goal.as_str(), plain.submission.config.timeout_seconds), ("Do it", 100));
        assert_eq!((plain.origin.by.as_str(), plain.origin.channel), (UNNAMED_USER, Channel::Redis));
        entry["constraints"] = json!(["mine"]);
        entry["user_id"] = json!("ada");
        entry["sandbox"] = json!("process");
        entry["execution_config"] = json!({"timeout_seconds": 5, "max_iterations": 7, "model": "m", "compaction": {"preserve_recent_turns": 3}});
        let order = ordered(&entry).unwrap();
        let config = &order.submission.config;
        assert_eq!((config.timeout_seconds, config.max_iterations, config.model.as_str()), (5, 7, "m"));
        assert_eq!(config.compaction.preserve_recent_turns, 3);
        assert_eq!(config.compaction.max_summary_tokens, CompactionConfig::default().max_summary_tokens);
        assert_eq!(order.submission.constraints, ["the operator's", "mine"]);
        assert_eq!((order.submission.sandbox.as_str(), order.origin.by.as_str()), ("cells", "ada"));
        let refused = |field: &str, value: Value| {
            let mut entry = entry.clone();
            entry[field] = value;
            ordered(&entry).unwrap_err()
        };
        assert!(refused("goal", json!(" ")).contains("`goal`"));
        assert!(refused("execution_config", json!({"max_iterations": 0})).contains("at least 1"));
        assert!(refused("execution_config", json!({"compaction": {"preserve_recent_turns": 0}})).contains("between"));
        assert!(refused("task_id", json!("")).contains("empty"));
    }

    #[test]
    fn a_trigger_has_its_own_id_or_that_of_its_entry() {
        let id = |entry: Value| match read(Inlet::HitlResponse, &entry) {
            Ok(Read::Trigger(trigger)) => trigger.trigger_id.to_string(),
            other => panic!("{other:?}"),
        };
        let entry = json!({"request_id": "r", "response": "yes"});
        assert_eq!(id(entry.clone()), "hitl-response-received:17-0");
        let mut named = entry;
        named["trigger_id"] = json!("mine");
        assert_eq!(id(named), "mine");
    }

    /// Regression: a user called `local` was counted as whoever works at this machine's terminal.
    #[test]
    fn nobody_goes_by_a_name_that_records_have_for_nobody() {
        let by = |user: Value| {
            let entry = json!({"command_id": "c", "session_id": "s", "task_id": "t", "goal": "Do it", "user_id": user});
            ordered(&entry).map(|order| order.origin.by)
        };
        assert_eq!(by(json!("ada")).unwrap(), "ada");
        for nobody in [Value::Null, json!(""), json!(" "), json!("unnamed")] {
            assert_eq!(by(nobody).unwrap(), UNNAMED_USER);
        }
        for taken in ["local", "Local", " local", "runtime", "system", "windlass", "UNNAMED"] {
            assert!(by(json!(taken)).unwrap_err().contains("`user_id`"), "{taken}");
        }
    }

    #[test]
    fn what_is_no_text_is_told_as_json() {
        let entry = json!({"task_id": "t", "payload": {"price": 99}});
        match read(Inlet::ExternalEvent, &entry) {
            Ok(Read::Trigger(Trigger { what: Triggered::ExternalEvent { payload, .. }, .. })) => {
                assert_eq!(payload, r#"{"price":99}"#);
            }
            other => panic!("{other:?}"),
        }
    }
}
