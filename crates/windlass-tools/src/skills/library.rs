//! Where skills come from, and which one counts where two have a name. The user's own come first, for they are the
//! operator's word; then those of the workspace; then the shipped ones. A bad one is told and passed over: a repository
//! must not be able to stop a task by a file in it.

use std::path::{Path, PathBuf};

use windlass_domain::{Labels, Taint};
use windlass_workspace::{Error, Kind, Root, SKILL_FOLDERS, WorkspacePath};

use super::manifest::check_name;
use super::shipped::shipped;
use super::skill::Skill;

/// In one folder.
const MOST_SKILLS: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    User,
    Workspace,
    Shipped,
}

impl Source {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Workspace => "workspace",
            Self::Shipped => "shipped",
        }
    }
}

/// What to look through.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The user's own, the first one first; those that are not there are passed over.
    pub user: Vec<PathBuf>,
    pub workspace: Option<PathBuf>,
    /// Of the workspace's files: what an external context wrote is no skill before a person has looked at it.
    pub labels: Labels,
    pub shipped: bool,
}

/// A skill that could be used, and who hides it.
#[derive(Debug, Clone)]
pub struct Found {
    pub skill: Skill,
    pub source: Source,
    /// The folder it stands in: the user's, or below the workspace.
    pub place: String,
    /// The place of another with its name that counts instead.
    pub shadowed_by: Option<String>,
}

/// What looked like a skill and cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bad {
    pub place: String,
    pub reason: String,
}

#[derive(Debug, Clone, Default)]
pub struct Library {
    /// In the order of precedence.
    pub found: Vec<Found>,
    pub bad: Vec<Bad>,
}

impl Library {
    pub fn gather(sources: &Sources) -> Self {
        let mut library = Self::default();
        for folder in &sources.user {
            library.look_into(folder, "", Source::User, &folder.display().to_string(), &Labels::default());
        }
        for inner in SKILL_FOLDERS {
            if let Some(workspace) = &sources.workspace {
                library.look_into(workspace, inner, Source::Workspace, inner, &sources.labels);
            }
        }
        for skill in shipped().iter().filter(|_| sources.shipped).cloned() {
            let place = format!("shipped/{}", skill.name);
            library.add(Found { skill, source: Source::Shipped, place, shadowed_by: None });
        }
        library
    }

    /// Those that count, by name.
    pub fn offered(&self) -> Vec<&Found> {
        let mut offered: Vec<&Found> = self.found.iter().filter(|found| found.shadowed_by.is_none()).collect();
        offered.sort_by(|one, other| one.skill.name.cmp(&other.skill.name));
        offered
    }

    fn look_into(&mut self, folder: &Path, inner: &str, source: Source, shown: &str, labels: &Labels) {
        let listed = Root::open(folder).and_then(|root| {
            let inner = WorkspacePath::parse(inner)?;
            Ok((root.list(&inner)?, root, inner))
        });
        let (listed, root, inner) = match listed {
            Ok(listed) => listed,
            Err(Error::NotFound { .. } | Error::NotAFolder { .. }) => return,
            Err(error) => return self.refuse(shown.to_owned(), error.to_string()),
        };
        if listed.len() > MOST_SKILLS {
            let reason = format!("there are more than {MOST_SKILLS} names in it; only the first are read");
            self.refuse(shown.to_owned(), reason);
        }
        for entry in listed.into_iter().filter(|entry| entry.kind != Kind::File).take(MOST_SKILLS) {
            let place = format!("{shown}/{}", entry.shown());
            let name = entry.name.to_string_lossy().into_owned();
            let read = check_name(&name).and_then(|()| {
                let folder = WorkspacePath::parse(inner.as_path().join(&name)).map_err(|error| error.to_string())?;
                is_ours(&root.real_path(&folder).unwrap_or_else(|_| WorkspacePath::top()), labels)?;
                // A file may be a link that leads to another place in the workspace.
                Skill::read_where(&root, &folder, &|file| is_ours(file, labels))
            });
            match read {
                Ok(skill) => self.add(Found { skill, source, place, shadowed_by: None }),
                Err(reason) => self.refuse(place, reason),
            }
        }
    }

    fn add(&mut self, mut found: Found) {
        let first = self.found.iter().find(|earlier| earlier.skill.name == found.skill.name);
        found.shadowed_by = first.map(|first| first.place.clone());
        self.found.push(found);
    }

    fn refuse(&mut self, place: String, reason: String) {
        self.bad.push(Bad { place, reason });
    }
}

/// By where it really is, wherever its name leads.
fn is_ours(place: &WorkspacePath, labels: &Labels) -> Result<(), String> {
    match labels.under(&place.to_record()) {
        Taint::Owner | Taint::Auth => Ok(()),
        Taint::External => {
            Err("a run that had read external content may have written it; look at it, and if it is good, \
                                say so with `windlass labels clear`"
                .to_owned())
        }
    }
}
