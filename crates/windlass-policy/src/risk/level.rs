//! The outcome: a level, the reasons for it in words, and the programs that would run once every wrapper is off.

use serde::Serialize;
use windlass_domain::risk::Level;

/// A program and its arguments, as far as they are known before it runs; what is not known yet is left out.
pub type Argv = Vec<String>;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Risk {
    pub level: Level,
    /// Why it is more than the least a call of this tool can be.
    pub reasons: Vec<String>,
    pub programs: Vec<Argv>,
}

const MOST_REASONS: usize = 32;
const LONGEST_REASON: usize = 200;

impl Risk {
    pub(super) const fn least(level: Level) -> Self {
        Self { level, reasons: Vec::new(), programs: Vec::new() }
    }

    /// Never lowers. Reasons are few and short however long the command is.
    pub(super) fn raise(&mut self, level: Level, reason: &str) {
        self.level = self.level.max(level);
        let reason: String = reason.chars().take(LONGEST_REASON).collect();
        if self.reasons.len() < MOST_REASONS && !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }
}
