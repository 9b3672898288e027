//! Where skills come from on this machine, as far as the operator lets them.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use windlass_domain::Labels;
use windlass_tools::skills::{Library, Sources};

use crate::config::Config;

/// `[skills]` in `windlass.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SkillsConfig {
    pub from: Vec<SourceName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceName {
    User,
    Workspace,
    Shipped,
}

impl SourceName {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Workspace => "workspace",
            Self::Shipped => "shipped",
        }
    }
}

impl Default for SkillsConfig {
    fn default() -> Self {
        Self { from: vec![SourceName::User, SourceName::Workspace, SourceName::Shipped] }
    }
}

/// What every workspace has in common.
#[derive(Debug, Clone)]
pub struct SkillSources {
    user: Vec<PathBuf>,
    from: Vec<SourceName>,
}

impl SkillSources {
    pub fn new(config: &Config) -> Self {
        let mut user = vec![config.data_dir.join("skills")];
        user.extend(config.config_home.as_ref().map(|folder| folder.join("windlass/skills")));
        Self { user, from: config.file.skills.from.clone() }
    }

    /// `labels` are those of the workspace's files. Without a workspace there are those of the user and the shipped ones.
    pub fn gather(&self, workspace: Option<&Path>, labels: &Labels) -> Library {
        let has = |name| self.from.contains(&name);
        Library::gather(&Sources {
            user: if has(SourceName::User) { self.user.clone() } else { Vec::new() },
            workspace: workspace.filter(|_| has(SourceName::Workspace)).map(Path::to_owned),
            labels: labels.clone(),
            shipped: has(SourceName::Shipped),
        })
    }
}
