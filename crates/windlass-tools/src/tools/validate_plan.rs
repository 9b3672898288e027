//! `validate_plan` (seed 001 §4.3): the host reads a plan document with the parser that will read it when it is proposed, and
//! says what it holds or everything that is wrong with it. Nothing is kept, hence `Read`.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{BoxFuture, Effect, HostRequest, HostWork, Permit, Prepared, Reach, ToolSpec};

use crate::context::Context;
use crate::tool::{Nature, Output, Preparing, Running, Tool, arguments, spec};

#[derive(Debug, Clone, Copy)]
pub struct ValidatePlan;

#[derive(Deserialize)]
struct Arguments {
    plan_markdown: String,
}

impl Tool for ValidatePlan {
    fn spec(&self) -> ToolSpec {
        spec(
            "validate_plan",
            "Read a plan document as the runtime will read it. The result says what it holds, or every problem with its line and \
             column.",
            json!({
                "type": "object",
                "properties": {
                    "plan_markdown": { "type": "string", "minLength": 1, "description": "The whole document" },
                },
                "required": ["plan_markdown"],
                "additionalProperties": false,
            }),
        )
    }

    fn nature(&self) -> Nature {
        Nature::Looks
    }

    fn preparing(&self) -> Preparing {
        Preparing::AtOnce
    }

    fn prepare(&self, _: &Value, _: &Context) -> Result<Prepared, String> {
        Ok(Prepared::new(Effect::Read, Reach::Context))
    }

    fn run<'a>(&'a self, permit: Permit, _: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        Box::pin(async move {
            match arguments(&permit.call().call) {
                Ok(Arguments { plan_markdown }) => {
                    let request = HostRequest { permit, work: HostWork::ValidatePlan { plan_markdown } };
                    Output { request: Some(request), ..Output::ok("") }
                }
                Err(reason) => Output::error(reason),
            }
        })
    }
}
