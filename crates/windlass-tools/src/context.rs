//! What tools work with: one confined folder, one sandbox over the same folder, what that sandbox is worth, limits, and what
//! else there is. A tool whose material is missing here is not there.

use std::path::Path;
use std::sync::Arc;

use windlass_domain::Runtime;
use windlass_sandbox::Sandbox;
use windlass_workspace::Root;

use crate::error::Error;
use crate::skills::SkillSet;
use crate::web::Web;

#[derive(Clone)]
pub struct Context {
    pub root: Arc<Root>,
    pub sandbox: Arc<dyn Sandbox>,
    pub runtime: Arc<dyn Runtime>,
    pub limits: Limits,
    pub skills: Arc<SkillSet>,
    pub web: Web,
}

impl Context {
    /// `folder` is the workspace as the host sees it; the sandbox shows the same folder at `/workspace`.
    pub fn new(
        folder: &Path,
        sandbox: Arc<dyn Sandbox>,
        runtime: Arc<dyn Runtime>,
        limits: Limits,
    ) -> Result<Self, Error> {
        Ok(Self {
            root: Arc::new(Root::open(folder)?),
            sandbox,
            runtime,
            limits,
            skills: Arc::default(),
            web: Web::default(),
        })
    }
}

/// What stands between a command and the machine. An agent is told, so that it neither relies on walls that are not there
/// nor looks for doors in those that are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confinement {
    /// The workspace at `/workspace`, the system's programs, no network and none of the operator's files.
    Sealed,
    /// The same, and a proxy to the hosts that the operator listed.
    Restricted,
    /// Limits only: everything that the user who runs this can reach.
    Nothing,
}

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// What one result may take of the model's window (seed 000 §8.6).
    pub output_tokens: usize,
}

impl Limits {
    /// Good enough to decide where to cut: an exact count costs more than the tokens it would save.
    const BYTES_PER_TOKEN: usize = 4;

    pub const fn output_bytes(&self) -> usize {
        self.output_tokens.saturating_mul(Self::BYTES_PER_TOKEN)
    }
}
