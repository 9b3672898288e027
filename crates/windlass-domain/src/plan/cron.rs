//! Five fields of cron: minute, hour, day of the month, month, day of the week, as clocks on walls show them. Where both days are
//! restricted either will do, as cron has it. Names, lists, ranges and steps are understood; `@daily` and seconds are not. A time
//! that clocks leave out comes when they are past it, and one that they show twice comes once (`local_time`).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::local_time::{Offsets, Shown};
use crate::time::Wall;

const MINUTE_MS: u64 = 60_000;
const DAY_MINUTES: u64 = 24 * 60;
/// Longer than the longest wait there is: from one 29 February to the next, over a century that is no leap year.
const LONGEST_SEARCH_DAYS: u64 = 8 * 366 + 2;
const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Cron {
    text: String,
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotCron {
    #[error(
        "must have five fields (minute, hour, day of the month, month, day of the week), such as `0 6 * * 1-5`, or be `always_on`"
    )]
    Fields,
    #[error("has `{0}` where a number from {1} to {2} is expected")]
    Value(String, u64, u64),
    #[error("names a day that no year has")]
    Never,
}

impl Cron {
    pub fn parse(text: &str) -> Result<Self, NotCron> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields[..] else { return Err(NotCron::Fields) };
        let weekdays = set(weekdays, 0, 7, &DAYS, 0)?;
        let cron = Self {
            text: fields.join(" "),
            minutes: set(minutes, 0, 59, &[], 0)?,
            hours: set(hours, 0, 23, &[], 0)?,
            days: set(days, 1, 31, &[], 0)?,
            months: set(months, 1, 12, &MONTHS, 1)?,
            // Seven is Sunday too.
            weekdays: (weekdays | weekdays >> 7) & 0x7f,
        };
        // Eight years from a leap year's beginning hold every date there is.
        cron.next_shown(Shown(0)).ok_or(NotCron::Never)?;
        Ok(cron)
    }

    /// The first moment after this one at which a minute that fits has come. Minutes that clocks leave out come together.
    pub fn next_after(&self, now: Wall, clocks: &Offsets) -> Option<Wall> {
        Some(clocks.first_past(self.next_shown(clocks.latest_shown(now))?, now))
    }

    /// The first minute that fits after what clocks have shown.
    fn next_shown(&self, Shown(latest): Shown) -> Option<Shown> {
        let first = u64::try_from(latest).map_or(0, |latest| latest / MINUTE_MS + 1);
        let first_day = first / DAY_MINUTES;
        (first_day..=first_day + LONGEST_SEARCH_DAYS).filter(|day| self.fits_day(*day)).find_map(|day| {
            let from = first.saturating_sub(day * DAY_MINUTES);
            let minute =
                (from..DAY_MINUTES).find(|minute| has(self.hours, minute / 60) && has(self.minutes, minute % 60))?;
            i64::try_from((day * DAY_MINUTES + minute) * MINUTE_MS).ok().map(Shown)
        })
    }

    fn fits_day(&self, day: u64) -> bool {
        let (month, of_month) = civil(day);
        // 1 January 1970 was a Thursday.
        let (by_date, by_weekday) = (has(self.days, of_month), has(self.weekdays, (day + 4) % 7));
        let any_date = self.days == range(1, 31);
        let any_weekday = self.weekdays == range(0, 6);
        let fits = if any_date || any_weekday { by_date && by_weekday } else { by_date || by_weekday };
        has(self.months, month) && fits
    }
}

fn has(set: u64, value: u64) -> bool {
    set >> value & 1 == 1
}

fn range(from: u64, to: u64) -> u64 {
    (from..=to).fold(0, |set, value| set | 1 << value)
}

/// A list of values, ranges and steps.
fn set(field: &str, least: u64, most: u64, names: &[&str], first_name: u64) -> Result<u64, NotCron> {
    let wrong = || NotCron::Value(field.to_owned(), least, most);
    let value = |text: &str| -> Result<u64, NotCron> {
        let named = names.iter().zip(first_name..).find(|(name, _)| text.eq_ignore_ascii_case(name));
        let value = named.map_or_else(|| text.parse().map_err(|_| wrong()), |(_, value)| Ok(value))?;
        if (least..=most).contains(&value) { Ok(value) } else { Err(wrong()) }
    };
    let mut all = 0;
    for part in field.split(',') {
        let (span, step) = part.split_once('/').map_or((part, None), |(span, step)| (span, Some(step)));
        let step: u64 = step.map_or(Ok(1), str::parse).map_err(|_| wrong())?;
        let (from, to) = match span.split_once('-') {
            _ if span == "*" => (least, most),
            Some((from, to)) => (value(from)?, value(to)?),
            // `5/10` begins at five and has no end of its own.
            None if step > 1 => (value(span)?, most),
            None => (value(span)?, value(span)?),
        };
        if from > to || step == 0 {
            return Err(wrong());
        }
        let steps = usize::try_from(step).map_err(|_| wrong())?;
        all = (from..=to).step_by(steps).fold(all, |set, value| set | 1 << value);
    }
    Ok(all)
}

