//! Schedules by the clocks of every time zone there is, over five years: each time that should come comes once, whatever is done to
//! the clocks. What clocks show is asked of the time zone library, minute by minute; the rules only see a table of it.

use jiff::Timestamp;
use jiff::tz::TimeZoneDatabase;
use windlass_domain::Wall;
use windlass_domain::plan::{Cron, Plan};
use windlass_plan::{known_zone, offsets, parse_plan, zone_names};

/// 2026-01-01T00:00:00Z, and five years later.
const FROM: i64 = 1_767_225_600;
const UNTIL: i64 = 1_924_992_000;
const DAY: i64 = 24 * 60 * 60;

fn wall(second: i64) -> Wall {
    Wall::from_millis(u64::try_from(second).expect("after 1970") * 1_000)
}

fn second(moment: Wall) -> i64 {
    assert_eq!(moment.as_millis() % 1_000, 0, "schedules come on whole seconds");
    i64::try_from(moment.as_millis() / 1_000).expect("this century")
}

/// All times of a schedule in a span, each found from the one before.
fn times(cron: &str, zone: &str, from: i64, until: i64) -> Vec<i64> {
    let cron = Cron::parse(cron).expect("five fields");
    let clocks = offsets(Some(zone), wall(from));
    let next = |now: Wall| cron.next_after(now, &clocks).expect("it comes");
    std::iter::successors(Some(next(wall(from))), |last| Some(next(*last)))
        .map(second)
        .take_while(|moment| *moment < until)
        .collect()
}

/// Those at which clocks show, or have just left out, a minute that they never showed before.
fn first_showings(zone: &str, from: i64, until: i64) -> Vec<i64> {
    let zone = TimeZoneDatabase::bundled().get(zone).expect("a known zone");
    let shown = |second: i64| {
        let offset = zone.to_offset(Timestamp::from_second(second).expect("this century"));
        (second + i64::from(offset.seconds())).div_euclid(60)
    };
    let mut latest = (from - 2 * DAY..=from).step_by(60).map(shown).max().expect("two days have minutes");
    let minutes = (from + 60..until).step_by(60);
    minutes
        .filter(|minute| {
            let is_new = shown(*minute) > latest;
            latest = latest.max(shown(*minute));
            is_new
        })
        .collect()
}

/// When clocks there are changed.
fn changes(zone: &str) -> Vec<i64> {
    let zone = TimeZoneDatabase::bundled().get(zone).expect("a known zone");
    let from = Timestamp::from_second(FROM).expect("this century");
    zone.following(from).map(|change| change.timestamp().as_second()).take_while(|at| *at < UNTIL).collect()
}

#[test]
fn every_minute_that_clocks_show_comes_once_wherever_they_are_changed() {
    let mut looked_at = 0;
    for zone in zone_names() {
        for change in changes(&zone) {
            let (from, until) = (change - 6 * 60 * 60, change + 6 * 60 * 60);
            assert_eq!(
                times("* * * * *", &zone, from, until),
                first_showings(&zone, from, until),
                "{zone} at {change}"
            );
            looked_at += 1;
        }
    }
    assert!(looked_at > 1_000, "only {looked_at} changes of clocks were found");
}

/// A day has 24 hours, and a few more or less where clocks are changed.
#[test]
fn a_time_of_day_comes_once_a_day_in_every_zone() {
    for zone in zone_names() {
        for cron in ["30 2 * * *", "59 23 * * *"] {
            let times = times(cron, &zone, FROM, UNTIL);
            for pair in times.windows(2) {
                let apart = pair[1] - pair[0];
                assert!((DAY - 3 * 60 * 60..=DAY + 3 * 60 * 60).contains(&apart), "{cron} in {zone} at {}", pair[0]);
            }
            let days = usize::try_from((UNTIL - FROM) / DAY).expect("later");
            assert!(times.len().abs_diff(days) <= 1, "{} times in {days} days: {cron} in {zone}", times.len());
        }
    }
}

/// Where one starts makes no difference to what comes next, also in the hour that clocks show twice.
#[test]
fn the_next_time_is_the_same_until_it_comes() {
    for zone in ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Chatham"] {
        for change in changes(zone) {
            let cron = Cron::parse("*/20 * * * *").expect("five fields");
            let mut next = None;
            for now in (change - 3 * 60 * 60..change + 3 * 60 * 60).step_by(60) {
                let found = cron.next_after(wall(now), &offsets(Some(zone), wall(now))).expect("it comes");
                assert!(found > wall(now));
                assert!(next.is_none_or(|before| before == found || before <= wall(now)), "{zone} at {now}");
                next = Some(found);
            }
        }
    }
}

fn goal(timezone: &str, schedule: &str) -> Result<Option<String>, String> {
    let document = format!(
        "---\nid: green\ntype: goal\ntitle: Green\nschedule: {schedule}\ntimezone: {timezone}\nverify: [{{command: make}}]\n---\n# What to do\nKeep it.\n"
    );
    let read = parse_plan(&document, &|_: &serde_json::Value| Ok(()));
    read.map(|Plan(item)| item.timezone).map_err(|problems| problems.to_string())
}

#[test]
fn a_zone_is_named_as_the_database_names_it() {
    assert_eq!(goal("europe/berlin", "'0 6 * * *'"), Ok(Some("Europe/Berlin".to_owned())));
    assert!(goal("Europe/Berln", "'0 6 * * *'").unwrap_err().contains(
        "6:11: `timezone` must be a name of the IANA's, such as `Europe/Berlin`; did you mean `Europe/Berlin`?"
    ));
    assert!(goal("+02:00", "'0 6 * * *'").unwrap_err().contains("must be a name of the IANA's"));
    assert!(goal("Europe/Berlin", "always_on").unwrap_err().contains("`timezone` is for crons"));
    assert_eq!(known_zone("UTC"), Ok("UTC".to_owned()));
}
