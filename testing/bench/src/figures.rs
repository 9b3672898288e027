//! Numbers as people read them, and the middle of several.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The middle one; a benchmark on a busy machine has wild ones on both sides.
pub fn median(mut values: Vec<f64>) -> f64 {
    assert!(!values.is_empty(), "nothing was measured");
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        0 => f64::midpoint(values[middle - 1], values[middle]),
        _ => values[middle],
    }
}

/// Where the middle of many is, and where all but one in a hundred are.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Spread {
    pub p50: f64,
    pub p99: f64,
}

impl Spread {
    pub fn in_micros(lengths: Vec<Duration>) -> Self {
        Self::of(lengths, 1e6)
    }

    pub fn in_millis(lengths: Vec<Duration>) -> Self {
        Self::of(lengths, 1e3)
    }

    fn of(mut lengths: Vec<Duration>, per_s: f64) -> Self {
        assert!(!lengths.is_empty(), "nothing was measured");
        lengths.sort_unstable();
        let at = |part: f64| lengths[((lengths.len() - 1) as f64 * part) as usize].as_secs_f64() * per_s;
        Self { p50: at(0.5), p99: at(0.99) }
    }
}

pub fn millis(length: Duration) -> f64 {
    length.as_secs_f64() * 1e3
}

/// Three figures that mean something, and thousands set apart.
pub fn figure(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    let plain = format!("{value:.decimals$}");
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    let whole = thousands(whole);
    if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") }
}

fn thousands(digits: &str) -> String {
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        let left = digits.len() - index;
        if index > 0 && left.is_multiple_of(3) && digit.is_ascii_digit() && !out.ends_with('-') {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A whole number.
pub fn count(value: usize) -> String {
    thousands(&value.to_string())
}

pub fn list(values: impl IntoIterator<Item = f64>) -> String {
    values.into_iter().map(figure).collect::<Vec<_>>().join(" / ")
}

pub fn times(ratio: f64) -> String {
    format!("{} ×", figure(ratio))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        let read = [0.0213, 1.0, 12.34, 129.5, 111_000.4, -1_234.0].map(figure);
        assert_eq!(read, ["0.021", "1.00", "12.3", "130", "111,000", "-1,234"]);
    }

    #[test]
    fn one_in_a_hundred_is_beyond_the_spread() {
        let spread = Spread::in_millis((0..=100).map(Duration::from_millis).rev().collect());
        assert_eq!((spread.p50, spread.p99), (50.0, 99.0));
    }

    #[test]
    fn the_median_ignores_the_wild_ones() {
        assert_eq!(median(vec![900.0, 2.0, 1.0]), 2.0);
        assert_eq!(median(vec![1.0, 3.0, 2.0, 900.0]), 2.5);
    }
}
