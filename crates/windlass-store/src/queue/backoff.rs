//! How long a message that was given back waits: a second, twice as long each time, at most five minutes; a quarter of it
//! is left to chance, so that what failed together does not come back together. Pure: the dice are handed in.

use std::time::Duration;

pub const FIRST_DELAY: Duration = Duration::from_secs(1);
pub const LONGEST_DELAY: Duration = Duration::from_secs(300);

/// After the `attempt`th delivery, counted from 1.
pub fn delay(attempt: u32, random: u128) -> Duration {
    let doublings = attempt.saturating_sub(1).min(16);
    let whole = (FIRST_DELAY * (1 << doublings)).min(LONGEST_DELAY);
    let quarter = u64::try_from(whole.as_millis() / 4).expect("five minutes are few milliseconds");
    let chance = u64::try_from(random % u128::from(quarter + 1)).expect("less than a quarter");
    whole - Duration::from_millis(chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_doubles_from_a_second_to_five_minutes() {
        let seconds: Vec<u64> = (1..=11).map(|attempt| delay(attempt, 0).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        assert_eq!(delay(0, 0), FIRST_DELAY);
        assert_eq!(delay(u32::MAX, 0), LONGEST_DELAY);
    }

    #[test]
    fn chance_takes_at_most_a_quarter() {
        let delays: Vec<Duration> = (0..2_000).map(|random| delay(1, random)).collect();
        let (least, most) = (delays.iter().min().copied(), delays.iter().max().copied());
        assert_eq!((least, most), (Some(Duration::from_millis(750)), Some(FIRST_DELAY)));
    }
}
