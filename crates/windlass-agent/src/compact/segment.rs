//! How much of a conversation one summary is asked for. Seed 000 §6.5's chunk of `max_summary_tokens` times a ratio would be some
//! 800 tokens, a hundred questions for one compaction; its ratio is meant here as a part of the model's window: two fifths, and
//! less the larger the messages are, because the last one that a segment takes may then be far too much. A summariser that
//! overflows is given half.

use std::sync::Arc;

use windlass_domain::Message;
use windlass_domain::execution::Cycle;

use super::room::Room;
use super::turns::{segment_end, weight};

/// In hundredths of the window.
const LARGEST: u64 = 40;
const SMALLEST: u64 = 15;

/// Messages of the transcript, the last one not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    pub from: usize,
    pub to: usize,
    /// How many tokens of it the summariser may be given.
    pub most: u64,
}

impl Segment {
    /// The next one of what stands before `until`.
    pub fn next(transcript: &[Arc<Message>], cycle: &Cycle, until: usize, room: &Room) -> Self {
        let from = cycle.summarised_to;
        let old = transcript.get(from..until).unwrap_or_default();
        let average = old.iter().map(|message| weight(message)).sum::<u64>() / (old.len() as u64).max(1);
        let most = (room.available * ratio(average, room.window) / 100) >> cycle.stumbles.min(8);
        Self { from, to: segment_end(transcript, from, until, most), most }
    }
}

/// Adaptive: for every hundredth of the window that an average message takes, two hundredths less.
const fn ratio(average: u64, window: u64) -> u64 {
    let taken = average.saturating_mul(200) / if window == 0 { 1 } else { window };
    let left = LARGEST.saturating_sub(taken);
    if left < SMALLEST { SMALLEST } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_the_messages_the_smaller_the_segments() {
        assert_eq!(ratio(100, 100_000), 40);
        assert_eq!(ratio(5_000, 100_000), 30);
        assert_eq!(ratio(50_000, 100_000), 15);
    }
}
