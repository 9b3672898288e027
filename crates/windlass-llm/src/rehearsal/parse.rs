//! From the text of a script to a `Script`, or to everything that is wrong with it. Nothing is guessed: a field that is not
//! known, a condition that cannot be compiled and an entry that could never be played are problems.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use regex::Regex;
use serde_saphyr::Location;
use windlass_domain::Usage;

use crate::rehearsal::script::{Fault, HowItFails, Lasts, Line, Script, ScriptedCall, Track, When};
use crate::rehearsal::yaml::{self, Node, Value};

/// Longer pauses are mistakes.
const LONGEST_DELAY: i64 = 3_600_000;
const MOST_REPEATS: i64 = 1_000_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub line: u64,
    pub column: u64,
    pub message: String,
}

/// All the problems of a script, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}line {}, column {}: {}", problem.line, problem.column, problem.message)?;
        }
        Ok(())
    }
}

pub fn script(text: &str) -> Result<Script, Problems> {
    let root = yaml::parse(text).map_err(|error| not_yaml(&error))?;
    let mut reader = Reader::default();
    let tracks = reader.script(&root);
    if reader.problems.is_empty() {
        return Ok(Script { tracks });
    }
    reader.problems.sort_by_key(|problem| (problem.line, problem.column));
    Err(Problems(reader.problems))
}

fn not_yaml(error: &serde_saphyr::Error) -> Problems {
    let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
    // The first line says it; the rest is a picture of the place.
    let rendered = error.without_snippet().to_string();
    let message = rendered.lines().next().unwrap_or_default().to_owned();
    Problems(vec![Problem { line, column, message }])
}

/// Goes through the tree and notes problems; what cannot be read is left out, and the script is not used then.
#[derive(Default)]
struct Reader {
    problems: Vec<Problem>,
}

/// The fields of a map; what is not asked for is unknown.
struct Fields<'n> {
    at: Location,
    entries: BTreeMap<&'n str, &'n Node>,
}

impl Reader {
    fn note(&mut self, at: Location, message: impl Into<String>) {
        self.problems.push(Problem { line: at.line(), column: at.column(), message: message.into() });
    }

    fn script(&mut self, root: &Node) -> BTreeMap<String, Track> {
        let Some(fields) = self.fields(root, "the script", &["version", "tracks"]) else { return BTreeMap::new() };
        match fields.entries.get("version").map(|node| (node.at, &node.value)) {
            Some((_, Value::Integer(1))) => {}
            Some((at, _)) => self.note(at, "`version` must be 1"),
            None => self.note(fields.at, "`version: 1` is missing"),
        }
        let Some(tracks) = fields.entries.get("tracks") else {
            self.note(fields.at, "`tracks` is missing");
            return BTreeMap::new();
        };
        let Some(named) = self.map(tracks, "`tracks`") else { return BTreeMap::new() };
        if named.is_empty() {
            self.note(tracks.at, "`tracks` has none");
        }
        named.into_iter().map(|(name, node)| (name.to_owned(), self.track(node))).collect()
    }

    fn track(&mut self, node: &Node) -> Track {
        let mut track = Track::default();
        let Some(entries) = self.list(node, "a track") else { return track };
        if entries.is_empty() {
            self.note(node.at, "a track needs at least one entry");
        }
        let mut place = 0;
        let mut last_word = None;
        for entry in entries {
            match self.entry(entry, place) {
                Some(Entry::Fault(fault)) => track.faults.push(fault),
                Some(Entry::Line(line)) => {
                    if let Some(at) = last_word {
                        self.never_played(entry.at, at);
                    }
                    if line.lasts == Lasts::Forever && line.when.is_always() {
                        last_word = last_word.or(Some(entry.at));
                    }
                    place = line.last + 1;
                    track.lines.push(line);
                }
                None => {}
            }
        }
        let conditions = track.lines.iter().map(|line| &line.when).chain(track.faults.iter().map(|fault| &fault.when));
        track.reads_requests = conditions.into_iter().any(|when| when.request.is_some());
        track
    }

    fn never_played(&mut self, entry: Location, forever: Location) {
        let message =
            format!("never played: the entry at line {} answers every turn from its place on", forever.line());
        self.note(entry, message);
    }

