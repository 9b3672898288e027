//! Two clocks as plain values. `Wall` is what people read and what the journal keeps; `Instant` is monotonic, and every
//! deadline is on it. Neither can be read here: `Runtime` hands them out.

use std::ops::{Add, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Wall(u64);

impl Wall {
    /// The last moment that RFC 3339 has a name for: 9999-12-31T23:59:59.999Z.
    pub const LAST: Self = Self(253_402_300_799_999);

    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// How long after `earlier` this is; nothing when the wall clock was set back in between.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// RFC 3339 in UTC with milliseconds, as traces and people want it. What is written can be read: whatever is later is the last moment.
    pub fn to_rfc3339(self) -> String {
        let millis = self.min(Self::LAST).0;
        let (days, in_day) = (millis / 86_400_000, millis % 86_400_000);
        let (year, month, day) = civil_from_days(days);
        let (hour, minute) = (in_day / 3_600_000, in_day / 60_000 % 60);
        let (second, millis) = (in_day / 1_000 % 60, in_day % 1_000);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

/// Why a text is no moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no moment as RFC 3339 writes it, such as `2026-12-01T18:00:00Z` or `2026-12-01T18:00:00+01:00`")]
pub struct NotAMoment(String);

impl Wall {
    /// From RFC 3339 with any offset; what is finer than a millisecond is left out. Nothing is before 1970.
    pub fn from_rfc3339(text: &str) -> Result<Self, NotAMoment> {
        let moment = parse_rfc3339(text.as_bytes()).map(Self).filter(|moment| *moment <= Self::LAST);
        moment.ok_or_else(|| NotAMoment(text.chars().take(40).collect()))
    }
}

fn parse_rfc3339(text: &[u8]) -> Option<u64> {
    let (day, rest) = text.split_at_checked("2026-12-01".len())?;
    let (year, month, date) = match day {
        [year @ .., b'-', m1, m2, b'-', d1, d2] => (number(year)?, number(&[*m1, *m2])?, number(&[*d1, *d2])?),
        _ => return None,
    };
    let [b'T' | b't' | b' ', h1, h2, b':', m1, m2, b':', s1, s2, rest @ ..] = rest else { return None };
    let (hour, minute, second) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?, number(&[*s1, *s2])?);
    // A second is left in now and then, and is the next one's beginning.
    if !(1..=12).contains(&month) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let days = days_from_civil(year, month, date)?;
    let (fraction, rest) = fraction(rest)?;
    let behind = offset(rest)?;
    let millis = (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000 + fraction;
    millis.checked_add_signed(-behind)
}

fn number(digits: &[u8]) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| digits.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')))
}

/// Milliseconds, and what follows them.
fn fraction(text: &[u8]) -> Option<(u64, &[u8])> {
    let [b'.', rest @ ..] = text else { return Some((0, text)) };
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = rest.split_at(length);
    let padded: Vec<u8> = digits.iter().copied().chain(*b"000").take(3).collect();
    if length == 0 { None } else { Some((number(&padded)?, rest)) }
}

/// By how many milliseconds clocks there are ahead.
fn offset(text: &[u8]) -> Option<i64> {
    let (sign, h1, h2, m1, m2) = match text {
        [b'Z' | b'z'] => return Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => (*sign, *h1, *h2, *m1, *m2),
        _ => return None,
    };
    let (hours, minutes) = (number(&[h1, h2])?, number(&[m1, m2])?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let ahead = i64::try_from((hours * 60 + minutes) * 60_000).ok()?;
    Some(if sign == b'-' { -ahead } else { ahead })
}

/// Days since 1970-01-01 of a date that there is.
fn days_from_civil(year: u64, month: u64, day: u64) -> Option<u64> {
    let shifted = if month <= 2 { year.checked_sub(1)? } else { year };
    let (era, year_of_era) = (shifted / 400, shifted % 400);
    let march_month = (month + 9) % 12;
    let day_of_year = (153 * march_month + 2) / 5 + day.checked_sub(1)?;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = (era * 146_097 + day_of_era).checked_sub(719_468)?;
    (civil_from_days(days) == (year, month, day)).then_some(days)
}

impl Add<Duration> for Wall {
    type Output = Self;
    fn add(self, length: Duration) -> Self {
        Self(self.0.saturating_add(millis(length)))
    }
}

/// In records that other systems read too: a moment as they write it.
pub(crate) mod moment {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::Wall;

    pub fn serialize<S: Serializer>(moment: &Wall, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&moment.to_rfc3339())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Wall, D::Error> {
        let text = String::deserialize(deserializer)?;
        Wall::from_rfc3339(&text).map_err(serde::de::Error::custom)
    }
}

/// The same where there may be none.
pub(crate) mod optional_moment {
    use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

    use super::{Wall, moment};

    #[derive(Deserialize)]
    struct Written(#[serde(with = "moment")] Wall);

    pub fn serialize<S: Serializer>(moment: &Option<Wall>, serializer: S) -> Result<S::Ok, S::Error> {
        moment.map(Wall::to_rfc3339).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Wall>, D::Error> {
        Ok(Option::<Written>::deserialize(deserializer)?.map(|Written(moment)| moment))
    }
}

/// Whole milliseconds, as records keep them. What no `u64` holds is as long as one can say.
pub fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

/// Days since 1970-01-01 as (year, month, day), after Howard Hinnant's description of the proleptic Gregorian calendar:
/// eras of 400 years, and years that begin in March so that the leap day comes last.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    (year, month, day)
}

/// A point on the process's monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(Duration);

impl Instant {
    pub const fn since_start(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    pub const fn elapsed_since_start(self) -> Duration {
        self.0
    }
}

impl Add<Duration> for Instant {
    type Output = Self;
    fn add(self, length: Duration) -> Self {
        Self(self.0.saturating_add(length))
    }
}

impl Sub for Instant {
    type Output = Duration;
    fn sub(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_times_read_as_rfc3339() {
        let check = |millis, text: &str| assert_eq!(Wall::from_millis(millis).to_rfc3339(), text);
        check(0, "1970-01-01T00:00:00.000Z");
        check(951_782_400_000, "2000-02-29T00:00:00.000Z");
        check(1_709_251_199_999, "2024-02-29T23:59:59.999Z");
        check(1_794_700_800_123, "2026-11-15T00:00:00.123Z");
        check(Wall::LAST.as_millis(), "9999-12-31T23:59:59.999Z");
    }

    /// A deadline of a task that could not be read again would make its whole journal unreadable.
    #[test]
    fn whatever_is_written_can_be_read() {
        for late in [Wall::LAST, Wall::from_millis(Wall::LAST.as_millis() + 1), Wall::from_millis(u64::MAX)] {
            assert_eq!(Wall::from_rfc3339(&late.to_rfc3339()), Ok(Wall::LAST));
        }
        assert!(Wall::from_rfc3339("9999-12-31T23:59:59-23:59").is_err());
    }

    #[test]
    fn rfc3339_is_read_with_any_offset_and_nothing_else_is() {
        let check = |text: &str, same: &str| assert_eq!(Wall::from_rfc3339(text).unwrap().to_rfc3339(), same, "{text}");
        check("2026-12-01T18:00:00+01:00", "2026-12-01T17:00:00.000Z");
        check("2026-12-01t18:00:00.1239z", "2026-12-01T18:00:00.123Z");
        check("2026-12-01 18:00:00.5-00:30", "2026-12-01T18:30:00.500Z");
        check("2024-02-29T00:00:00+14:00", "2024-02-28T10:00:00.000Z");
        check("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z");
        check("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z");
        for text in [
            "",
            "tomorrow",
            "2026-12-01",
            "2026-12-01T18:00:00",
            "2026-12-01T18:00Z",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:00+24:00",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00Zx",
            "1969-12-31T23:59:59Z",
            "1970-01-01T00:00:00+00:01",
            "+026-01-01T00:00:00Z",
            "2026-01-01T00:00:00+1:00",
            "２026-01-01T00:00:00Z",
        ] {
            assert!(Wall::from_rfc3339(text).is_err(), "{text}");
        }
        let day = 86_400_000;
        for days in (0..60_000).step_by(7) {
            let moment = Wall::from_millis(days * day + 12_345);
            assert_eq!(Wall::from_rfc3339(&moment.to_rfc3339()), Ok(moment));
        }
    }

    #[test]
    fn milliseconds_are_whole_and_end_at_the_most_there_are() {
        assert_eq!(millis(Duration::from_micros(2_999)), 2);
        assert_eq!(millis(Duration::MAX), u64::MAX);
    }

    #[test]
    fn a_clock_set_back_is_no_time_at_all() {
        assert_eq!(Wall::from_millis(5).since(Wall::from_millis(9)), Duration::ZERO);
    }
}
