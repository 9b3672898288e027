//! `monitor` (seed 000 §13): to be told again and again to look at something, and to wait in between. The tool only says what would be
//! looked at; the host sets the schedule, and the next word to look, or whatever else is said, ends the call without this being
//! run. After a crash the call waits as before: it is no more than a record.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::monitor::{LONGEST_PROMPT, MonitoringSchedule, SHORTEST_INTERVAL_SECONDS, Unfit};
use windlass_domain::{BoxFuture, Effect, Permit, Prepared, Reach, ToolSpec};

use crate::context::Context;
use crate::tool::{Output, Preparing, Running, Tool, spec, typed};

const DESCRIPTION: &str = "\
Wait for a condition that you cannot bring about: a price, a build, a file of somebody else's. Execution stops, and every \
interval_seconds you are told check_prompt; what people and external events say wakes you too. Look then, and either call monitor \
again to go on waiting or finish. At timeout_at the task ends by timeout_action, whether or not the condition was met; later calls may \
bring that nearer, not put it off. Each check uses up iterations, tokens and money like any other turn: wait as long as the \
condition allows.";

#[derive(Debug, Clone, Copy)]
pub struct Monitor;

#[derive(Deserialize)]
struct Arguments {
    #[serde(flatten)]
    schedule: MonitoringSchedule,
}

impl Tool for Monitor {
    fn spec(&self) -> ToolSpec {
        spec(
            "monitor",
            DESCRIPTION,
            json!({
                "type": "object",
                "properties": {
                    "interval_seconds": { "type": "integer", "minimum": SHORTEST_INTERVAL_SECONDS },
                    "check_prompt": {
                        "type": "string",
                        "description": "What you are told each time, e.g. \"Check if the price condition is met\"",
                    },
                    "timeout_at": { "type": "string", "description": "ISO 8601 with an offset, within 90 days" },
                    "timeout_action": { "type": "string", "enum": ["complete", "fail"] },
                },
                "required": ["interval_seconds", "check_prompt", "timeout_at", "timeout_action"],
            }),
        )
    }

    fn preparing(&self) -> Preparing {
        Preparing::AtOnce
    }

    fn prepare(&self, arguments: &Value, _: &Context) -> Result<Prepared, String> {
        let Arguments { schedule } = typed(arguments)?;
        if schedule.check_prompt.len() > LONGEST_PROMPT {
            return Err(Unfit::PromptTooLong.to_string());
        }
        Ok(Prepared { monitor: Some(schedule), ..Prepared::new(Effect::Read, Reach::Context) })
    }

    fn run<'a>(&'a self, _: Permit, _: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        Box::pin(async { Output::error("nothing can be waited for here") })
    }
}
