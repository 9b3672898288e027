//! Which step of a compaction may follow which, and what none may do: part a call from its result, or lose what a person
//! said.

use std::sync::Arc;

use super::cycle::Cycle;
use super::record::{
    Cleared, Compaction, CompactionCleared, CompactionFailed, CompactionFinished, CompactionStarted, Extent, Rewritten,
};
use crate::execution::{ExecutionEvent, ExecutionState, Lifecycle, Rejected};
use crate::message::Message;

pub fn decide_compaction(state: &ExecutionState, step: Compaction) -> Result<ExecutionEvent, Rejected> {
    if state.lifecycle != Lifecycle::Running {
        return Err(Rejected::NotRunning);
    }
    match (&state.compactions.open, step) {
        (None, Compaction::Start { reason, tokens_before }) => {
            let cycle = state.compactions.finished + 1;
            Ok(ExecutionEvent::CompactionStarted(CompactionStarted { cycle, reason, tokens_before }))
        }
        (Some(_), Compaction::Start { .. }) => Err(Rejected::Compaction("is under way already")),
        (None, _) => Err(Rejected::Compaction("has not begun")),
        (Some(Cycle { failed: Some(_), .. }), _) => Err(Rejected::Compaction("has failed")),
        (Some(cycle), step) => go_on(state, cycle, step),
    }
}

fn go_on(state: &ExecutionState, cycle: &Cycle, step: Compaction) -> Result<ExecutionEvent, Rejected> {
    let (number, tokens_before) = (cycle.number, cycle.tokens_before);
    Ok(match step {
        Compaction::Start { .. } => return Err(Rejected::Compaction("is under way already")),
        Compaction::Clear(cleared) => ExecutionEvent::CompactionCleared(clear(state, cycle, cleared)?),
        Compaction::Flush(flushing) => match &cycle.flush {
            None => ExecutionEvent::CompactionFlushing(flushing),
            Some(_) => return Err(Rejected::Compaction("has had its flush")),
        },
        Compaction::EndFlush(flushed) => match state.compactions.flushing() {
            Some(_) => ExecutionEvent::CompactionFlushed(flushed),
            None => return Err(Rejected::Compaction("has no flush to end")),
        },
        Compaction::Skip(skipped) => match is_between_turns(state, skipped.to) && skipped.to > cycle.summarised_to {
            true => ExecutionEvent::CompactionSkipped(skipped),
            false => return Err(Rejected::Compaction("cannot skip to there")),
        },
        Compaction::Finish { tokens_after, rewritten } => {
            rewritten.iter().try_for_each(|rewritten| check_rewritten(state, rewritten))?;
            ExecutionEvent::CompactionFinished(CompactionFinished {
                cycle: number,
                tokens_before,
                tokens_after,
                rewritten,
            })
        }
        Compaction::Fail { tokens_after, reason } => {
            ExecutionEvent::CompactionFailed(CompactionFailed { cycle: number, tokens_before, tokens_after, reason })
        }
    })
}

fn clear(state: &ExecutionState, cycle: &Cycle, cleared: CompactionCleared) -> Result<CompactionCleared, Rejected> {
    if !matches!((cycle.cleared, cleared.extent), (None, Extent::Old) | (Some(Extent::Old), Extent::All)) {
        return Err(Rejected::Compaction("has cleared so much already"));
    }
    let has_result = |Cleared { call_id, .. }: &&Cleared| {
        let is_its =
            |message: &Arc<Message>| matches!(message.as_ref(), Message::Tool(result) if result.call_id == *call_id);
        state.transcript.iter().any(is_its)
    };
    match cleared.results.iter().find(|cleared| !has_result(cleared)) {
        Some(missing) => Err(Rejected::NoSuchCall(missing.call_id.clone())),
        None => Ok(cleared),
    }
}

fn check_rewritten(state: &ExecutionState, rewritten: &Rewritten) -> Result<(), Rejected> {
    if !state.transcript.first().is_some_and(|first| matches!(first.as_ref(), Message::User { .. })) {
        return Err(Rejected::Compaction("would lose the task, which no message tells"));
    }
    if !is_between_turns(state, rewritten.keep_from) {
        return Err(Rejected::Compaction("would part a call from its result"));
    }
    let recent = &state.transcript[rewritten.keep_from..];
    match state.essentials.said_outside(recent).all(|said| rewritten.kept.contains(said.words)) {
        true => Ok(()),
        false => Err(Rejected::Compaction("would lose what a person said")),
    }
}

/// A result belongs to the call before it.
fn is_between_turns(state: &ExecutionState, at: usize) -> bool {
    let follows = |message: &Arc<Message>| !matches!(message.as_ref(), Message::Tool(_));
    at >= 1 && at <= state.transcript.len() && state.transcript.get(at).is_none_or(follows)
}
