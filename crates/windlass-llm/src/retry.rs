//! When to ask again and how long to wait for anything: seed 000 §18.2's schedule, `retry-after` in its two forms, and
//! the deadlines of a call. Pure; the clock and the dice are arguments.

use std::time::Duration;

use windlass_domain::Wall;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    pub max_retries: u32,
    pub backoff_base: Duration,
    pub backoff_multiplier: u32,
    pub max_backoff: Duration,
    /// A provider that wants a longer pause than this is not waited for.
    pub max_retry_after: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            max_retries: 3,
            backoff_base: Duration::from_millis(1000),
            backoff_multiplier: 2,
            max_backoff: Duration::from_secs(30),
            max_retry_after: Duration::from_secs(120),
        }
    }
}

/// Every wait for a model ends by one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// Name look-up, connection and TLS.
    pub connect: Duration,
    /// From there to the head of the answer. Long, because some servers think first and answer then.
    pub first_byte: Duration,
    /// Between two pieces of an answer; keep-alive comments count as pieces.
    pub idle: Duration,
    /// One try as a whole, however steadily it drips.
    pub total: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(300),
            idle: Duration::from_secs(120),
            total: Duration::from_secs(3600),
        }
    }
}

impl Retries {
    /// How long to wait before the next try after `failed` of them; `None` means no more.
    ///
    /// The dice shorten a backoff by up to a fifth and lengthen a `retry-after` by up to a fifth, so that many callers
    /// that failed together do not come back together, none of them too early.
    pub fn delay(&self, failed: u32, retry_after: Option<Duration>, dice: u128) -> Option<Duration> {
        if failed > self.max_retries {
            return None;
        }
        match retry_after {
            Some(asked) if asked > self.max_retry_after => None,
            Some(asked) => Some(asked.saturating_add(fifth(asked.min(self.max_backoff), dice))),
            None => {
                let factor = self.backoff_multiplier.saturating_pow(failed.saturating_sub(1));
                let backoff = self.backoff_base.saturating_mul(factor).min(self.max_backoff);
                Some(backoff - fifth(backoff, dice))
            }
        }
    }
}

/// Between nothing and a fifth of `length`, in steps of a thousandth of that.
fn fifth(length: Duration, dice: u128) -> Duration {
    let thousandths = u32::try_from(dice % 1001).expect("a remainder below 1001");
    length / 5_000 * thousandths
}

/// `retry-after` in seconds, whole or not, or as an HTTP date.
pub(crate) fn parse_retry_after(value: &str, now: Wall) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    Some(parse_http_date(value)?.since(now))
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`, the one form that may be sent today.
fn parse_http_date(text: &str) -> Option<Wall> {
    let mut parts = text.split_once(", ")?.1.split(' ');
    let day = parts.next()?.parse::<u64>().ok().filter(|day| (1..=31).contains(day))?;
    let month = parts.next()?;
    let month = MONTHS.iter().position(|name| *name == month)?;
    let year = parts.next()?.parse::<u64>().ok().filter(|year| (1970..=9999).contains(year))?;
    let mut clock = parts.next()?.splitn(3, ':').map(str::parse::<u64>);
    let (hour, minute, second) = (clock.next()?.ok()?, clock.next()?.ok()?, clock.next()?.ok()?);
    if parts.next() != Some("GMT") || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let leap_years = |year: u64| year / 4 - year / 100 + year / 400;
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let leap_days = leap_years(year - 1) - leap_years(1969) + u64::from(is_leap && month >= 2);
    let days = (year - 1970) * 365 + leap_days + DAYS_BEFORE[month] + day - 1;
    Some(Wall::from_millis((days * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000))
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS_BEFORE: [u64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_doubles_to_its_cap_and_never_exceeds_it() {
        let retries = Retries { max_retries: 9, ..Retries::default() };
        let seconds = |failed| retries.delay(failed, None, 0).expect("tries are left").as_secs();
        assert_eq!((1..=7).map(seconds).collect::<Vec<_>>(), [1, 2, 4, 8, 16, 30, 30]);
        for dice in 0..2_000 {
            let delay = retries.delay(6, None, dice).expect("tries are left");
            assert!(delay <= retries.max_backoff && delay >= retries.max_backoff * 4 / 5, "{delay:?}");
        }
    }

    #[test]
    fn three_retries_and_no_fourth() {
        let retries = Retries::default();
        assert!(retries.delay(3, None, 0).is_some());
        assert_eq!(retries.delay(4, None, 0), None);
        assert_eq!(retries.delay(4, Some(Duration::ZERO), 0), None);
    }

    #[test]
    fn retry_after_is_never_undercut_and_an_absurd_one_is_not_waited_for() {
        let retries = Retries::default();
        for dice in 0..2_000 {
            let delay = retries.delay(1, Some(Duration::from_secs(7)), dice).expect("a short pause");
            assert!((7.0..=8.4).contains(&delay.as_secs_f64()), "{delay:?}");
        }
        assert_eq!(retries.delay(1, Some(Duration::from_secs(121)), 0), None);
    }

    #[test]
    fn retry_after_comes_in_seconds_and_as_a_date() {
        let check = |text: &str, now: u64, expect: Option<f64>| {
            let parsed = parse_retry_after(text, Wall::from_millis(now)).map(|delay| delay.as_secs_f64());
            assert_eq!(parsed, expect, "{text}");
        };
        check("3", 0, Some(3.0));
        check(" 0.25 ", 0, Some(0.25));
        check("-3", 0, None);
        check("NaN", 0, None);
        check("soon", 0, None);
        check("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_770_000, Some(7.0));
        check("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_198_000, Some(1.0));
        check("Sun, 15 Nov 2026 00:00:00 GMT", 1_794_700_800_000, Some(0.0));
        check("Sun, 15 Nov 2026 00:00:00 GMT", 1_994_700_800_000, Some(0.0));
        check("Sun, 06 Nov 1994 08:49:37", 0, None);
        check("Sun, 06 Now 1994 08:49:37 GMT", 0, None);
    }
}