    fn entry(&mut self, node: &Node, place: u32) -> Option<Entry> {
        let known = ["when", "reply", "calls", "usage", "error", "delay_ms", "repeat"];
        let fields = self.fields(node, "an entry", &known)?;
        let when = fields.entries.get("when").map(|node| self.when(node)).unwrap_or_default();
        let delay = fields.entries.get("delay_ms").map(|node| self.number(node, "`delay_ms`", 0..=LONGEST_DELAY));
        let delay = Duration::from_millis(delay.unwrap_or(0).unsigned_abs());
        if let Some(error) = fields.entries.get("error") {
            for field in ["reply", "calls", "usage", "repeat"] {
                if let Some(node) = fields.entries.get(field) {
                    self.note(node.at, format!("an entry with `error` cannot have `{field}`"));
                }
            }
            let (times, how) = self.error(error)?;
            return Some(Entry::Fault(Fault { when, delay, before: place, times, how }));
        }
        if !fields.entries.contains_key("reply") && !fields.entries.contains_key("calls") {
            self.note(node.at, "an entry needs `reply`, `calls` or `error`");
        }
        let reply = fields.entries.get("reply").map(|node| self.text(node, "`reply`")).unwrap_or_default();
        let calls = fields.entries.get("calls").map(|node| self.calls(node)).unwrap_or_default();
        let usage = fields.entries.get("usage").map(|node| self.usage(node));
        let (places, lasts) = fields.entries.get("repeat").map_or((1, Lasts::ItsPlaces), |node| self.repeat(node));
        Some(Entry::Line(Line { when, delay, last: place + places - 1, lasts, reply, calls, usage }))
    }

    fn when(&mut self, node: &Node) -> When {
        let Some(fields) = self.fields(node, "`when`", &["request", "last_result"]) else { return When::default() };
        if fields.entries.is_empty() {
            self.note(node.at, "`when` needs `request` or `last_result`");
        }
        let mut regex = |name| fields.entries.get(name).and_then(|node| self.regex(node));
        When { request: regex("request"), last_result: regex("last_result") }
    }

    fn regex(&mut self, node: &Node) -> Option<Regex> {
        let pattern = self.text(node, "a condition");
        let compiled = Regex::new(&pattern);
        if let Err(error) = &compiled {
            let problem = error.to_string();
            let reason = problem.lines().last().unwrap_or_default().trim_start_matches("error: ");
            self.note(node.at, format!("not a regular expression: {reason}"));
        }
        compiled.ok()
    }

    fn calls(&mut self, node: &Node) -> Vec<ScriptedCall> {
        let Some(calls) = self.list(node, "`calls`") else { return Vec::new() };
        calls.iter().filter_map(|node| self.call(node)).collect()
    }

    fn call(&mut self, node: &Node) -> Option<ScriptedCall> {
        let fields = self.fields(node, "a call", &["tool", "args"])?;
        let Some(tool) = fields.entries.get("tool") else {
            self.note(node.at, "a call needs `tool`");
            return None;
        };
        let tool = self.text(tool, "`tool`");
        let mut arguments = String::new();
        match fields.entries.get("args") {
            Some(args) if self.map(args, "`args`").is_some() => self.json(args, &mut arguments),
            _ => arguments.push_str("{}"),
        }
        Some(ScriptedCall { tool, arguments })
    }

    fn usage(&mut self, node: &Node) -> Usage {
        let Some(fields) = self.fields(node, "`usage`", &["input", "output", "cached_input", "cache_write"]) else {
            return Usage::default();
        };
        let mut tokens = |name: &str| match fields.entries.get(name) {
            Some(node) => self.number(node, &format!("`{name}`"), 0..=i64::MAX).unsigned_abs(),
            None => 0,
        };
        let usage = Usage {
            input: tokens("input"),
            output: tokens("output"),
            cached_input: tokens("cached_input"),
            cache_write: tokens("cache_write"),
        };
        if usage.cached_input.saturating_add(usage.cache_write) > usage.input {
            self.note(node.at, "`cached_input` and `cache_write` are parts of `input` and cannot be more than it");
        }
        usage
    }

    fn repeat(&mut self, node: &Node) -> (u32, Lasts) {
        match &node.value {
            Value::Text(word) if word == "forever" => (1, Lasts::Forever),
            Value::Integer(times) if (1..=MOST_REPEATS).contains(times) => {
                (u32::try_from(*times).expect("below the most"), Lasts::ItsPlaces)
            }
            _ => {
                self.note(node.at, format!("`repeat` must be a number from 1 to {MOST_REPEATS}, or `forever`"));
                (1, Lasts::ItsPlaces)
            }
        }
    }

