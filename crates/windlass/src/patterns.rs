//! Where patterns come from on this machine, and which one counts where two have a name: the user's own, the workspace's where the operator
//! trusts it, the shipped ones. A bad one is told and passed over.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use windlass_domain::pattern::Pattern;
use windlass_domain::{Labels, Taint};
use windlass_plan::{parse_pattern, shipped_patterns};
use windlass_workspace::{Error, Kind, Root, WorkspacePath};

use crate::config::Config;
use crate::exit::WrongUse;
use crate::skills::SourceName;

/// In a workspace.
const FOLDER: &str = ".windlass/patterns";
const EXTENSION: &str = ".yaml";
const LARGEST: u64 = 64 * 1024;
/// In one folder.
const MOST_PATTERNS: usize = 100;

/// `[patterns]` in `windlass.toml`. A workspace's patterns are its words, and are heard where the operator says so.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PatternsConfig {
    pub from: Vec<SourceName>,
}

impl Default for PatternsConfig {
    fn default() -> Self {
        Self { from: vec![SourceName::User, SourceName::Shipped] }
    }
}

pub struct Found {
    pub pattern: Arc<Pattern>,
    pub source: SourceName,
    pub place: String,
    /// The place of another with its name that counts instead.
    pub shadowed_by: Option<String>,
}

/// What looked like a pattern and cannot be used.
pub struct Bad {
    pub name: String,
    pub place: String,
    pub reason: String,
}

/// In the order of precedence.
#[derive(Default)]
pub struct Patterns {
    pub found: Vec<Found>,
    pub bad: Vec<Bad>,
}

impl Patterns {
    /// `labels` are those of the workspace's files. Without a workspace there are those of the user and the shipped ones.
    pub fn gather(config: &Config, workspace: Option<&Path>, labels: &Labels) -> Self {
        let mut patterns = Self::default();
        let has = |name| config.file.patterns.from.contains(&name);
        let mut users: Vec<PathBuf> = vec![config.data_dir.join("patterns")];
        users.extend(config.config_home.as_ref().map(|folder| folder.join("windlass/patterns")));
        for folder in users.iter().filter(|_| has(SourceName::User)) {
            patterns.look_into(folder, "", SourceName::User, &folder.display().to_string(), &Labels::default());
        }
        if let Some(workspace) = workspace.filter(|_| has(SourceName::Workspace)) {
            patterns.look_into(workspace, FOLDER, SourceName::Workspace, FOLDER, labels);
        }
        for pattern in shipped_patterns().iter().filter(|_| has(SourceName::Shipped)) {
            let place = format!("shipped/{}{EXTENSION}", pattern.name);
            patterns.add(Arc::clone(pattern), SourceName::Shipped, place);
        }
        patterns
    }

    /// Those that count, by name.
    pub fn offered(&self) -> Vec<Arc<Pattern>> {
        let counting = self.found.iter().filter(|found| found.shadowed_by.is_none());
        let mut offered: Vec<_> = counting.map(|found| Arc::clone(&found.pattern)).collect();
        offered.sort_by(|one, other| one.name.cmp(&other.name));
        offered
    }

    pub fn find(&self, name: &str) -> Result<&Found, WrongUse> {
        let found = self.found.iter().find(|found| found.pattern.name == name);
        found.ok_or_else(|| match self.bad.iter().find(|bad| bad.name == name) {
            Some(bad) => {
                WrongUse::new(format!("{}: {}", bad.place, bad.reason)).hint("docs/patterns.md has every field")
            }
            None => WrongUse::new(format!("there is no pattern `{name}`"))
                .hint("`windlass patterns list` shows those there are"),
        })
    }

    fn look_into(&mut self, folder: &Path, inner: &str, source: SourceName, shown: &str, labels: &Labels) {
        let listed = Root::open(folder).and_then(|root| {
            let inner = WorkspacePath::parse(inner)?;
            Ok((root.list(&inner)?, root, inner))
        });
        let (listed, root, inner) = match listed {
            Ok(listed) => listed,
            Err(Error::NotFound { .. } | Error::NotAFolder { .. }) => return,
            Err(error) => return self.refuse(shown, shown, error.to_string()),
        };
        let names = listed.iter().filter(|entry| entry.kind != Kind::Folder).filter_map(|entry| entry.name.to_str());
        let names: Vec<&str> = names.filter_map(|name| name.strip_suffix(EXTENSION)).take(MOST_PATTERNS).collect();
        for name in names {
            let place = format!("{shown}/{name}{EXTENSION}");
            let path = inner.as_path().join(format!("{name}{EXTENSION}"));
            match read(&root, &path, name, labels) {
                Ok(pattern) => self.add(Arc::new(pattern), source, place),
                Err(reason) => self.refuse(name, &place, reason),
            }
        }
    }

    fn add(&mut self, pattern: Arc<Pattern>, source: SourceName, place: String) {
        let first = self.found.iter().find(|earlier| earlier.pattern.name == pattern.name);
        let shadowed_by = first.map(|first| first.place.clone());
        self.found.push(Found { pattern, source, place, shadowed_by });
    }

    fn refuse(&mut self, name: &str, place: &str, reason: String) {
        self.bad.push(Bad { name: name.to_owned(), place: place.to_owned(), reason });
    }
}

fn read(root: &Root, path: &Path, name: &str, labels: &Labels) -> Result<Pattern, String> {
    let told = |error: Error| error.to_string();
    let path = WorkspacePath::parse(path).map_err(told)?;
    let real = root.real_path(&path).map_err(told)?;
    if labels.under(&real.to_record()) == Taint::External {
        return Err(
            "a run that had read external content may have written it; look at it, and if it is good, say so with \
                    `windlass labels clear`"
                .to_owned(),
        );
    }
    let bytes = root.read(&path, LARGEST).map_err(told)?;
    let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    let pattern = parse_pattern(&text).map_err(|problems| problems.to_string())?;
    match pattern.name == name {
        true => Ok(pattern),
        false => {
            Err(format!("it says `name: {}`, but its file is called {name}{EXTENSION}; they must agree", pattern.name))
        }
    }
}
