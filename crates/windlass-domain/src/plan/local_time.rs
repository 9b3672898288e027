//! What clocks on walls show somewhere: how far they are ahead of UTC, and when that changes. The table is handed in by whoever knows
//! the world's time zones; here is only how it is read. Where clocks are put forward, the times that are left out have come
//! as soon as the clocks are past them; where they are put back, what they show a second time has come before and does not come
//! again.

use crate::time::Wall;

/// Between the clocks that are furthest ahead and furthest behind lie 26 hours: what they showed before that is no more than
/// what they show now.
const FURTHEST_BACK_MS: u64 = 26 * 60 * 60 * 1_000;

/// A moment as clocks on walls show it: milliseconds since midnight of 1 January 1970, there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shown(pub i64);

/// From which moment on clocks are ahead of UTC by how many seconds; behind, where it is negative. In order of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offsets {
    first: i32,
    changes: Vec<(Wall, i32)>,
}

impl Offsets {
    pub const UTC: Self = Self { first: 0, changes: Vec::new() };

    /// `first` until the first of the changes.
    pub const fn new(first: i32, changes: Vec<(Wall, i32)>) -> Self {
        Self { first, changes }
    }

    /// The latest time that clocks have shown until now.
    pub fn latest_shown(&self, now: Wall) -> Shown {
        let earliest = Wall::from_millis(now.as_millis().saturating_sub(FURTHEST_BACK_MS));
        let past = self.spans().filter(|span| span.from <= now && span.until.is_none_or(|until| until > earliest));
        let last_of = |span: &Span| match span.until {
            Some(until) if until <= now => Wall::from_millis(until.as_millis().saturating_sub(1)),
            _ => now,
        };
        past.map(|span| span.shown(last_of(&span))).max().unwrap_or(Shown(0))
    }

    /// The first moment after `now` at which clocks show this time or are past it. They have not shown it yet.
    pub fn first_past(&self, time: Shown, now: Wall) -> Wall {
        let reached = self.spans().filter(|span| span.until.is_none_or(|until| until > now)).find_map(|span| {
            let moment = span.moment(time).max(span.from);
            span.until.is_none_or(|until| moment < until).then_some(moment)
        });
        reached.unwrap_or(now)
    }

    fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        let starts = std::iter::once((Wall::from_millis(0), self.first)).chain(self.changes.iter().copied());
        let ends = self.changes.iter().map(|(at, _)| Some(*at)).chain(std::iter::once(None));
        starts.zip(ends).map(|((from, seconds), until)| Span { from, until, ahead_ms: i64::from(seconds) * 1_000 })
    }
}

/// While nobody touches the clocks.
struct Span {
    from: Wall,
    until: Option<Wall>,
    ahead_ms: i64,
}

impl Span {
    fn shown(&self, moment: Wall) -> Shown {
        Shown(i64::try_from(moment.as_millis()).unwrap_or(i64::MAX).saturating_add(self.ahead_ms))
    }

    fn moment(&self, Shown(time): Shown) -> Wall {
        Wall::from_millis(u64::try_from(time.saturating_sub(self.ahead_ms)).unwrap_or(0))
    }
}
