//! `tell_user` (seed 001 §3.3): words for the user in the midst of the work. The host puts them through the gates for what agents
//! say, and shows and keeps them in one record; it shows none twice, hence `Read`, which may be run again after a crash.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{BoxFuture, Effect, HostRequest, HostWork, Permit, Prepared, Reach, ToolSpec};

use crate::context::Context;
use crate::tool::{Output, Preparing, Running, Tool, arguments, spec, typed};

const LONGEST: usize = 4_000;

#[derive(Debug, Clone, Copy)]
pub struct TellUser;

#[derive(Deserialize)]
struct Arguments {
    message: String,
}

impl Tool for TellUser {
    fn spec(&self) -> ToolSpec {
        spec(
            "tell_user",
            "Show the user a message now, before your answer is ready. Use it for a short word on what you are doing; it asks \
             nothing and nobody answers.",
            json!({
                "type": "object",
                "properties": { "message": { "type": "string", "minLength": 1, "description": "What to say" } },
                "required": ["message"],
                "additionalProperties": false,
            }),
        )
    }

    fn preparing(&self) -> Preparing {
        Preparing::AtOnce
    }

    fn prepare(&self, arguments: &Value, _: &Context) -> Result<Prepared, String> {
        let Arguments { message } = typed(arguments)?;
        if message.trim().is_empty() {
            return Err("`message`: must not be empty".to_owned());
        }
        match message.chars().count() {
            long if long > LONGEST => {
                Err(format!("`message`: has {long} letters, at most {LONGEST} are shown at once"))
            }
            _ => Ok(Prepared::new(Effect::Read, Reach::Context)),
        }
    }

    fn run<'a>(&'a self, permit: Permit, _: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        Box::pin(async move {
            match arguments(&permit.call().call) {
                Ok(Arguments { message }) => {
                    let request = HostRequest { permit, work: HostWork::TellUser { message } };
                    Output { request: Some(request), ..Output::ok("") }
                }
                Err(reason) => Output::error(reason),
            }
        })
    }
}
