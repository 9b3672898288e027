//! The skills of one execution: what is listed, and their files as they were kept. Those that need a tool which is not there
//! are left out.

use std::sync::Arc;

use windlass_workspace::{Root, WorkspacePath};

use super::library::Source;

/// Where a confined command finds them.
pub const INSIDE: &str = "/skills";

#[derive(Debug, Clone, Default)]
pub struct SkillSet {
    /// By name.
    pub offered: Vec<Offered>,
    /// The folder that holds each under its name.
    pub(super) root: Option<Arc<Root>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offered {
    pub name: String,
    pub description: String,
    pub source: Source,
    pub needs: Vec<String>,
    /// Its folder in the workspace, where it came from there.
    pub place: Option<String>,
    /// What can be read beside `SKILL.md`.
    pub files: Vec<String>,
}

impl SkillSet {
    pub fn is_empty(&self) -> bool {
        self.offered.is_empty()
    }

    pub fn find(&self, name: &str) -> Option<&Offered> {
        self.offered.iter().find(|offered| offered.name == name)
    }

    /// A file of a skill; `path` is below the skill's folder.
    pub(crate) fn read(&self, name: &str, path: &str, most_bytes: u64) -> Result<Vec<u8>, String> {
        let root = self.root.as_ref().ok_or("there are no skills here")?;
        let path = WorkspacePath::parse(format!("{name}/{path}")).map_err(|error| error.to_string())?;
        root.read(&path, most_bytes).map_err(|error| error.to_string())
    }

    /// Whether a file of a skill may be executed; `path` is below the skill's folder.
    pub(crate) fn is_executable(&self, name: &str, path: &str) -> Result<bool, String> {
        let root = self.root.as_ref().ok_or("there are no skills here")?;
        let path = WorkspacePath::parse(format!("{name}/{path}")).map_err(|error| error.to_string())?;
        root.metadata(&path).map(|found| found.mode & 0o111 != 0).map_err(|error| error.to_string())
    }

    /// Those that can be read and followed with these tools.
    pub(crate) fn for_tools(self: Arc<Self>, has: impl Fn(&str) -> bool) -> Arc<Self> {
        let fits = |offered: &Offered| has("read_skill") && offered.needs.iter().all(|tool| has(tool));
        if self.offered.iter().all(fits) {
            return self;
        }
        let offered = self.offered.iter().filter(|offered| fits(offered)).cloned().collect();
        Arc::new(Self { offered, root: self.root.clone() })
    }
}
