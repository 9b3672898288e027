//! A skill as a task was offered it: by name and content, so that what was approved is what is read later.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SkillSeen {
    pub name: String,
    /// Over all its files.
    pub digest: Digest,
    /// Its folder in the workspace, where it came from there: its words are then worth what that folder's files are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}
