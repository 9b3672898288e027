//! A conversation as another execution takes it over: what its model is told again, word for word, and what an agent must still know
//! when that is shortened. Nothing of what was spent, allowed or begun is in it, so that whoever goes on with it owes nothing and may
//! nothing. It stands whole in the new journal: the old one may go.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::execution::compaction::Transcript;
use crate::execution::{Essentials, ExecutionState, OpenCall};
use crate::message::{CallId, Message, ToolResult};

const NEVER_ENDED: &str = "This call had not ended when the conversation was forked from an earlier run. Nobody here knows what became of it.";

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Conversation {
    pub messages: Transcript,
    /// How often its model has answered.
    pub answers: u32,
    /// What the second message says in a model's words, where the conversation was shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    pub essentials: Essentials,
}

impl Conversation {
    /// As it stands. What a compaction had only begun is left out, and a call without a result is given one.
    pub(crate) fn of(state: &ExecutionState) -> Self {
        let mut compactions = state.compactions.clone();
        let mut messages = state.transcript.clone();
        if compactions.flushing().is_some() {
            compactions.end_flush(&mut messages);
        }
        let has_said = |open: &&OpenCall| messages.iter().any(|message| asks_for(message, &open.call.call_id));
        let unended: Vec<Message> = state.open_calls.iter().filter(has_said).map(never_ended).collect();
        messages.extend(unended.into_iter().map(Arc::new));
        let essentials = state.essentials.without_questions();
        Self { messages, answers: state.conversed(), summary: compactions.summary, essentials }
    }

    /// The same, with what people said and what went wrong being the very messages again that stand in it.
    pub(crate) fn joined(&self) -> Self {
        let mut joined = self.clone();
        joined.essentials.join(&joined.messages);
        joined
    }

    /// The ids that its calls have.
    pub(crate) fn call_ids(&self) -> BTreeSet<CallId> {
        let calls = self.messages.iter().filter_map(|message| match message.as_ref() {
            Message::Assistant { calls, .. } => Some(calls),
            Message::User { .. } | Message::Tool(_) => None,
        });
        calls.flatten().map(|call| call.call_id.clone()).collect()
    }
}

fn asks_for(message: &Message, call_id: &CallId) -> bool {
    matches!(message, Message::Assistant { calls, .. } if calls.iter().any(|call| call.call_id == *call_id))
}

fn never_ended(open: &OpenCall) -> Message {
    Message::Tool(ToolResult {
        call_id: open.call.call_id.clone(),
        tool: open.call.tool.clone(),
        content: NEVER_ENDED.to_owned(),
        is_error: true,
        images: Vec::new(),
    })
}