    fn error(&mut self, node: &Node) -> Option<(u32, HowItFails)> {
        let known = ["status", "message", "retry_after", "times", "cut_stream_after"];
        let fields = self.fields(node, "`error`", &known)?;
        let mut number =
            |name: &str, range| fields.entries.get(name).map(|node| self.number(node, &format!("`{name}`"), range));
        let times = number("times", 1..=MOST_REPEATS).unwrap_or(1);
        let times = u32::try_from(times).unwrap_or(1);
        let status = number("status", 400..=599);
        let cut = number("cut_stream_after", 0..=i64::from(u32::MAX));
        let retry_after = fields.entries.get("retry_after").and_then(|node| self.seconds(node));
        let message = fields.entries.get("message").map(|node| self.text(node, "`message`"));
        match (status, cut) {
            (Some(status), None) => {
                let status = u16::try_from(status).unwrap_or(500);
                let message = message.unwrap_or_else(|| "a rehearsed error".to_owned());
                Some((times, HowItFails::Status { status, message, retry_after }))
            }
            (None, Some(after)) => {
                for field in ["message", "retry_after"] {
                    if let Some(node) = fields.entries.get(field) {
                        self.note(node.at, format!("`{field}` goes with `status`, not with `cut_stream_after`"));
                    }
                }
                Some((times, HowItFails::Cut { after: usize::try_from(after).unwrap_or(usize::MAX) }))
            }
            _ => {
                self.note(node.at, "`error` needs either `status` or `cut_stream_after`");
                None
            }
        }
    }

    fn seconds(&mut self, node: &Node) -> Option<Duration> {
        #[expect(clippy::cast_precision_loss, reason = "a pause of so many seconds is refused anyway")]
        let seconds = match node.value {
            Value::Integer(seconds) => seconds as f64,
            Value::Float(seconds) => seconds,
            _ => f64::NAN,
        };
        let within = (0.0..=1e6).contains(&seconds);
        if !within {
            self.note(node.at, "`retry_after` must be a number of seconds");
        }
        within.then(|| Duration::from_secs_f64(seconds))
    }

    fn fields<'n>(&mut self, node: &'n Node, what: &str, known: &[&str]) -> Option<Fields<'n>> {
        let entries = self.map(node, what)?;
        let Value::Map(pairs) = &node.value else { return None };
        for (key, _) in pairs {
            if let Value::Text(name) = &key.value
                && !known.contains(&name.as_str())
            {
                let known = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                self.note(key.at, format!("{what} has no field `{name}`; it has {known}"));
            }
        }
        Some(Fields { at: node.at, entries })
    }

    fn map<'n>(&mut self, node: &'n Node, what: &str) -> Option<BTreeMap<&'n str, &'n Node>> {
        let Value::Map(pairs) = &node.value else {
            self.note(node.at, format!("{what} must be a map, not {}", node.value.kind()));
            return None;
        };
        let mut entries = BTreeMap::new();
        for (key, value) in pairs {
            match &key.value {
                Value::Text(name) => {
                    entries.insert(name.as_str(), value);
                }
                other => self.note(key.at, format!("a name must be text, not {}; quote it", other.kind())),
            }
        }
        Some(entries)
    }

    fn list<'n>(&mut self, node: &'n Node, what: &str) -> Option<&'n [Node]> {
        if let Value::List(nodes) = &node.value {
            return Some(nodes);
        }
        self.note(node.at, format!("{what} must be a list, not {}", node.value.kind()));
        None
    }

    fn text(&mut self, node: &Node, what: &str) -> String {
        if let Value::Text(text) = &node.value {
            return text.clone();
        }
        self.note(node.at, format!("{what} must be text, not {}; quote it", node.value.kind()));
        String::new()
    }

    /// Something in the range, whatever the script says.
    fn number(&mut self, node: &Node, what: &str, range: std::ops::RangeInclusive<i64>) -> i64 {
        match &node.value {
            Value::Integer(number) if range.contains(number) => *number,
            _ => {
                let (low, high) = (range.start(), range.end());
                let limits = if *high == i64::MAX { format!("from {low}") } else { format!("from {low} to {high}") };
                self.note(node.at, format!("{what} must be a whole number {limits}"));
                *low
            }
        }
    }

    fn json(&mut self, node: &Node, out: &mut String) {
        match &node.value {
            Value::Nothing => out.push_str("null"),
            Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Value::Integer(value) => out.push_str(&value.to_string()),
            Value::Float(value) if value.is_finite() => out.push_str(&serde_json::json!(value).to_string()),
            Value::Float(_) => self.note(node.at, "JSON has no such number"),
            Value::Text(text) => out.push_str(&serde_json::json!(text).to_string()),
            Value::List(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    self.json(item, out);
                }
                out.push(']');
            }
            Value::Map(pairs) => {
                out.push('{');
                for (index, (key, value)) in pairs.iter().enumerate() {
                    out.push_str(if index == 0 { "" } else { "," });
                    let name = self.text(key, "a name");
                    out.push_str(&serde_json::json!(name).to_string());
                    out.push(':');
                    self.json(value, out);
                }
                out.push('}');
            }
        }
    }
}

