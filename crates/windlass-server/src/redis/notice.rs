//! What is written to the streams that go out: seed 000's objects, with the caller's own names, each with an `event_id` that is the same
//! whenever it is written again.

use serde_json::{Value, json};
use windlass_domain::{TaskResult, UsageMetrics};
use windlass_engine::{Error, Outgoing, Published};

use super::entry::{Headings, Inlet};

pub const TASK_RESULT: &str = "task-result";
pub const HITL_REQUEST: &str = "hitl-request-command";
pub const USER_MESSAGE: &str = "user-message-command";
pub const DEAD_LETTER: &str = "windlass-dead-letter";

/// A stream, and the JSON of an entry of it.
pub type Notice = (&'static str, String);

/// What is said of it; nothing of what is kept under a key of its own.
pub fn notice(outgoing: &Outgoing) -> Option<Notice> {
    let Outgoing { event_id, session_id, what, .. } = outgoing;
    Some(match what {
        Published::Result { task_id, command_id, result } => {
            (TASK_RESULT, result_json(result, (event_id, session_id), task_id, command_id).to_string())
        }
        Published::Asked { task_id, request } => {
            let mut asked = json!(request);
            name(&mut asked, event_id, session_id);
            asked["task_id"] = json!(task_id);
            (HITL_REQUEST, asked.to_string())
        }
        Published::Told { task_id, kind, message } => {
            (USER_MESSAGE, told(event_id, session_id, task_id.as_deref(), kind, message))
        }
        Published::Status { .. } => return None,
    })
}

fn name(object: &mut Value, event_id: &str, session_id: &str) {
    object["event_id"] = json!(event_id);
    object["session_id"] = json!(session_id);
}

fn result_json(result: &TaskResult, (event_id, session_id): (&str, &str), task_id: &str, command_id: &str) -> Value {
    let mut told = json!(result);
    name(&mut told, event_id, session_id);
    told["task_id"] = json!(task_id);
    told["command_id"] = json!(command_id);
    told
}

fn told(event_id: &str, session_id: &str, task_id: Option<&str>, kind: &str, message: &str) -> String {
    let mut told = json!({"type": kind, "message": message});
    name(&mut told, event_id, session_id);
    if let Some(task_id) = task_id {
        told["task_id"] = json!(task_id);
    }
    told.to_string()
}

/// What is written about an entry that is not heeded: for the operator in any case, and for whoever waits for an answer to it.
pub fn refused(inlet: Inlet, entry: &str, json: &str, why: &Refused, headings: &Headings) -> Vec<Notice> {
    let reason = &why.reason;
    let dead = json!({"stream": inlet.stream(), "entry_id": entry, "reason": reason, "json": json});
    let mut notices = vec![(DEAD_LETTER, dead.to_string())];
    let event_id = format!("refused:{}:{entry}", inlet.stream());
    match (inlet, &headings.session_id, &headings.task_id, &headings.command_id) {
        (Inlet::TaskCommand, Some(session_id), Some(task_id), Some(command_id)) => {
            let failed = json!({
                "event_id": event_id,
                "task_id": task_id,
                "session_id": session_id,
                "command_id": command_id,
                "status": "FAILED",
                "verified": false,
                "deliverables": [],
                "evidence_refs": [],
                "usage": UsageMetrics::default(),
                "error_details": {
                    "error_code": why.code,
                    "category": if why.may_be_asked_again { "transient" } else { "permanent" },
                    "message": reason,
                    "retryable": why.may_be_asked_again,
                },
            });
            notices.push((TASK_RESULT, failed.to_string()));
        }
        (_, Some(session_id), task_id, _) => {
            notices.push((USER_MESSAGE, told(&event_id, session_id, task_id.as_deref(), "refused", reason)));
        }
        _ => {}
    }
    notices
}

const REFUSED: &str = "refused";

/// Why an entry is not heeded.
pub struct Refused {
    pub reason: String,
    pub code: &'static str,
    /// There is nothing wrong with it but the time at which it came.
    pub may_be_asked_again: bool,
}

impl Refused {
    pub fn unreadable(reason: String) -> Self {
        Self { reason, code: REFUSED, may_be_asked_again: false }
    }
}

impl From<&Error> for Refused {
    fn from(error: &Error) -> Self {
        let (code, may_be_asked_again) = match error {
            Error::TooManySessions(_) => ("limit_reached", true),
            Error::Workspace(_) => ("workspace_unavailable", true),
            _ => (REFUSED, false),
        };
        Self { reason: error.to_string(), code, may_be_asked_again }
    }
}
