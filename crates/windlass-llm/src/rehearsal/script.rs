//! A script as it is played: checked, its regular expressions compiled, its places counted.

use std::collections::BTreeMap;
use std::time::Duration;

use regex::Regex;
use windlass_domain::Usage;

use crate::rehearsal::parse::{self, Problems};

/// Serves whoever has no track of their own.
const DEFAULT_TRACK: &str = "default";

#[derive(Debug)]
pub struct Script {
    pub(super) tracks: BTreeMap<String, Track>,
}

#[derive(Debug, Default)]
pub struct Track {
    /// In the order of the file, hence of their places.
    pub lines: Vec<Line>,
    /// In the order of the turns they stand before.
    pub faults: Vec<Fault>,
    /// Some entry looks at the whole request, so that its text must be kept.
    pub reads_requests: bool,
}

#[derive(Debug)]
pub struct Line {
    pub when: When,
    pub delay: Duration,
    /// The last place it takes, counted from zero; the first follows the last of the line before.
    pub last: u32,
    pub lasts: Lasts,
    pub reply: String,
    pub calls: Vec<ScriptedCall>,
    pub usage: Option<Usage>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lasts {
    ItsPlaces,
    Forever,
}

#[derive(Debug)]
pub struct ScriptedCall {
    pub tool: String,
    /// JSON, in the order of the script.
    pub arguments: String,
}

#[derive(Debug)]
pub struct Fault {
    pub when: When,
    pub delay: Duration,
    /// The turn it stands before.
    pub before: u32,
    /// How many tries of that turn it takes.
    pub times: u32,
    pub how: HowItFails,
}

#[derive(Debug)]
pub enum HowItFails {
    Status {
        status: u16,
        message: String,
        retry_after: Option<Duration>,
    },
    /// So many characters of the answer that would have come, then the connection drops.
    Cut {
        after: usize,
    },
}

#[derive(Debug, Default)]
pub struct When {
    pub request: Option<Regex>,
    pub last_result: Option<Regex>,
}

impl When {
    pub const fn is_always(&self) -> bool {
        self.request.is_none() && self.last_result.is_none()
    }
}

impl Script {
    /// Reads a script; what is wrong with it is told all at once, with lines and columns.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        parse::script(text)
    }

    /// The names of the tracks, in order.
    pub fn tracks(&self) -> impl Iterator<Item = &str> {
        self.tracks.keys().map(String::as_str)
    }

    /// The first of `names` that has a track, or the default one.
    pub(super) fn track<'n>(&self, names: &[&'n str]) -> Option<(&'n str, &Track)> {
        let named = names.iter().find_map(|name| self.tracks.get_key_value(*name).map(|(_, track)| (*name, track)));
        named.or_else(|| self.tracks.get(DEFAULT_TRACK).map(|track| (DEFAULT_TRACK, track)))
    }
}
