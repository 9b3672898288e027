//! What the engine is handed because it may not know it: sandboxes, workspaces, and runners over models and tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use windlass_domain::execution::Carrier;
use windlass_domain::task::TaskCreated;
use windlass_domain::{
    ContextService, Embedder, ErrorCode, ErrorDetails, ExecutionId, Labels, Role, Runner, SkillSeen, Workspace,
};
use windlass_sandbox::{Policy, Provider, Sandbox};

pub trait Equipment: Send + Sync {
    /// The provider of the sandbox that a task was started with.
    fn sandboxes(&self, name: &str) -> Result<Arc<dyn Provider>, ErrorDetails>;

    /// What the operator lets every sandbox over `folder` have. The engine adds what it must protect and hide.
    fn policy(&self, folder: &Path) -> Policy;

    fn workspace(&self, folder: &Path) -> Result<Arc<dyn Workspace>, ErrorDetails>;

    /// Who finds memos by what they mean; without one, words decide.
    fn embedder(&self) -> Option<Arc<dyn Embedder>> {
        None
    }

    /// Who says what is known about a task; without one, the tenant's memories do.
    fn context_service(&self) -> Option<Arc<dyn ContextService>> {
        None
    }

    /// The skills that a task in `folder` is offered if it begins now, kept so that they stay as they are. `labels` are those of
    /// the folder's files.
    fn skills(&self, _folder: &Path, _labels: &Labels) -> Result<Vec<SkillSeen>, ErrorDetails> {
        Ok(Vec::new())
    }

    /// Where these were kept, for a sandbox to show.
    fn skill_folder(&self, _skills: &[SkillSeen]) -> Option<PathBuf> {
        None
    }

    /// Who keeps the conversation of an agent of this name.
    fn carrier(&self, _agent: &str) -> Carrier {
        Carrier::Native
    }

    /// What the sandbox of an execution needs besides, where the agent of this name is a program of its own.
    /// Its home begins as a copy of another one, where that is named, unless it is told to stop on the way.
    fn furnish(
        &self,
        _agent: &str,
        _execution: ExecutionId,
        _home: Option<ExecutionId>,
        _should_stop: &dyn Fn() -> bool,
    ) -> Result<Option<Furniture>, ErrorDetails> {
        Ok(None)
    }

    /// Whether the agent of this name, a program of its own, can begin a conversation from another one.
    fn can_fork(&self, _agent: &str) -> bool {
        false
    }

    /// Keeps the conversation in the home of an execution of this agent's under another name. No link in it is followed.
    fn copy_home(&self, _agent: &str, _from: ExecutionId, _to: ExecutionId) -> Result<(), ErrorDetails> {
        Err(ErrorDetails::new(ErrorCode::Internal, "there are no homes here"))
    }

    /// Whose homes, of those that `furnish` made, nobody has used for so long.
    fn homes_unused_for(&self, _length: Duration) -> Vec<ExecutionId> {
        Vec::new()
    }

    fn remove_home(&self, _execution: ExecutionId) {}

    fn runner(&self, order: Order<'_>) -> Result<Arc<dyn Runner>, ErrorDetails>;
}

/// What an agent that is a program of its own finds in its sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Furniture {
    /// Lasts as long as the execution.
    pub home: PathBuf,
    /// Where what it needs is installed: on the machine, and inside.
    pub installed: Vec<(PathBuf, PathBuf)>,
}

/// What a runner is made for.
pub struct Order<'a> {
    pub created: &'a TaskCreated,
    pub execution: ExecutionId,
    /// Whose work it is, which decides the tools.
    pub role: Role,
    /// The rehearsal's script, where the task plays one.
    pub script: Option<String>,
    pub folder: &'a Path,
    pub sandbox: Arc<dyn Sandbox>,
    /// How many agents stand above it: who stands at the end of the line spawns nobody.
    pub depth: u32,
}
