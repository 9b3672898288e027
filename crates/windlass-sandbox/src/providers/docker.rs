//! Confinement by a container of Docker's, or of Podman's through the same API: one for each sandbox, from an image, without
//! network and capabilities, its root read-only. Our own supervisor is its first process, mounted from the host, so that
//! commands, limits and their end are as elsewhere, and it proves the same denials before its first command.
//!
//! A container goes with its supervisor, and that with its owner. What a crash of the daemon leaves behind carries a label,
//! and is removed by the next owner.
//!
//! Known gaps. The image is trusted: it says what programs there are. Where the owner is root, commands can write to the
//! container's own `/dev`. Podman gives every container a `/run` to write to, and masks fewer files of `/proc` than it is
//! asked to. A daemon that cannot see this machine's files, in a virtual machine for instance, is of no use.

mod client;
mod container;
mod orphans;
mod refusal;
mod rendezvous;

use std::{
    io,
    net::TcpListener,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use client::{Client, Trouble, encoded};
use container::Container;
use refusal::explain;
use rendezvous::Rendezvous;
use serde_json::Value;
use tokio::sync::OnceCell;

use crate::{
    BoxFuture, Cancel, Command, Error, Exit, Output, Policy, Provider, Running, Sandbox, Supervisor,
    host::{Inside, Place, Placeholder, Program, Remains, SEALED, Session, Trap, WayOut, instruct},
    policy::{DEFAULT_PATH, HOME, Held, PROXY_PORT, WORKSPACE},
    wire::Setup,
};

const DEFAULT_IMAGE: &str = "execution-agent:latest";
const DEFAULT_CPUS: f64 = 2.0;
/// How often a container that did not come up is tried again.
const RETRIES: usize = 2;

#[derive(Debug)]
pub struct Docker {
    supervisor: Supervisor,
    program: io::Result<Program>,
    socket: Option<PathBuf>,
    image: String,
    memory_bytes: Option<u64>,
    cpus: f64,
    swept: OnceCell<()>,
}

impl Docker {
    pub fn new(supervisor: Supervisor) -> Self {
        Self {
            // A daemon mounts by path, and `/proc/self` is somebody else's there.
            supervisor: Supervisor { program: resolved(&supervisor.program), ..supervisor },
            program: Program::open(&supervisor.program),
            socket: None,
            image: DEFAULT_IMAGE.to_owned(),
            memory_bytes: None,
            cpus: DEFAULT_CPUS,
            swept: OnceCell::new(),
        }
    }

    /// Instead of where a daemon usually listens.
    #[must_use]
    pub fn socket(mut self, socket: impl Into<PathBuf>) -> Self {
        self.socket = Some(socket.into());
        self
    }

    #[must_use]
    pub fn image(mut self, image: impl Into<String>) -> Self {
        self.image = image.into();
        self
    }

    /// Instead of what the policy says.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.memory_bytes = Some(bytes);
        self
    }

    /// How many processors a container may use.
    #[must_use]
    pub fn cpus(mut self, cpus: f64) -> Self {
        self.cpus = cpus;
        self
    }

    /// Where the daemon listens, and what it says it is.
    pub(crate) async fn version(&self) -> Result<(PathBuf, String), Error> {
        let client = self.client()?;
        let version = client.get("/version").await.map_err(explain)?;
        let is_podman = version["Components"][0]["Name"].as_str().is_some_and(|name| name.contains("Podman"));
        let name = if is_podman { "Podman" } else { "Docker" };
        let number = version["Version"].as_str().unwrap_or("of unknown version");
        Ok((client.socket().to_owned(), format!("{name} {number}")))
    }

    /// Removes what dead owners left, and says how much that was.
    pub(crate) async fn sweep(&self) -> Result<usize, Error> {
        orphans::remove(&self.client()?).await.map_err(explain)
    }

    fn client(&self) -> Result<Client, Error> {
        Client::find(self.socket.as_deref())
    }

    async fn open_one(&self, mut policy: Policy) -> Result<Box<dyn Sandbox>, Error> {
        let client = self.client()?;
        let daemon = Daemon::ask(&client).await.map_err(explain)?;
        let image = client.get(&format!("/images/{}/json", encoded(&self.image))).await;
        let image = image.map_err(|trouble| refusal::of_image(&self.image, trouble))?;
        // Once: later there is nothing of another owner's that was not looked at.
        self.swept.get_or_init(async || drop(orphans::remove(&client).await)).await;
        policy.limits.memory_bytes = self.memory_bytes.unwrap_or(policy.limits.memory_bytes);
        let (mut policy, Held { placeholders, places }) = policy.resolve()?.guarded().await?;
        add_variables(&mut policy, &image);
        let mut opening = Opening { client, daemon, policy, placeholders, places };
        let mut left = RETRIES;
        loop {
            match self.try_to_open(&mut opening).await {
                Err(Failed::ForNow(_)) if left > 0 => left -= 1,
                Err(Failed::ForNow(error) | Failed::ForGood(error)) => return Err(error),
                Ok(sandbox) => return Ok(Box::new(sandbox)),
            }
        }
    }

    async fn try_to_open(&self, opening: &mut Opening) -> Result<Contained, Failed> {
        const DOING: &str = "prepare a container";
        let program = self.program.as_ref().map_err(|error| self.supervisor.missing(error))?;
        if !program.is_still_at(&self.supervisor.program) {
            return Err(refusal::replaced(&self.supervisor.program).into());
        }
        let Opening { client, daemon, policy, places, .. } = &*opening;
        let rendezvous = Rendezvous::make().map_err(Error::io(DOING))?;
        let wanted = container::Wanted {
            image: &self.image,
            supervisor: &self.supervisor,
            rendezvous: &rendezvous,
            cpus: self.cpus,
            user: daemon.user,
            policy,
        };
        let mut container = Container::create(client, &wanted.to_json()?).await?;
        let (link, body) = container.start(&rendezvous).await?;
        drop(rendezvous);
        let way_out = WayOut::of(&policy.network, PROXY_PORT);
        let trap = Trap::set(policy).map_err(Error::io(DOING))?;
        let sealed = SEALED.into_iter().filter(|place| daemon.user != (0, 0) || *place != "/dev");
        let setup = Setup {
            bait: Some(trap.bait(sealed, policy, places).map_err(Error::io(DOING))?),
            limits: policy.limits.clone(),
            memory_held: daemon.holds_memory,
            processes_held: daemon.holds_processes,
            listen: way_out.as_ref().map(|way_out| way_out.port),
            home: policy.where_home_is(),
            scratch: None,
        };
        let lock = policy.lock.as_ref().map(OwnedFd::try_clone).transpose().map_err(Error::io(DOING))?;
        instruct(&link, &setup, lock)?;
        let inside = Inside { workspace: WORKSPACE.into(), env: policy.env.clone(), way_out };
        let placeholders = std::mem::take(&mut opening.placeholders);
        let remains = Remains { body, groups: None, placeholders, scratch: None };
        // Not tried again: with the session its placeholders have gone, on which the mounts lie.
        match Session::greet(link, remains, inside).await.map_err(Failed::ForGood)? {
            Some(session) => Ok(Contained { session, container }),
            None => {
                let detail = "the supervisor in the container ended".to_owned();
                Err(Failed::ForGood(Error::Died { detail }))
            }
        }
    }
}

