//! `memory_search` (seed 001 §3.3, §4.3): a question to the host, who keeps what earlier tasks came to. What it answers is as
//! trustworthy as what it finds, which the host says. It only looks: run again after a crash it looks again.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::tool_name::MEMORY_SEARCH;
use windlass_domain::{BoxFuture, Effect, HostRequest, HostWork, Permit, Prepared, Reach, ToolSpec};

use crate::context::Context;
use crate::tool::{Nature, Output, Preparing, Running, Tool, arguments, spec};

const DESCRIPTION: &str = "\
Search what is remembered of earlier tasks: what they came to, what failed in them and how, and which plans were approved or \
declined and why. Each result says which task it comes from and when. It tells what was so then; look at the workspace for what is \
so now.";

const DEFAULT_LIMIT: usize = 5;
/// What so many say still fits into one result.
const MOST: usize = 20;

#[derive(Debug, Clone, Copy)]
pub struct MemorySearch;

#[derive(Deserialize)]
struct Arguments {
    query: String,
    #[serde(default = "default_limit")]
    limit: usize,
}

const fn default_limit() -> usize {
    DEFAULT_LIMIT
}

impl Tool for MemorySearch {
    fn spec(&self) -> ToolSpec {
        spec(
            MEMORY_SEARCH,
            DESCRIPTION,
            json!({
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "minLength": 1,
                        "description": "What to look for, in words",
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": MOST,
                        "default": DEFAULT_LIMIT,
                        "description": "How many results at most",
                    },
                },
                "required": ["query"],
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
        Ok(Prepared::new(Effect::Read, Reach::Memory))
    }

    fn run<'a>(&'a self, permit: Permit, _: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        Box::pin(async move {
            match arguments(&permit.call().call) {
                Ok(Arguments { query, limit }) => {
                    let request = Some(HostRequest { permit, work: HostWork::SearchMemory { query, limit } });
                    Output { request, ..Output::ok("") }
                }
                Err(reason) => Output::error(reason),
            }
        })
    }
}
