//! `windlass.toml` read to its end, whatever is wrong in it: each mistake is told with its place, taken out, and the rest is read
//! again, so that one start tells all of them. What is left is what the file says without them.

use std::fmt::Display;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error};

use super::nearest::nearest;
use super::objections::Objection;
use super::{FileConfig, WrongUse};
use crate::secrets::without_passwords;

/// What stands in the file, as it stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// With the sections it is in, as `sandbox.limits.memory_mib`.
    pub key: String,
    pub value: String,
    pub line: usize,
    pub column: usize,
}

/// The file as it was written.
#[derive(Debug, Clone, Default)]
pub struct Written {
    path: PathBuf,
    /// What it says that holds.
    pub said: Vec<Said>,
    /// What was wrong, and does not hold; all of it where it is no table.
    misread: Vec<Vec<String>>,
}

impl Written {
    /// Where a setting stands, for people.
    pub fn place(&self, key: &str) -> String {
        let path = self.path.display();
        match self.said.iter().find(|said| said.key == key) {
            Some(Said { line, column, .. }) => format!("{path}:{line}:{column}"),
            None => path.to_string(),
        }
    }

    /// Whether something was said of it that was wrong, so that nobody knows what was meant.
    pub fn is_misread(&self, key: &str) -> bool {
        let key: Vec<&str> = key.split('.').collect();
        self.misread.iter().any(|cut| cut.len() <= key.len() && cut.iter().zip(&key).all(|(cut, key)| cut == key))
    }
}

pub struct Read {
    pub file: FileConfig,
    pub problems: Vec<WrongUse>,
    pub written: Written,
}

impl Read {
    /// Nothing of it holds.
    pub fn none(path: &Path, problems: Vec<WrongUse>) -> Self {
        let written = Written { path: path.to_owned(), said: Vec::new(), misread: vec![Vec::new()] };
        Self { file: FileConfig::default(), problems, written }
    }
}

type Place = Range<usize>;

pub fn read_to_the_end(path: &Path, text: &str, data_dir: &Path) -> Read {
    let (mut tree, unreadable) = DeTable::parse_recoverable(text);
    let told = |place: Option<&Place>, what: &dyn Display| match place {
        Some(place) => {
            let (line, column) = position(text, place.start);
            // What is told may quote the store's address.
            let what = without_passwords(&what.to_string());
            WrongUse::new(format!("{}:{line}:{column}: {what}", path.display()))
        }
        None => WrongUse::new(format!("{}: {what}", path.display())),
    };
    // Where it is not even a table, whatever else would be said of it is guessed.
    if !unreadable.is_empty() {
        let problems = unreadable.iter().map(|error| told(error.span().as_ref(), &error.message())).collect();
        return Read::none(path, problems);
    }
    let mut problems = Vec::new();
    let mut cut = Vec::new();
    loop {
        let wrong = match FileConfig::deserialize(Deserializer::from(tree.clone())) {
            Ok(file) => {
                let objections = file.objections(data_dir);
                if objections.is_empty() {
                    let said = said(tree.get_ref(), text);
                    return Read { file, problems, written: Written { path: path.to_owned(), said, misread: cut } };
                }
                objections.into_iter().map(|objection| (place_of(tree.get_ref(), &objection), objection.said)).collect()
            }
            Err(error) => vec![(error.span(), in_words(&error, tree.get_ref()))],
        };
        let mut shed = false;
        for (place, what) in wrong {
            // What is missing only because it was wrong has been told.
            let follows = |cut: &Vec<String>, path: &[String]| cut.starts_with(path) && cut.len() > path.len();
            let entry = place.as_ref().and_then(|place| path_to(tree.get_ref(), place));
            let is_known = entry.as_ref().is_some_and(|entry| cut.iter().any(|cut| follows(cut, entry)));
            if !is_known {
                problems.push(told(place.as_ref(), &what));
            }
            if let Some(entry) = entry {
                shed |= remove(tree.get_mut(), &entry);
                cut.push(entry);
            }
        }
        if !shed {
            return Read::none(path, problems);
        }
    }
}