impl Provider for Docker {
    fn open(&self, policy: Policy) -> BoxFuture<'_, Result<Box<dyn Sandbox>, Error>> {
        Box::pin(self.open_one(policy))
    }
}

/// What stays the same when opening is tried again.
struct Opening {
    client: Client,
    daemon: Daemon,
    policy: Policy,
    placeholders: Vec<Placeholder>,
    places: Vec<Place>,
}

/// Whether it is worth another try.
enum Failed {
    ForNow(Error),
    ForGood(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        match error {
            Error::Died { .. } => Self::ForNow(error),
            error => Self::ForGood(error),
        }
    }
}

impl From<Trouble> for Failed {
    fn from(trouble: Trouble) -> Self {
        match trouble.is_passing() {
            true => Self::ForNow(explain(trouble)),
            false => Self::ForGood(explain(trouble)),
        }
    }
}

/// What the daemon can do, and who we are to it.
struct Daemon {
    holds_memory: bool,
    holds_processes: bool,
    /// Whose files the workspace's are, inside.
    user: (u32, u32),
}

impl Daemon {
    async fn ask(client: &Client) -> Result<Self, Trouble> {
        let info = client.get("/info").await?;
        let options = info["SecurityOptions"].as_array().map_or(&[][..], Vec::as_slice);
        // A daemon of the owner's own has nobody inside but the owner, whose number there is zero.
        let is_rootless = options.iter().any(|option| option.as_str().is_some_and(|name| name.contains("rootless")));
        let own = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        Ok(Self {
            holds_memory: info["MemoryLimit"] == true,
            holds_processes: info["PidsLimit"] == true,
            user: if is_rootless { (0, 0) } else { own },
        })
    }
}

/// A session in a container, which goes with it.
struct Contained {
    session: Session,
    container: Container,
}

impl Sandbox for Contained {
    fn run<'a>(&'a self, command: Command, output: Output<'a>, cancel: Cancel) -> BoxFuture<'a, Result<Exit, Error>> {
        self.session.run(command, output, cancel)
    }

    fn start(&self, command: Command) -> BoxFuture<'_, Result<Box<dyn Running>, Error>> {
        self.session.start(command)
    }

    fn listen(&self) -> BoxFuture<'_, Result<TcpListener, Error>> {
        self.session.listen()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.session.close().await;
            self.container.is_gone().await;
        })
    }
}

/// The policy's stand, then the image's, then ours.
fn add_variables(policy: &mut Policy, image: &Value) {
    let of_image = image["Config"]["Env"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let ours = [("PATH", DEFAULT_PATH), ("HOME", HOME)];
    for (name, value) in of_image.filter_map(|variable| variable.split_once('=')).chain(ours) {
        policy.env.entry(name.into()).or_insert_with(|| value.into());
    }
}

fn resolved(program: &Path) -> PathBuf {
    program.canonicalize().unwrap_or_else(|_| program.to_owned())
}
