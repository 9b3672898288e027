//! `request_research` (seed 001 §4.3): a question that somebody else looks into. Nothing is waited for: the host says whether it
//! is being looked into, and the answer arrives as a message. The same question again is the same question, hence `Read`.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::research::ResearchQuestion;
use windlass_domain::{BoxFuture, Effect, HostRequest, HostWork, Permit, Prepared, Reach, ToolSpec};

use crate::context::Context;
use crate::tool::{Output, Preparing, Running, Tool, arguments, spec, typed};

const DEFAULT_TOKENS: u32 = 500;
const MOST_TOKENS: u32 = 4_000;
/// A question is a question.
const LONGEST_TASK: usize = 4_000;
const LONGEST_FORMAT: usize = 1_000;

#[derive(Debug, Clone, Copy)]
pub struct RequestResearch;

#[derive(Deserialize)]
struct Arguments {
    task: String,
    return_format: String,
    max_tokens: Option<u32>,
}

impl Tool for RequestResearch {
    fn spec(&self) -> ToolSpec {
        spec(
            "request_research",
            "Let somebody find something out. It does not block: the answer arrives as a later message. When there is nothing else \
             to do meanwhile, end your turn with `needs_research: true`.",
            json!({
                "type": "object",
                "properties": {
                    "task": { "type": "string", "minLength": 1, "description": "One narrow question" },
                    "return_format": {
                        "type": "string",
                        "minLength": 1,
                        "description": "The form of the answer, such as \"yes/no + 1 line\"",
                    },
                    "max_tokens": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": MOST_TOKENS,
                        "default": DEFAULT_TOKENS,
                        "description": "The answer is cut after this",
                    },
                },
                "required": ["task", "return_format"],
                "additionalProperties": false,
            }),
        )
    }

    fn preparing(&self) -> Preparing {
        Preparing::AtOnce
    }

    fn prepare(&self, arguments: &Value, _: &Context) -> Result<Prepared, String> {
        let Arguments { task, return_format, .. } = typed(arguments)?;
        is_short("task", &task, LONGEST_TASK)?;
        is_short("return_format", &return_format, LONGEST_FORMAT)?;
        Ok(Prepared::new(Effect::Read, Reach::Context))
    }

    fn run<'a>(&'a self, permit: Permit, _: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        Box::pin(async move {
            match arguments(&permit.call().call) {
                Ok(Arguments { task, return_format, max_tokens }) => {
                    let max_tokens = max_tokens.unwrap_or(DEFAULT_TOKENS);
                    let work = HostWork::Research(ResearchQuestion { task, return_format, max_tokens });
                    Output { request: Some(HostRequest { permit, work }), ..Output::ok("") }
                }
                Err(reason) => Output::error(reason),
            }
        })
    }
}

fn is_short(field: &str, text: &str, most: usize) -> Result<(), String> {
    match text.chars().count() {
        long if long > most => Err(format!("`{field}`: has {long} letters, at most {most} are read; ask for less")),
        _ => Ok(()),
    }
}
