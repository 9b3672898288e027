//! What work costs: tokens as the provider metered them, money in whole nano-dollars, and seed 000's `UsageMetrics`.

use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Tokens of one or more model calls. `cached_input` and `cache_write` are parts of `input`, priced apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub input: u64,
    pub output: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_input: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write: u64,
}

impl Usage {
    pub const fn is_zero(&self) -> bool {
        self.total() == 0
    }

    pub const fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cached_input = self.cached_input.saturating_add(other.cached_input);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
const fn is_zero(value: &u64) -> bool {
    *value == 0
}

/// Money, in billionths of a US dollar: a token of a cheap model costs less than a millionth. Written as dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Usd {
    nanos: u64,
}

impl Usd {
    pub const ZERO: Self = Self { nanos: 0 };

    pub const fn from_nanos(nanos: u64) -> Self {
        Self { nanos }
    }

    /// Negative, absurd and not-a-number amounts become the nearest amount there is.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "float casts saturate")]
    pub fn from_dollars(dollars: f64) -> Self {
        Self { nanos: (dollars * 1e9).round() as u64 }
    }

    pub const fn is_zero(&self) -> bool {
        self.nanos == 0
    }

    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self { nanos: self.nanos.saturating_add(other.nanos) }
    }

    /// What is left of it; never less than nothing.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self { nanos: self.nanos.saturating_sub(other.nanos) }
    }

    pub const fn as_nanos(self) -> u64 {
        self.nanos
    }

    #[expect(clippy::cast_precision_loss, reason = "exact below nine million dollars")]
    pub fn as_dollars(self) -> f64 {
        self.nanos as f64 / 1e9
    }
}

impl AddAssign for Usd {
    fn add_assign(&mut self, other: Self) {
        *self = self.plus(other);
    }
}

impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${:.4}", self.as_dollars())
    }
}

impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_dollars())
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        f64::deserialize(deserializer).map(Self::from_dollars)
    }
}

/// Seed 000 §15.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UsageMetrics {
    pub total_tokens: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub iterations: u32,
    pub tool_calls: u32,
    pub sub_agents_spawned: u32,
    pub compactions: u32,
    pub duration_ms: u64,
}

impl AddAssign for UsageMetrics {
    fn add_assign(&mut self, other: Self) {
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.iterations = self.iterations.saturating_add(other.iterations);
        self.tool_calls = self.tool_calls.saturating_add(other.tool_calls);
        self.sub_agents_spawned = self.sub_agents_spawned.saturating_add(other.sub_agents_spawned);
        self.compactions = self.compactions.saturating_add(other.compactions);
        self.duration_ms = self.duration_ms.saturating_add(other.duration_ms);
    }
}

/// A number as people read it.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_easily() {
        assert_eq!((grouped(7).as_str(), grouped(1_234).as_str()), ("7", "1,234"));
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn money_is_written_in_dollars_and_survives_it() {
        let price = Usd::from_nanos(150);
        let text = serde_json::to_string(&price).expect("a number");
        assert_eq!(serde_json::from_str::<Usd>(&text).expect("the same"), price);
        assert_eq!(Usd::from_dollars(2.0).as_nanos(), 2_000_000_000);
        assert_eq!(Usd::from_dollars(f64::NAN), Usd::ZERO);
        assert_eq!(Usd::from_dollars(-1.0), Usd::ZERO);
    }
}
