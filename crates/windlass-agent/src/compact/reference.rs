//! What stands in the place of a tool result that the model no longer sees: what it was, and how to get it again. What can be had
//! by asking again is; anything else is first put into a file.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_domain::execution::{ExecutionState, Extent};
use windlass_domain::tool_name::{UPDATE_PLAN, is_repeatable};
use windlass_domain::{CallId, Message, ToolCall, ToolResult};

use super::turns::{recent_from, weight};

const MOST_ARGUMENT_CHARS: usize = 200;
const MARK: &str = "[Result left out:";

/// A result that is to be left out.
pub struct Clearable {
    pub call_id: CallId,
    tool: String,
    arguments: String,
    tokens: u64,
    is_error: bool,
    pub content: String,
}

/// Those before the recent turns, or all.
pub fn clearable(state: &ExecutionState, preserved: u32, extent: Extent) -> Vec<Clearable> {
    let until = match extent {
        Extent::Old => recent_from(state, preserved, extent),
        Extent::All => state.transcript.len(),
    };
    let mut calls: BTreeMap<&CallId, &ToolCall> = BTreeMap::new();
    let mut found = Vec::new();
    for message in state.transcript.iter().take(until) {
        match message.as_ref() {
            Message::Assistant { calls: asked, .. } => calls.extend(asked.iter().map(|call| (&call.call_id, call))),
            Message::Tool(result) => found.push(as_clearable(message, result, &calls)),
            Message::User { .. } => {}
        }
    }
    found.retain(Clearable::is_worth_it);
    found
}

fn as_clearable(message: &Arc<Message>, result: &ToolResult, calls: &BTreeMap<&CallId, &ToolCall>) -> Clearable {
    let arguments = calls.get(&result.call_id).map_or("", |call| call.arguments.get());
    Clearable {
        call_id: result.call_id.clone(),
        tool: result.tool.clone(),
        arguments: arguments.chars().take(MOST_ARGUMENT_CHARS).collect(),
        tokens: weight(message),
        is_error: result.is_error,
        content: result.content.clone(),
    }
}

impl Clearable {
    /// A reference is not replaced by a reference, nor is what is hardly longer than one.
    fn is_worth_it(&self) -> bool {
        !self.content.starts_with(MARK) && self.content.len() > 2 * self.reference(None).len()
    }

    /// What went wrong need not go wrong again in the same words.
    pub fn needs_a_file(&self) -> bool {
        self.is_error || !is_repeatable(&self.tool)
    }

    /// `saved_to` is where it is now, as the agent names files.
    pub fn reference(&self, saved_to: Option<&str>) -> String {
        let Self { tool, arguments, tokens, .. } = self;
        let how = match saved_to {
            Some(path) => format!("It was saved to {path}: read the part that you need."),
            None if tool == UPDATE_PLAN => "The newest plan is in .plan.md.".to_owned(),
            None => "Call it again for what you need of it, as it is now.".to_owned(),
        };
        format!("{MARK} `{tool}` with {arguments}, about {tokens} tokens. {how}]")
    }
}
