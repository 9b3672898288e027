//! Asking another model from the next question on, because a person says so. The conversation stays as it is, but for what the
//! former model thought: where a provider keeps that sealed for one model, another could not be told.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::execution::compaction::Transcript;
use crate::id::MessageId;
use crate::message::{Dialect, Message};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelSwitched {
    /// The message that asked for it.
    pub message_id: MessageId,
    pub from: String,
    pub to: String,
}

/// What the next model is told of what the former ones thought. Anthropic's takes up what others of its kind thought, and wants
/// it back in the midst of a turn.
pub(crate) fn without_sealed_thoughts(transcript: &mut Transcript) {
    for message in transcript.iter_mut() {
        let Message::Assistant { reasoning, .. } = message.as_ref() else { continue };
        if reasoning.iter().any(|thought| thought.wire != Dialect::Anthropic)
            && let Message::Assistant { reasoning, .. } = Arc::make_mut(message)
        {
            reasoning.retain(|thought| thought.wire == Dialect::Anthropic);
        }
    }
}