/// Month and day of a day since 1970, by the calendar's cycle of 400 years.
const fn civil(day: u64) -> (u64, u64) {
    let shifted = day + 719_468;
    let of_era = shifted % 146_097;
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march_based = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * march_based + 2) / 5 + 1;
    (if march_based < 10 { march_based + 3 } else { march_based - 9 }, of_month)
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for Cron {
    type Error = NotCron;

    fn try_from(text: String) -> Result<Self, NotCron> {
        Self::parse(&text)
    }
}

impl From<Cron> for String {
    fn from(cron: Cron) -> Self {
        cron.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-15T21:46:30Z, a Sunday.
    const NOW: u64 = 1_794_779_190_000;

    fn next(text: &str) -> String {
        let next = Cron::parse(text).unwrap().next_after(Wall::from_millis(NOW), &Offsets::UTC).unwrap();
        next.to_rfc3339()[..16].to_owned()
    }

    const HOUR_MS: u64 = 60 * MINUTE_MS;
    /// Midnight in UTC at the beginning of the night in which clocks in Berlin are put forward, from 02:00 to 03:00; and of that in
    /// which they are put back, from 03:00 to 02:00. Both happen at 01:00 in UTC.
    const FORWARD: u64 = 1_774_742_400_000;
    const BACK: u64 = 1_792_886_400_000;

    fn berlin() -> Offsets {
        let at_one = |midnight: u64| Wall::from_millis(midnight + HOUR_MS);
        Offsets::new(3_600, vec![(at_one(FORWARD), 7_200), (at_one(BACK), 3_600)])
    }

    /// The times of a day that begins at `midnight` in UTC, in UTC.
    fn fires_on(text: &str, midnight: u64) -> Vec<String> {
        let cron = Cron::parse(text).unwrap();
        let mut now = Wall::from_millis(midnight - 1);
        let mut times = Vec::new();
        loop {
            now = cron.next_after(now, &berlin()).unwrap();
            if now.as_millis() >= midnight + 24 * HOUR_MS {
                return times;
            }
            times.push(now.to_rfc3339()[11..16].to_owned());
        }
    }

    #[test]
    fn a_time_that_clocks_leave_out_comes_once_they_are_past_it_and_one_they_show_twice_comes_once() {
        let check = |text, midnight, expected: &[&str]| assert_eq!(fires_on(text, midnight), expected, "{text}");
        check("30 2 * * *", FORWARD, &["01:00"]);
        check("30 2 * * *", BACK, &["00:30"]);
        check("30 0 * * *", FORWARD, &["22:30"]);
        check("0 3 * * *", FORWARD, &["01:00"]);
        check("0 3 * * *", BACK, &["02:00"]);
        // What is left out and what comes at that moment are one.
        check("*/30 2-3 * * *", FORWARD, &["01:00", "01:30"]);
        check("*/30 2-3 * * *", BACK, &["00:00", "00:30", "02:00", "02:30"]);
        // In the hour that is shown a second time nothing comes.
        assert_eq!(fires_on("0 * * * *", FORWARD).len(), 24);
        assert_eq!(fires_on("0 * * * *", BACK).len(), 23);
    }

    #[test]
    fn the_next_minute_that_fits() {
        let check = |text, expected: &str| assert_eq!(next(text), expected, "{text}");
        check("* * * * *", "2026-11-15T21:47");
        check("46 21 * * *", "2026-11-16T21:46");
        check("*/15 * * * *", "2026-11-15T22:00");
        check("0 6 * * 1-5", "2026-11-16T06:00");
        check("0 6 * * sat,SUN", "2026-11-21T06:00");
        check("0 0 * * 7", "2026-11-22T00:00");
        check("30 2 1 jan *", "2027-01-01T02:30");
        check("0 0 29 2 *", "2028-02-29T00:00");
        check("0 0 13 * 5", "2026-11-20T00:00");
        check("5/20 3 * * *", "2026-11-16T03:05");
    }

    #[test]
    fn what_is_no_cron_says_why() {
        for bad in ["", "* * * *", "* * * * * *", "@daily"] {
            assert_eq!(Cron::parse(bad), Err(NotCron::Fields), "{bad}");
        }
        for bad in [
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * * 13 *",
            "* * * * 8",
            "5-1 * * * *",
            "*/0 * * * *",
            "a * * * *",
            "1,,2 * * * *",
            "-1 * * * *",
        ] {
            assert!(matches!(Cron::parse(bad), Err(NotCron::Value(..))), "{bad}");
        }
        assert_eq!(Cron::parse("0 0 31 2 *"), Err(NotCron::Never));
    }
}
