//! How much of a model's window a conversation may take. Two corrections of seed 000 §6.4: the room for the memory flush is
//! kept free below the trigger and not above it, where the flush would come after the compaction; and in a small window the
//! reserves take no more than their share, or there would be no room to work in.

use windlass_domain::task::CompactionConfig;
use windlass_llm::DEFAULT_CONTEXT_WINDOW;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    pub window: u64,
    /// What a conversation may take and still leave room for the answer.
    pub available: u64,
    /// Above this a compaction begins.
    pub trigger: u64,
    /// Below this references alone are enough: a summary would soon be due again otherwise.
    pub relief: u64,
    pub known: Known,
}

/// Where a window comes from. What is only assumed stops nobody: the provider has the last word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    Told,
    Assumed,
}

/// Whether the agent is given turns to save what it will need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flushes {
    Yes,
    No,
}

impl Room {
    /// A conversation that the provider refused says more about its window than any table.
    pub fn new(config: &CompactionConfig, flushes: Flushes, overflowed_at: Option<u64>) -> Self {
        let told = config.context_window_tokens.unwrap_or(DEFAULT_CONTEXT_WINDOW);
        let window = overflowed_at.map_or(told, |at| told.min(at / 10 * 9));
        let available = window - config.response_reserve_tokens.min(window / 4);
        let for_flush = match flushes {
            Flushes::Yes => config.memory_flush_soft_threshold_tokens,
            Flushes::No => 0,
        };
        let by_ratio = part(available, config.compaction_trigger_ratio);
        let trigger = by_ratio.min(available.saturating_sub(for_flush).max(available / 2));
        let known = match (config.context_window_tokens, overflowed_at) {
            (None, None) => Known::Assumed,
            _ => Known::Told,
        };
        Self { window, available, trigger, relief: trigger / 4 * 3, known }
    }

    /// What the texts of errors may take before they are shortened.
    pub const fn for_errors(&self) -> u64 {
        self.available / 8
    }

    /// Where a compaction begins, given what the last one left: if that was much, another is due only when half of the room
    /// above it is gone, so that each is worth it and there can be few.
    pub fn begins_above(&self, left: Option<u64>) -> u64 {
        let left = left.unwrap_or(0);
        let half = self.available.saturating_sub(left) / 2;
        let growth = match self.known {
            Known::Told => half,
            Known::Assumed => half.max(self.available / 8),
        };
        self.trigger.max(left.saturating_add(growth))
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "windows are far below 2^53 and float casts saturate"
)]
fn part(whole: u64, ratio: f64) -> u64 {
    (whole as f64 * ratio.clamp(0.0, 1.0)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(window: u64, flushes: Flushes, overflowed_at: Option<u64>) -> Room {
        let config = CompactionConfig { context_window_tokens: Some(window), ..CompactionConfig::default() };
        Room::new(&config, flushes, overflowed_at)
    }

    #[test]
    fn in_a_large_window_the_seed_s_figures_hold() {
        let large = room(128_000, Flushes::Yes, None);
        assert_eq!((large.available, large.trigger), (123_904, 105_318));
    }

    #[test]
    fn in_a_small_window_there_is_room_to_work_in() {
        let small = room(8_192, Flushes::No, None);
        assert_eq!((small.available, small.trigger, small.relief), (6_144, 5_222, 3_915));
        assert_eq!(room(8_192, Flushes::Yes, None).trigger, 3_072, "half, so that the flush has the other");
    }

    #[test]
    fn what_a_provider_refused_is_the_window_from_then_on() {
        assert_eq!(room(128_000, Flushes::No, Some(10_000)).window, 9_000);
        assert_eq!(room(8_000, Flushes::No, Some(10_000)).window, 8_000);
    }

    #[test]
    fn a_compaction_that_left_much_is_not_followed_by_another_at_once() {
        let large = room(128_000, Flushes::Yes, None);
        assert_eq!(large.begins_above(None), large.trigger);
        assert_eq!(large.begins_above(Some(20_000)), large.trigger);
        assert_eq!(large.begins_above(Some(105_000)), 114_452);
    }

    #[test]
    fn what_is_only_assumed_gives_way() {
        let unknown = Room::new(&CompactionConfig::default(), Flushes::No, None);
        assert_eq!((unknown.window, unknown.known), (DEFAULT_CONTEXT_WINDOW, Known::Assumed));
        assert!(unknown.begins_above(Some(300_000)) > 300_000);
        let refused = Room::new(&CompactionConfig::default(), Flushes::No, Some(10_000));
        assert_eq!((refused.window, refused.known), (9_000, Known::Told));
    }
}
