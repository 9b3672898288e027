//! What a compaction does next. In this order, and each at most once: old results become references; if that is not enough the
//! agent saves what it will need, and older turns are summarised; if that is not enough either, the recent results go too and
//! all turns but the last are summarised. What then does not fit never will. Where there is no room for the agent to save
//! anything, the recent results go first.

use windlass_domain::execution::{CompactionReason, Cycle, ExecutionState, Extent};

use super::room::{Flushes, Known, Room};
use super::segment::Segment;
use super::turns::recent_from;

/// Turns that an agent is given to save what it will need.
const MOST_FLUSH_TURNS: u32 = 3;
/// How often a summary of the same messages is asked for.
const MOST_STUMBLES: u32 = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Start(CompactionReason),
    Clear(Extent),
    Flush,
    /// The agent has its turns.
    AskAgent,
    EndFlush,
    Summarise(Segment),
    /// No summary can be had of these.
    Skip(Segment),
    Finish,
    Fail,
}

/// What is not in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Circumstances {
    pub room: Room,
    pub flushes: Flushes,
    /// Turns that stay as they are.
    pub preserved: u32,
    /// About what the conversation would take if a compaction that is under way ended now.
    pub tokens: u64,
}

pub fn step(state: &ExecutionState, cycle: &Cycle, circumstances: &Circumstances) -> Step {
    let Circumstances { room, flushes, preserved, tokens } = *circumstances;
    let Some(extent) = cycle.cleared else { return Step::Clear(Extent::Old) };
    if let Some(flush) = state.compactions.flushing() {
        let is_over = flush.is_over || flush.answers >= MOST_FLUSH_TURNS;
        return if is_over { Step::EndFlush } else { Step::AskAgent };
    }
    // The recent results may have gone to make room for the flush; the recent turns go only when everything else has.
    let is_harder = extent == Extent::All && cycle.summarised_to >= recent_from(state, preserved, Extent::Old);
    let until = recent_from(state, preserved, if is_harder { Extent::All } else { Extent::Old });
    let is_summarised = cycle.summarised_to >= until;
    let enough = if is_harder || !cycle.summaries.is_empty() { room.trigger } else { room.relief };
    let half_done = !is_harder && !cycle.summaries.is_empty() && !is_summarised;
    if tokens <= enough && !half_done {
        return Step::Finish;
    }
    if !is_summarised {
        if flushes == Flushes::Yes && cycle.flush.is_none() {
            // Should there be no room for it even then, it is the provider that says so, once.
            let has_room = tokens < room.window || extent == Extent::All;
            return if has_room { Step::Flush } else { Step::Clear(Extent::All) };
        }
        let segment = Segment::next(&state.transcript, cycle, until, &room);
        return if cycle.stumbles < MOST_STUMBLES { Step::Summarise(segment) } else { Step::Skip(segment) };
    }
    match extent {
        Extent::Old => Step::Clear(Extent::All),
        Extent::All if tokens <= room.available || room.known == Known::Assumed => Step::Finish,
        Extent::All => Step::Fail,
    }
}