/// For people: a setting that there is not, and the one that was meant.
fn in_words(error: &Error, tree: &DeTable<'_>) -> String {
    let message = error.message();
    let Some(rest) = message.strip_prefix("unknown field `") else { return message.to_owned() };
    // `name`, expected one of `this`, `that`: every second piece is a name.
    let unknown = rest.split('`').next().unwrap_or_default();
    let known: Vec<&str> = rest.split('`').skip(2).step_by(2).collect();
    let mut sections = error.span().and_then(|place| path_to(tree, &place)).unwrap_or_default();
    sections.pop();
    let whose = if sections.is_empty() { "windlass.toml".to_owned() } else { format!("[{}]", sections.join(".")) };
    match nearest(unknown, known.iter().copied()) {
        Some(meant) => format!("unknown field `{unknown}` in {whose}; did you mean `{meant}`?"),
        None => format!("unknown field `{unknown}` in {whose}, which has {}", quoted(&known)),
    }
}

fn quoted(known: &[&str]) -> String {
    if known.is_empty() {
        return "none".to_owned();
    }
    known.iter().map(|known| format!("`{known}`")).collect::<Vec<_>>().join(", ")
}

/// Lines and columns are counted from one, columns in letters.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

/// The innermost entry that has `place` in its key or its value.
fn path_to(table: &DeTable<'_>, place: &Place) -> Option<Vec<String>> {
    table.iter().find_map(|(key, value)| {
        let within = value.get_ref().as_table().and_then(|table| path_to(table, place));
        let covers = |span: Place| span.start <= place.start && place.end <= span.end;
        let here = || (covers(key.span()) || covers(value.span())).then(Vec::new);
        let mut path = within.or_else(here)?;
        path.insert(0, key.get_ref().to_string());
        Some(path)
    })
}

fn remove(table: &mut DeTable<'_>, path: &[String]) -> bool {
    match path {
        [] => false,
        [last] => table.remove(last.as_str()).is_some(),
        [first, rest @ ..] => match table.get_mut(first.as_str()).map(Spanned::get_mut) {
            Some(DeValue::Table(table)) => remove(table, rest),
            _ => false,
        },
    }
}

/// Where an objection's section stands, or the setting in it that the words name.
fn place_of(tree: &DeTable<'_>, objection: &Objection) -> Option<Place> {
    let mut place = None;
    let mut table = tree;
    for section in &objection.section {
        let Some((key, value)) = table.get_key_value(section.as_str()) else { break };
        place = Some(key.span());
        let Some(within) = value.get_ref().as_table() else { return place };
        table = within;
    }
    let is_in_words = |name: &str| {
        let mut words = objection.said.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        words.any(|word| word == name)
    };
    let named = table.iter().filter(|(key, _)| is_in_words(key.get_ref())).max_by_key(|(key, _)| key.get_ref().len());
    named.map(|(key, _)| key.span()).or(place)
}

fn said(tree: &DeTable<'_>, text: &str) -> Vec<Said> {
    let mut all = Vec::new();
    gather(tree, text, &mut Vec::new(), &mut all);
    all
}

