//! `[retention]` in `windlass.toml`: how long what tasks weigh is kept after they ended. Nobody says: for ever.

use std::time::Duration;

use serde::Deserialize;

const DAY: u64 = 24 * 60 * 60;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetentionConfig {
    pub days: Option<u32>,
}

impl RetentionConfig {
    pub fn older_than(self) -> Option<Duration> {
        self.days.map(|days| Duration::from_secs(u64::from(days) * DAY))
    }

    pub fn objection(self) -> Option<String> {
        (self.days == Some(0)).then(|| "`days` must be at least 1: what ended today may still be wanted".to_owned())
    }
}

/// As one types it: `30d`, `12h`, `90m`, or a number of days.
pub fn age(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let (number, unit) = match text.char_indices().last() {
        Some((at, 'd')) => (&text[..at], DAY),
        Some((at, 'h')) => (&text[..at], 60 * 60),
        Some((at, 'm')) => (&text[..at], 60),
        _ => (text, DAY),
    };
    let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    seconds.map(Duration::from_secs).ok_or_else(|| "a number with d, h or m, such as 30d".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_written_with_its_unit() {
        for (text, seconds) in [("30d", 30 * DAY), ("12h", 43_200), ("90m", 5_400), ("7", 7 * DAY), ("0d", 0)] {
            assert_eq!(age(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "d", "-1d", "1w", "1.5d", "ä", "99999999999999999999d"] {
            assert!(age(text).is_err(), "{text}");
        }
    }
}
