//! A moment as people type it: RFC 3339, or how long from now, such as `90s`, `30m`, `2h` or `3d`.

use std::time::Duration;

use windlass_domain::Wall;

use crate::exit::WrongUse;

/// `flag` is what it was typed after.
pub fn moment(flag: &str, text: &str, now: Wall) -> Result<Wall, WrongUse> {
    let from_now = length_of(text).map(|length| now + length).filter(|moment| *moment <= Wall::LAST);
    from_now.or_else(|| Wall::from_rfc3339(text).ok()).ok_or_else(|| {
        WrongUse::new(format!("{flag} {text}: this is no moment"))
            .hint("say when, as 2026-12-01T18:00:00+01:00, or how long from now, as 90s, 30m, 2h or 3d")
    })
}

pub fn length(flag: &str, text: &str) -> Result<Duration, WrongUse> {
    length_of(text).ok_or_else(|| {
        WrongUse::new(format!("{flag} {text}: this is no length of time")).hint("say it as 90s, 30m, 2h or 3d")
    })
}

fn length_of(text: &str) -> Option<Duration> {
    let (number, seconds) = match text.char_indices().last()? {
        (at, 's') => (&text[..at], 1),
        (at, 'm') => (&text[..at], 60),
        (at, 'h') => (&text[..at], 60 * 60),
        (at, 'd') => (&text[..at], 24 * 60 * 60),
        _ => return None,
    };
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = number.parse().ok().filter(|_| is_number)?;
    number.checked_mul(seconds).filter(|seconds| *seconds > 0).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_said_as_such_or_from_now() {
        let now = Wall::from_rfc3339("2026-11-18T02:00:00Z").unwrap();
        let check = |text: &str, expected: &str| {
            assert_eq!(moment("--deadline", text, now).unwrap().to_rfc3339(), expected, "{text}");
        };
        check("90s", "2026-11-18T02:01:30.000Z");
        check("30m", "2026-11-18T02:30:00.000Z");
        check("2h", "2026-11-18T04:00:00.000Z");
        check("3d", "2026-11-21T02:00:00.000Z");
        check("2026-12-01T18:00:00+01:00", "2026-12-01T17:00:00.000Z");
        for bad in [
            "",
            "h",
            "0s",
            "-1h",
            "+1h",
            "1.5h",
            "2 h",
            "2w",
            "tomorrow",
            "2026-12-01",
            "99999999999999999999d",
            "9999999d",
        ] {
            assert!(moment("--deadline", bad, now).is_err(), "{bad}");
        }
    }
}
