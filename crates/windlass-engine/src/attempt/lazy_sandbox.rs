//! A sandbox that is opened by its first command: an agent that only reads and writes files costs no process. One that
//! died, of a command that took all its memory for instance, is opened anew by the next. What a sandbox must deny is
//! proved before anything runs at all, once for each provider and process: the first one is opened at once.

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::lock::Mutex as AsyncMutex;
use windlass_domain::{ErrorDetails, SkillSeen};
use windlass_sandbox::{BoxFuture, Cancel, Command, Error, Exit, Network, Output, Provider, Running, Sandbox};

use crate::engine::Shared;
use crate::equipment::Furniture;
use crate::host::Refusals;

/// Where commands find the task's skills.
const SKILLS: &str = "/skills";

/// Makes sandboxes for one attempt: its init holds this process's lock, `.git` is read-only, the data directory hidden.
pub struct Opener {
    shared: Arc<Shared>,
    provider: Arc<dyn Provider>,
    folder: PathBuf,
    skills: Option<PathBuf>,
    way_out: WayOut,
    label: Option<String>,
    refusals: Option<Arc<Refusals>>,
    furniture: Option<Furniture>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WayOut {
    AsConfigured,
    None,
}

impl Opener {
    pub fn new(shared: Arc<Shared>, name: &str, folder: PathBuf) -> Result<Self, ErrorDetails> {
        let provider = shared.equipment.sandboxes(name)?;
        let (skills, label, refusals, furniture) = (None, None, None, None);
        Ok(Self { shared, provider, folder, skills, way_out: WayOut::AsConfigured, label, refusals, furniture })
    }

    /// Whose it is, for who looks at the machine.
    pub fn labelled(self, label: impl ToString) -> Self {
        Self { label: Some(label.to_string()), ..self }
    }

    /// Who hears what its commands do not reach.
    pub fn watched_by(self, refusals: Arc<Refusals>) -> Self {
        Self { refusals: Some(refusals), ..self }
    }

    /// With what the program that carries the execution needs.
    pub fn furnished(self, furniture: Option<Furniture>) -> Self {
        Self { furniture, ..self }
    }

    /// Whose commands find these skills.
    #[must_use]
    pub fn showing(mut self, skills: &[SkillSeen]) -> Self {
        self.skills = self.shared.equipment.skill_folder(skills);
        self
    }

    /// For what runs unasked: a check runs what an agent wrote, and nobody judges first what it would send where.
    pub fn without_network(self) -> Self {
        Self { way_out: WayOut::None, ..self }
    }

    pub async fn open(&self) -> Result<Arc<dyn Sandbox>, Error> {
        let mut policy = self.shared.equipment.policy(&self.folder);
        if self.way_out == WayOut::None {
            policy.network = Network::None;
        }
        if let (Network::Restricted(egress), Some(refusals)) = (&mut policy.network, &self.refusals) {
            let refusals = Arc::clone(refusals);
            *egress = Arc::new(egress.also_watched_by(move |refused| refusals.note(refused)));
        }
        policy.label.clone_from(&self.label);
        policy.protected.push(PathBuf::from(".git"));
        policy.hidden.push(self.shared.data_dir.clone());
        policy.readonly_mounts.extend(self.skills.clone().map(|folder| (folder, PathBuf::from(SKILLS))));
        if let Some(Furniture { home, installed }) = self.furniture.clone() {
            policy.home = Some(home);
            // A program of others reaches its model by us, and nothing else.
            policy.network = Network::None;
            policy.readonly_mounts.extend(installed);
        }
        policy.lock = self.shared.process.lock_for_sandbox().await.map_err(|error| Error::Io {
            doing: "share the owner's lock with the sandbox",
            source: std::io::Error::other(error),
        })?;
        self.provider.open(policy).await.map(Arc::from)
    }
}

pub struct LazySandbox {
    opener: Opener,
    state: AsyncMutex<State>,
}

enum State {
    Unopened,
    Open(Arc<dyn Sandbox>),
    Closed,
}

impl LazySandbox {
    pub fn new(opener: Opener) -> Self {
        Self { opener, state: AsyncMutex::new(State::Unopened) }
    }

    pub async fn open(&self) -> Result<Arc<dyn Sandbox>, Error> {
        let mut state = self.state.lock().await;
        match &*state {
            State::Open(sandbox) => Ok(Arc::clone(sandbox)),
            State::Closed => Err(Error::Closed),
            State::Unopened => {
                let sandbox = self.opener.open().await?;
                *state = State::Open(Arc::clone(&sandbox));
                Ok(sandbox)
            }
        }
    }

    /// The next command opens another, unless this one has been replaced or closed meanwhile.
    async fn forget(&self, dead: &Arc<dyn Sandbox>) {
        let mut state = self.state.lock().await;
        if matches!(&*state, State::Open(current) if Arc::ptr_eq(current, dead)) {
            *state = State::Unopened;
        }
    }
}

impl Sandbox for LazySandbox {
    fn run<'a>(&'a self, command: Command, output: Output<'a>, cancel: Cancel) -> BoxFuture<'a, Result<Exit, Error>> {
        Box::pin(async move {
            let sandbox = self.open().await?;
            let ran = sandbox.run(command, output, cancel).await;
            if let Err(Error::Died { .. }) = &ran {
                self.forget(&sandbox).await;
            }
            ran
        })
    }

    fn start(&self, command: Command) -> BoxFuture<'_, Result<Box<dyn Running>, Error>> {
        Box::pin(async move {
            let sandbox = self.open().await?;
            let started = sandbox.start(command).await;
            if let Err(Error::Died { .. }) = &started {
                self.forget(&sandbox).await;
            }
            started
        })
    }

    /// Of the sandbox that is open now: once that has died, nobody connects to it.
    fn listen(&self) -> BoxFuture<'_, Result<TcpListener, Error>> {
        Box::pin(async move {
            let sandbox = self.open().await?;
            let listener = sandbox.listen().await;
            if let Err(Error::Died { .. }) = &listener {
                self.forget(&sandbox).await;
            }
            listener
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if let State::Open(sandbox) = std::mem::replace(&mut *self.state.lock().await, State::Closed) {
                sandbox.close().await;
            }
        })
    }
}
