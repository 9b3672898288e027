//! `[compaction]` in `windlass.toml` and the variables beside it (seed 000 §6.2, §17.1): when a conversation is made shorter. What is not
//! said is as the seed has it; the window is the model's own.

use serde::Deserialize;
use windlass_domain::task::CompactionConfig;

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompactionSettings {
    pub context_window_tokens: Option<u64>,
    pub response_reserve_tokens: Option<u64>,
    pub compaction_trigger_ratio: Option<f64>,
    pub memory_flush_enabled: Option<bool>,
    pub memory_flush_soft_threshold_tokens: Option<u64>,
    pub max_summary_tokens: Option<u64>,
    pub preserve_recent_turns: Option<u32>,
}

impl CompactionSettings {
    /// What `self` does not say, `other` does.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            context_window_tokens: self.context_window_tokens.or(other.context_window_tokens),
            response_reserve_tokens: self.response_reserve_tokens.or(other.response_reserve_tokens),
            compaction_trigger_ratio: self.compaction_trigger_ratio.or(other.compaction_trigger_ratio),
            memory_flush_enabled: self.memory_flush_enabled.or(other.memory_flush_enabled),
            memory_flush_soft_threshold_tokens: self
                .memory_flush_soft_threshold_tokens
                .or(other.memory_flush_soft_threshold_tokens),
            max_summary_tokens: self.max_summary_tokens.or(other.max_summary_tokens),
            preserve_recent_turns: self.preserve_recent_turns.or(other.preserve_recent_turns),
        }
    }

    pub fn config(&self) -> CompactionConfig {
        let default = CompactionConfig::default();
        CompactionConfig {
            context_window_tokens: self.context_window_tokens,
            response_reserve_tokens: self.response_reserve_tokens.unwrap_or(default.response_reserve_tokens),
            compaction_trigger_ratio: self.compaction_trigger_ratio.unwrap_or(default.compaction_trigger_ratio),
            memory_flush_enabled: self.memory_flush_enabled.unwrap_or(default.memory_flush_enabled),
            memory_flush_soft_threshold_tokens: self
                .memory_flush_soft_threshold_tokens
                .unwrap_or(default.memory_flush_soft_threshold_tokens),
            max_summary_tokens: self.max_summary_tokens.unwrap_or(default.max_summary_tokens),
            preserve_recent_turns: self.preserve_recent_turns.unwrap_or(default.preserve_recent_turns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_holds_and_the_rest_is_the_seed_s() {
        let said: CompactionSettings = toml::from_str("compaction_trigger_ratio = 0.5\n").expect("a setting");
        let expected = CompactionConfig { compaction_trigger_ratio: 0.5, ..CompactionConfig::default() };
        assert_eq!(said.config(), expected);
        let louder = CompactionSettings { compaction_trigger_ratio: Some(0.7), ..CompactionSettings::default() };
        assert_eq!(louder.or(said).config().compaction_trigger_ratio, 0.7);
        assert!(toml::from_str::<CompactionSettings>("trigger_ratio = 0.5\n").is_err(), "an unknown setting is named");
    }
}
