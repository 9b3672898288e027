//! A place to start agents' programs in without a task: a sandbox like one of theirs, over an empty folder and an empty home, both gone afterwards.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_domain::Runtime as _;
use windlass_runtime::TokioRuntime;
use windlass_sandbox::{Bubblewrap, Network, Provider, Sandbox};

use crate::agents::Found;
use crate::arguments::SandboxName;
use crate::config::Config;
use crate::equipment::policy;
use crate::exit::WrongUse;
use crate::wiring::{create_private, supervisor};

pub struct AgentPlace {
    pub sandbox: Arc<dyn Sandbox>,
    _folder: Scratch,
}

impl AgentPlace {
    /// With these programs in it.
    pub async fn open<'a>(config: &Config, programs: impl Iterator<Item = &'a Found>) -> anyhow::Result<Self> {
        let folder = Scratch::make(&config.data_dir)?;
        let mut policy = policy(&config.file.sandbox, &folder.workspace());
        policy.hidden.push(config.data_dir.clone());
        policy.home = Some(folder.home());
        policy.network = Network::None;
        policy.readonly_mounts.extend(programs.filter_map(|found| found.mount.clone()));
        let provider: Box<dyn Provider> = match config.file.sandbox.provider {
            Some(SandboxName::Docker) => Box::new(config.file.sandbox.docker.provider(supervisor())),
            Some(SandboxName::Bubblewrap | SandboxName::Process) | None => Box::new(Bubblewrap::new(supervisor())),
        };
        let sandbox = provider.open(policy).await.map_err(|error| {
            WrongUse::new(format!("failed to {error}")).hint("`windlass doctor` says what is missing")
        })?;
        Ok(Self { sandbox: Arc::from(sandbox), _folder: folder })
    }

    /// Nothing runs there any more when this returns, and nothing is left of it.
    pub async fn close(self) {
        self.sandbox.close().await;
    }
}

struct Scratch(PathBuf);

impl Scratch {
    fn make(data_dir: &Path) -> anyhow::Result<Self> {
        create_private(data_dir)?;
        let name = format!("agent-test-{:016x}", TokioRuntime::current().random() >> 64);
        let scratch = Self(data_dir.join(name));
        create_private(&scratch.workspace())?;
        create_private(&scratch.home())?;
        Ok(scratch)
    }

    fn workspace(&self) -> PathBuf {
        self.0.join("workspace")
    }

    fn home(&self) -> PathBuf {
        self.0.join("home")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _what_is_left_is_in_nobodys_way = std::fs::remove_dir_all(&self.0);
    }
}