enum Entry {
    Line(Line),
    Fault(Fault),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let problems = script(text).expect_err("it is wrong").0;
        problems.iter().map(|problem| format!("{}:{} {}", problem.line, problem.column, problem.message)).collect()
    }

    #[test]
    fn the_documented_script_is_valid() {
        let text = include_str!("../../tests/fixtures/documented.yaml");
        let script = script(text).unwrap_or_else(|problems| panic!("{problems}"));
        let executor = &script.tracks["executor"];
        assert_eq!((executor.lines.len(), executor.faults.len()), (4, 2));
        assert!(executor.reads_requests && !script.tracks["planner"].reads_requests);
        assert_eq!(executor.lines[0].calls[0].arguments, r#"{"path":"hello.txt","content":"hi\n"}"#);
        let last_places = executor.lines.iter().map(|line| line.last).collect::<Vec<_>>();
        assert_eq!(last_places, [0, 1, 2, 5]);
    }

    #[test]
    fn every_problem_is_told_at_once_and_in_its_place() {
        let text = "\
version: 2
traks: {}
tracks:
  executor:
    - replay: hi
    - reply: 7
      delay_ms: -1
    - when: { last_result: '(' }
      calls: [ { args: {} }, { tool: bash, args: [1] } ]
    - error: { status: 200, times: 0 }
    - error: { times: 1 }
      repeat: 2
    - { reply: a, repeat: never }
    - { reply: b, repeat: forever }
    - reply: c
  empty: []
  7: [ { reply: x } ]
";
        let found = problems(text);
        let expected = [
            "1:10 `version` must be 1",
            "2:1 the script has no field `traks`",
            "5:7 an entry needs `reply`",
            "5:7 an entry has no field `replay`",
            "6:14 `reply` must be text, not a number",
            "7:17 `delay_ms` must be a whole number from 0",
            "8:28 not a regular expression: unclosed group",
            "9:16 a call needs `tool`",
            "9:50 `args` must be a map, not a list",
            "10:24 `status` must be a whole number from 400 to 599",
            "10:36 `times` must be a whole number from 1",
            "11:14 `error` needs either `status` or `cut_stream_after`",
            "12:15 an entry with `error` cannot have `repeat`",
            "13:27 `repeat` must be a number from 1",
            "15:7 never played: the entry at line 14",
            "16:10 a track needs at least one entry",
            "17:3 a name must be text, not a number",
        ];
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for expected in expected {
            assert!(found.iter().any(|problem| problem.starts_with(expected)), "{expected} in {found:#?}");
        }
    }

    #[test]
    fn what_is_not_yaml_says_where() {
        assert!(problems("version: 1\ntracks: [").first().is_some_and(|problem| problem.starts_with("2:")));
        assert!(
            problems("version: 1\nversion: 1\n")[0].starts_with("2:1"),
            "{:?}",
            problems("version: 1\nversion: 1\n")
        );
        assert_eq!(problems("")[0].split(' ').next(), Some("1:1"));
        assert_eq!(problems("just text")[0], "1:1 the script must be a map, not text");
    }

    #[test]
    fn only_true_and_false_are_booleans() {
        let text = "version: 1\ntracks:\n  t:\n    - reply: yes\n      calls: [ { tool: x, args: { a: no, b: On, c: y, d: true, e: false } } ]\n";
        let script = script(text).unwrap_or_else(|problems| panic!("{problems}"));
        let line = &script.tracks["t"].lines[0];
        assert_eq!(line.reply, "yes");
        assert_eq!(line.calls[0].arguments, r#"{"a":"no","b":"On","c":"y","d":true,"e":false}"#);
    }

    #[test]
    fn arguments_keep_their_order_and_their_types() {
        let text = "version: 1\ntracks:\n  t:\n    - calls: [ { tool: x, args: { b: 1, a: [true, null, 1.5, 'q\"'], c: {} } } ]\n";
        let script = script(text).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(script.tracks["t"].lines[0].calls[0].arguments, r#"{"b":1,"a":[true,null,1.5,"q\""],"c":{}}"#);
    }
}
