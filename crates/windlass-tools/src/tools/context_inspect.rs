//! `context_inspect` (seed 001 §3.3): what the agent's own context holds, as the host's fold of its journal has it.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::execution::ContextZone;
use windlass_domain::{BoxFuture, Effect, HostRequest, HostWork, Permit, Prepared, Reach, ToolSpec};

use crate::context::Context;
use crate::tool::{Nature, Output, Preparing, Running, Tool, arguments, spec};

#[derive(Debug, Clone, Copy)]
pub struct ContextInspect;

#[derive(Deserialize)]
struct Arguments {
    zone: Option<ContextZone>,
}

impl Tool for ContextInspect {
    fn spec(&self) -> ToolSpec {
        spec(
            "context_inspect",
            "Look at what your own context holds: how long it is, the plan, open questions, files, errors.",
            json!({
                "type": "object",
                "properties": {
                    "zone": {
                        "type": "string",
                        "enum": ContextZone::WORDS,
                        "description": "One part of it; without, all in short",
                    },
                },
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
                Ok(Arguments { zone }) => {
                    let request = HostRequest { permit, work: HostWork::InspectContext { zone } };
                    Output { request: Some(request), ..Output::ok("") }
                }
                Err(reason) => Output::error(reason),
            }
        })
    }
}
