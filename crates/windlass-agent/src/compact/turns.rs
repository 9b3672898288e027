//! A conversation as turns: an answer, the results of its calls, and what others said before the next answer. A turn is kept
//! or summarised as a whole, so that no call is parted from its result.

use std::sync::Arc;

use windlass_domain::execution::{ExecutionState, Extent};
use windlass_domain::{Image, Message};

/// Where the recent turns begin: what stands before it may be summarised.
pub fn recent_from(state: &ExecutionState, preserved: u32, extent: Extent) -> usize {
    let turns = match extent {
        Extent::Old => usize::try_from(preserved).unwrap_or(usize::MAX).max(1),
        Extent::All => 1,
    };
    let is_answer = |message: &Arc<Message>| matches!(message.as_ref(), Message::Assistant { .. });
    let answers = state.transcript.iter().enumerate().filter(|(_, message)| is_answer(message));
    let from = answers.map(|(index, _)| index).rev().take(turns).last();
    // With no more turns than that, all of them are recent.
    from.unwrap_or(state.transcript.len()).max(state.compactions.turns_from())
}

/// Where a segment of about `most` tokens that begins at `from` ends: before `to`, and between turns. One turn at least,
/// however long it is.
pub fn segment_end(transcript: &[Arc<Message>], from: usize, to: usize, most: u64) -> usize {
    let mut taken = 0;
    let mut end = from;
    for (index, message) in transcript.iter().enumerate().take(to).skip(from) {
        let begins_a_turn = !matches!(message.as_ref(), Message::Tool(_));
        if begins_a_turn && index > from {
            end = index;
        }
        taken += weight(message);
        if taken > most && end > from {
            return end;
        }
    }
    to
}

fn pictured(images: &[Image]) -> u64 {
    images.iter().map(windlass_llm::estimate_image).sum()
}

/// About how many tokens a message is.
pub fn weight(message: &Message) -> u64 {
    match message {
        Message::User { text, images } => windlass_llm::estimate(text) + pictured(images),
        Message::Tool(result) => windlass_llm::estimate(&result.content) + pictured(&result.images),
        Message::Assistant { text, calls, reasoning } => {
            let calls = calls.iter().map(|call| windlass_llm::estimate(call.arguments.get()) + 8);
            let thoughts = reasoning.iter().map(|thought| windlass_llm::estimate(thought.content.get()));
            windlass_llm::estimate(text) + calls.chain(thoughts).sum::<u64>()
        }
    }
}