fn gather(table: &DeTable<'_>, text: &str, path: &mut Vec<String>, all: &mut Vec<Said>) {
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        match value.get_ref() {
            DeValue::Table(table) => gather(table, text, path, all),
            _ => {
                let (line, column) = position(text, key.span().start);
                let value = text.get(value.span()).unwrap_or_default().to_owned();
                all.push(Said { key: path.join("."), value, line, column });
            }
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Read {
        read_to_the_end(Path::new("w.toml"), text, Path::new("/nowhere/data"))
    }

    fn told(text: &str) -> Vec<String> {
        read(text).problems.into_iter().map(|problem| problem.message).collect()
    }

    #[test]
    fn every_mistake_is_told_with_its_place_and_the_rest_holds() {
        let text = "\
[sandbox]
readonly_mount = []
network = \"some\"
limits = { memory_mib = 1, processes = 99 }

[sandbx]
a = 1

[web]
fetch = \"yes\"

[models.\"gpt-4o\"]
visoin = true

[approvals]
lifetime_seconds = 0

[doom_loop]
max_identical_calls = 0
pattern_window = 1
";
        let read = read(text);
        let told: Vec<&str> = read.problems.iter().map(|problem| problem.message.as_str()).collect();
        for expected in [
            "w.toml:2:1: unknown field `readonly_mount` in [sandbox]; did you mean `readonly_mounts`?",
            "w.toml:6:2: unknown field `sandbx` in windlass.toml; did you mean `sandbox`?",
            "w.toml:13:1: unknown field `visoin` in [models.gpt-4o]; did you mean `vision`?",
            "w.toml:16:1: [approvals]: `lifetime_seconds` must be at least 1: nobody could answer in time",
            "w.toml:4:12: [sandbox.limits]: memory_mib must be between 64 and 1073741824",
            "w.toml:19:1: [doom_loop]: max_identical_calls must be between 2 and 100",
            "w.toml:20:1: [doom_loop]: pattern_window must be between 6 and 100",
        ] {
            assert!(told.contains(&expected), "{expected}\n{told:#?}");
        }
        for place in ["w.toml:3:11: unknown variant `some`", "w.toml:10:9: invalid type"] {
            assert!(told.iter().any(|told| told.starts_with(place)), "{place}\n{told:#?}");
        }
        assert_eq!(told.len(), 9, "{told:#?}");
        assert_eq!(read.file.sandbox.limits.processes, Some(99), "what is right holds");
    }

    #[test]
    fn what_follows_from_a_mistake_is_not_told_beside_it() {
        let told = told("[embeddings]\nbase_url = \"http://127.0.0.1:1\"\nmodel = 7\n");
        assert_eq!(told.len(), 1, "{told:#?}");
        assert!(told[0].starts_with("w.toml:3:9: invalid type"), "{told:#?}");
    }

    #[test]
    fn what_is_missing_is_told() {
        let told = told("[embeddings]\nmodel = \"m\"\n");
        assert_eq!(told.len(), 1, "{told:#?}");
        assert!(told[0].starts_with("w.toml:1:") && told[0].contains("base_url"), "{told:#?}");
    }

    #[test]
    fn what_is_no_table_is_told_wherever_it_is_broken() {
        let told = told("[web]\nfetch = \n[browser]\nenabled = \n");
        assert!(told.len() == 2 && told[0].starts_with("w.toml:2:") && told[1].starts_with("w.toml:4:"), "{told:#?}");
    }

    #[test]
    fn what_is_said_is_known_by_its_line() {
        let Read { written, problems, .. } = read("[web]\nfetch = true\n\n[sandbox.limits]\nprocesses = 64\n");
        assert!(problems.is_empty());
        let line =
            |key: &str, value: &str, line| Said { key: key.to_owned(), value: value.to_owned(), line, column: 1 };
        assert_eq!(written.said, [line("sandbox.limits.processes", "64", 5), line("web.fetch", "true", 2)]);
        assert_eq!(written.place("web.fetch"), "w.toml:2:1");
        assert_eq!(written.place("web.search"), "w.toml");
    }

    #[test]
    fn what_was_misread_is_known_with_all_that_is_in_it() {
        let is_misread = |text: &str, key: &str| read(text).written.is_misread(key);
        let text = "[server]\nhosts = 7\nlisten = \"127.0.0.1:1\"\n";
        assert!(is_misread(text, "server.hosts") && !is_misread(text, "server.listen"));
        assert!(is_misread("server = 7\n", "server.hosts") && is_misread("= =", "server.hosts"));
        assert!(!is_misread("", "server.hosts"));
    }

    #[test]
    fn what_a_server_cannot_be_told_is_told_with_its_place() {
        let text = "\
[server]
listen = \"7117\"
hosts = [\"https://one.example\", \"two.example\", \"*.example\"]
requests_per_second = 0
limits = { max_tokens = 0 }

[tenants.local]
workspaces = [\"/srv\"]

[tenants.\"a b\"]

[tenants.builds.limits]
max_cost_usd = -1.0
";
        let told = told(text);
        for expected in [
            "w.toml:2:1: [server]: `listen`: `7117` is no address",
            "w.toml:3:1: [server]: `hosts`: \"https://one.example\" is no name",
            "w.toml:3:1: [server]: `hosts`: \"*.example\" is no name",
            "w.toml:4:1: [server]: `requests_per_second` must be at least 1",
            "w.toml:5:12: [server.limits]: `max_tokens` must be at least 1",
            "w.toml:7:10: [tenants.local]: ",
            "w.toml:10:10: [tenants.a b]: ",
            "w.toml:13:1: [tenants.builds.limits]: `max_cost_usd` must be",
        ] {
            assert!(told.iter().any(|told| told.starts_with(expected)), "{expected}\n{told:#?}");
        }
        assert_eq!(told.len(), 8, "{told:#?}");
    }

    /// Every way through the loop takes something out.
    #[test]
    fn reading_ends_whatever_is_wrong() {
        let lines: Vec<String> = (0..200).map(|number| format!("[section{number}]\nkey = {number}\n")).collect();
        assert_eq!(told(&lines.concat()).len(), 200);
    }
}
