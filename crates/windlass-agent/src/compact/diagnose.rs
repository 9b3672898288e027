//! Why a conversation does not fit, for the person who has to do something about it.

use windlass_domain::execution::ExecutionState;
use windlass_domain::{ErrorCode, ErrorDetails, Message};
use windlass_llm::estimate;

use super::room::Room;
use super::turns::weight;
use crate::context::Context;

const MOST_MESSAGES: usize = 3;

pub const HINT: &str = "use a model with a larger window, or say less in the goal; if the window is larger than it says here, set \
context_window_tokens in [compaction] of windlass.toml";

pub fn diagnosis(state: &ExecutionState, context: &Context, room: &Room, tokens: u64) -> String {
    let tools: u64 =
        context.tools.iter().map(|tool| estimate(&format!("{} {}", tool.description, tool.parameters))).sum();
    let goal = state.transcript.first().map_or(0, |message| weight(message));
    let parts = [
        format!("the system prompt {}", estimate(&context.system)),
        format!("the definitions of the tools {tools}"),
        format!("the goal {goal}"),
    ];
    let mut others: Vec<(u64, &Message)> =
        state.transcript.iter().skip(1).map(|message| (weight(message), message.as_ref())).collect();
    others.sort_by_key(|(tokens, _)| std::cmp::Reverse(*tokens));
    let largest = others.iter().take(MOST_MESSAGES).map(|(tokens, message)| format!("{} {tokens}", name(message)));
    let parts: Vec<String> = parts.into_iter().chain(largest).collect();
    format!(
        "the conversation does not fit into the model's window of {} tokens, however much is left out: it takes about {tokens}, \
         and {} must stay free for the answer. What takes the room, in tokens: {}",
        room.window,
        room.window - room.available,
        parts.join(", ")
    )
}

fn name(message: &Message) -> String {
    match message {
        Message::User { .. } => "a message to the agent".to_owned(),
        Message::Assistant { .. } => "an answer of the agent".to_owned(),
        Message::Tool(result) => format!("a result of `{}`", result.tool),
    }
}

pub fn does_not_fit(reason: &str) -> ErrorDetails {
    ErrorDetails::new(ErrorCode::ContextOverflow, reason).with_hint(HINT)
}
