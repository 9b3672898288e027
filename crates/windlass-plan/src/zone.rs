//! Time zones by their IANA names, from a copy of the database that is part of the program: what clocks show somewhere does not depend
//! on what is installed. Only how far they are ahead of UTC goes from here to the rules (`Offsets`).

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use windlass_domain::Wall;
use windlass_domain::plan::Offsets;

use crate::suggestion::nearest;

/// What clocks showed before that is no more than what they show now.
const BEFORE_SECONDS: i64 = 2 * 24 * 60 * 60;
/// No schedule looks further ahead than from one 29 February to the next.
const AHEAD_SECONDS: i64 = 9 * 366 * 24 * 60 * 60;

static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The name as the database spells it; or the one that was probably meant.
pub fn known_zone(name: &str) -> Result<String, Option<String>> {
    let known = ZONES.get(name).ok().and_then(|zone| zone.iana_name().map(str::to_owned));
    known.ok_or_else(|| {
        let names: Vec<String> = zone_names().collect();
        let lower: Vec<String> = names.iter().map(|name| name.to_lowercase().replace('-', "_")).collect();
        let words: Vec<&str> = lower.iter().map(String::as_str).collect();
        let meant = nearest(name, &words)?;
        lower.iter().position(|word| word == meant).map(|found| names[found].clone())
    })
}

pub fn zone_names() -> impl Iterator<Item = String> {
    ZONES.available().map(|name| name.to_string())
}

/// What clocks show there from `now` on, for as long as any schedule looks ahead; UTC's without a name. A name is looked up when its
/// plan is read, and names do not leave the database.
pub fn offsets(name: Option<&str>, now: Wall) -> Offsets {
    let zone = name.and_then(|name| ZONES.get(name).ok());
    zone.and_then(|zone| offsets_of(&zone, now)).unwrap_or(Offsets::UTC)
}

fn offsets_of(zone: &TimeZone, now: Wall) -> Option<Offsets> {
    let now = i64::try_from(now.as_millis() / 1_000).ok()?;
    let from = Timestamp::from_second(now.saturating_sub(BEFORE_SECONDS)).ok()?;
    let until = Timestamp::from_second(now.saturating_add(AHEAD_SECONDS)).unwrap_or(Timestamp::MAX);
    let changes = zone.following(from).take_while(|change| change.timestamp() <= until);
    let changes = changes.filter_map(|change| {
        let at = u64::try_from(change.timestamp().as_millisecond()).ok()?;
        Some((Wall::from_millis(at), change.offset().seconds()))
    });
    Some(Offsets::new(zone.to_offset(from).seconds(), changes.collect()))
}
