//! Adds measurements up, for as long as the process lives. What agents name becomes a label, and agents may name anything:
//! the number of series and the length of a label are bounded, and what is beyond is counted under `other`.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::metric::{Kind, Metric};
use crate::semantic;

/// Of one metric.
const MOST_SERIES: usize = 500;
const LONGEST_LABEL: usize = 100;
const BEYOND: &str = "other";

/// Milliseconds, from a file that is read to an hour.
const DURATIONS: &[u64] = &[
    5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000,
    3_600_000,
];
/// As the GenAI conventions have them; the seconds are milliseconds here, and seconds again when they are shown.
const TOKEN_USAGE: &[u64] =
    &[1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864];
const OPERATION_DURATION: &[u64] =
    &[10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240, 20_480, 40_960, 81_920];
const TOKENS: &[u64] = &[1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 256_000, 512_000, 1_000_000];

#[derive(Debug, Default)]
pub struct Registry {
    families: Mutex<BTreeMap<&'static str, Family>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Family {
    pub kind: Kind,
    pub bounds: &'static [u64],
    pub unit: Unit,
    pub series: BTreeMap<Labels, Sum>,
}

/// What a value is of, when it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// As its name says.
    Named,
    Tokens,
    /// Milliseconds until then.
    Seconds,
}

impl Unit {
    pub fn of(self, value: u64) -> f64 {
        let value = value as f64;
        if self == Self::Seconds { value / 1e3 } else { value }
    }
}

pub(crate) type Labels = Vec<(&'static str, String)>;

#[derive(Debug, Clone, Default)]
pub(crate) struct Sum {
    pub value: u64,
    /// How many were measured, and how many of them up to each bound; of a histogram alone.
    pub count: u64,
    pub up_to: Vec<u64>,
}

impl Registry {
    pub fn add(&self, metric: Metric) {
        let Metric { name, kind, labels, value } = metric;
        let mut families = self.lock();
        let new = || Family { kind, bounds: bounds(name), unit: unit(name), series: BTreeMap::new() };
        let family = families.entry(name).or_insert_with(new);
        let mut labels: Labels = labels.into_iter().map(|(label, value)| (label, cut(value))).collect();
        if family.series.len() >= MOST_SERIES && !family.series.contains_key(&labels) {
            labels.iter_mut().for_each(|(_, value)| BEYOND.clone_into(value));
        }
        let sum = family.series.entry(labels).or_default();
        match kind {
            Kind::Counter => sum.value = sum.value.saturating_add(value),
            Kind::Gauge => sum.value = value,
            Kind::Histogram => sum.measure(value, family.bounds),
        }
    }

    pub(crate) fn families(&self) -> BTreeMap<&'static str, Family> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, Family>> {
        self.families.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sum {
    fn measure(&mut self, value: u64, bounds: &[u64]) {
        self.value = self.value.saturating_add(value);
        self.count += 1;
        self.up_to.resize(bounds.len(), 0);
        for (up_to, bound) in self.up_to.iter_mut().zip(bounds) {
            *up_to += u64::from(value <= *bound);
        }
    }
}

fn bounds(name: &str) -> &'static [u64] {
    match name {
        semantic::TOKEN_USAGE => TOKEN_USAGE,
        semantic::OPERATION_DURATION => OPERATION_DURATION,
        name if name.contains("tokens") => TOKENS,
        _ => DURATIONS,
    }
}

fn unit(name: &str) -> Unit {
    match name {
        semantic::TOKEN_USAGE => Unit::Tokens,
        semantic::OPERATION_DURATION => Unit::Seconds,
        _ => Unit::Named,
    }
}

fn cut(value: String) -> String {
    match value.char_indices().nth(LONGEST_LABEL) {
        Some((end, _)) => value[..end].to_owned(),
        None => value,
    }
}
