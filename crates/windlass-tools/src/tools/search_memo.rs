//! `search_memo` (seed 000 §7.2): a question to the host, which reads the memos and ranks them. What it answers is as
//! trustworthy as the memos are.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{BoxFuture, Effect, HostRequest, HostWork, Permit, Prepared, Reach, ToolSpec};
use windlass_workspace::MEMO_FOLDER;

use crate::context::Context;
use crate::tool::{Nature, Output, Preparing, Running, Tool, arguments, spec};

const DESCRIPTION: &str = "\
Search your memo storage for previously saved notes. Use this to recall:
- Findings from earlier in the task
- Decisions you made and why
- Information that was saved before context summarization";

#[derive(Debug, Clone, Copy)]
pub struct SearchMemo;

#[derive(Deserialize)]
struct Arguments {
    query: String,
}

impl Tool for SearchMemo {
    fn spec(&self) -> ToolSpec {
        spec(
            "search_memo",
            DESCRIPTION,
            json!({
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "minLength": 1,
                        "description": "Search query (semantic search over memo contents)",
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
        Ok(Prepared::new(Effect::Read, Reach::Files(vec![MEMO_FOLDER.to_owned()])))
    }

    fn run<'a>(&'a self, permit: Permit, _: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        Box::pin(async move {
            match arguments(&permit.call().call) {
                Ok(Arguments { query }) => {
                    let request = Some(HostRequest { permit, work: HostWork::SearchMemo { query } });
                    Output { request, ..Output::ok("") }
                }
                Err(reason) => Output::error(reason),
            }
        })
    }
}
