//! What a sandbox may touch and how much of the machine it may use. Values only; the providers enforce them.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    Egress, Error,
    host::{Place, Placeholder, find_guarded, identify},
};

/// Where the workspace is inside a confined sandbox.
pub(crate) const WORKSPACE: &str = "/workspace";
/// The host's programs and libraries: directories, or links to one below `/usr`.
pub(crate) const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/// The home of a confined command.
pub(crate) const HOME: &str = "/home/agent";
pub(crate) const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Where the proxy is, in a network that is the sandbox's own; the same in each, since approvals are bound to variables.
pub const PROXY_PORT: u16 = 3128;

/// Where a confined command's home is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    InMemory,
    OnTheHost,
}

/// The places of a confined sandbox where anything may be written, and nothing stays.
const SCRATCH: [Scratch; 3] = [
    Scratch { place: "/tmp", mode: "1777", sixteenths: 4 },
    Scratch { place: HOME, mode: "0700", sixteenths: 3 },
    Scratch { place: "/dev/shm", mode: "1777", sixteenths: 1 },
];

/// A file system in memory.
pub(crate) struct Scratch {
    pub(crate) place: &'static str,
    pub(crate) mode: &'static str,
    /// Its share of the memory limit. All together have half of it: the other half is left for who has to tidy up.
    sixteenths: u64,
}

/// Everything that a sandbox is allowed.
#[derive(Debug)]
pub struct Policy {
    /// A host directory, read-write at `/workspace`.
    pub workspace: PathBuf,
    /// A host directory, read-write as the home of commands, `/home/agent`, instead of one in memory that goes with the
    /// sandbox. Apart from the workspace, around nothing that is hidden, and not to be trusted afterwards: commands make
    /// links there as they like. Nothing bounds what is put into it but the disk.
    pub home: Option<PathBuf>,
    /// Paths inside the workspace that are read-only. One that does not exist is not protected: mounting it would
    /// create it on the host.
    pub protected: Vec<PathBuf>,
    /// Names that others obey wherever they find them: `.git`, unless the caller says otherwise. What has such a name
    /// when the sandbox is opened is read-only, and at the top of the workspace none can be made. Two limits. Further down
    /// a new one can be made: no mount prevents a name in a writable directory. And those further down are looked for
    /// from the top, in 2,000 directories or 50,000 names; what lies beyond, and more than 64 or 40 KB of paths, stays
    /// writable.
    pub guarded: Vec<OsString>,
    /// `(host path, absolute path inside)`: toolchains and caches that the operator shares.
    pub readonly_mounts: Vec<(PathBuf, PathBuf)>,
    /// Added to `PATH` and `HOME`, which are set even if this is empty. Nothing is inherited from the owner.
    pub env: BTreeMap<OsString, OsString>,
    pub limits: Limits,
    /// Host paths whose absence the sandbox proves before its first command, beside the owner's home:
    /// the data directory with its keys, for instance.
    pub hidden: Vec<PathBuf>,
    pub network: Network,
    /// Whose it is, for who looks from outside: a container carries it as `windlass.execution`.
    pub label: Option<String>,
    /// The owner's lock. The supervisor holds it too, and no command does: once the owner is dead, the lock is
    /// free only when the whole tree is gone.
    pub lock: Option<OwnedFd>,
}

/// What a sandbox may reach besides its own loopback.
#[derive(Debug, Clone, Default)]
pub enum Network {
    #[default]
    None,
    /// What is on the list, through a proxy that the usual variables name. A provider without isolation only names it.
    Restricted(Arc<Egress>),
}

/// What a sandbox relies on in the workspace.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) placeholders: Vec<Placeholder>,
    /// What is to be mounted, by what it is.
    pub(crate) places: Vec<Place>,
}

/// Bounds on one sandbox (memory, processes) or on each of its processes (the rest).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// All processes together.
    pub memory_bytes: u64,
    /// All processes and threads together.
    pub processes: u64,
    pub file_size_bytes: u64,
    pub open_files: u64,
    pub cpu_seconds: Option<u64>,
    /// Each of `/tmp`, the scratch home and `/dev/shm` at most. They live in memory and count as such, so that they have
    /// no more than a quarter, three sixteenths and a sixteenth of `memory_bytes` either.
    pub scratch_bytes: u64,
}

/// Whether control groups hold the memory and process limits.
///
/// Without them the supervisor counts for itself, ten times a second: it stops what goes over, but a little late, and does
/// not see the buffers of pipes and sockets. Files in memory without a name (`memfd_create`) are then not to be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cgroups {
    /// Below the owner's own group, where that may be written.
    #[default]
    WhereWritable,
    Never,
}

/// The program that runs [`crate::supervise`], and the arguments that make it do so. A provider opens it when it is made
/// and keeps to what it opened, whatever happens to the file.
#[derive(Debug, Clone)]
pub struct Supervisor {
    pub program: PathBuf,
    pub args: Vec<OsString>,
}

impl Policy {
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            home: None,
            protected: Vec::new(),
            guarded: vec![".git".into()],
            readonly_mounts: Vec::new(),
            env: BTreeMap::new(),
            limits: Limits::default(),
            hidden: Vec::new(),
            network: Network::None,
            label: None,
            lock: None,
        }
    }

    /// The same policy with every path resolved, or what the caller must correct. What is guarded is not looked for
    /// yet: see [`Self::guard`].
    pub(crate) fn resolve(mut self) -> Result<Self, Error> {
        let workspace = self
            .workspace
            .canonicalize()
            .map_err(|error| Error::policy("workspace", format!("{}: {error}", self.workspace.display())))?;
        if !workspace.is_dir() || workspace == Path::new("/") {
            return Err(Error::policy(
                "workspace",
                format!("{} must be a directory other than /", workspace.display()),
            ));
        }
        for (host, inside) in &mut self.readonly_mounts {
            *host = host
                .canonicalize()
                .map_err(|error| Error::policy("readonly_mounts", format!("{}: {error}", host.display())))?;
            if !is_plain_absolute(inside) {
                return Err(Error::policy(
                    "readonly_mounts",
                    format!("{} must be absolute and without `..`", inside.display()),
                ));
            }
        }
        let mut protected = Vec::new();
        for path in &self.protected {
            if let Some(path) = resolve_protected(&workspace, path)? {
                protected.push(path);
            }
        }
        self.protected = protected;
        self.workspace = workspace;
        self.home = self.home.as_ref().map(|home| self.resolve_home(home)).transpose()?;
        Ok(self)
    }

    fn resolve_home(&self, home: &Path) -> Result<PathBuf, Error> {
        let refuse = |why: String| Error::policy("home", format!("{}: {why}", home.display()));
        let home = home.canonicalize().map_err(|error| refuse(error.to_string()))?;
        let resolved = |path: PathBuf| path.canonicalize().unwrap_or(path);
        // The canary looks for what is hidden at its own path. Shown at another it would not be found.
        let shown =
            self.hidden.iter().cloned().chain(std::env::home_dir()).map(resolved).find(|path| path.starts_with(&home));
        let covers = |inside: &Path| inside.starts_with(HOME) || Path::new(HOME).starts_with(inside);
        let covering = self.readonly_mounts.iter().find(|(_, inside)| covers(inside));
        if !home.is_dir() {
            Err(refuse("must be a directory".to_owned()))
        } else if home.starts_with(&self.workspace) || self.workspace.starts_with(&home) {
            Err(refuse("must be neither in the workspace nor around it".to_owned()))
        } else if let Some(hidden) = shown {
            Err(refuse(format!("would show {}, which is hidden; make a directory for it alone", hidden.display())))
        } else if let Some((_, inside)) = covering {
            // What commands leave there could be a link, through which the mount point would be made elsewhere.
            let why = "a read-only mount must not be in a home of the host's or around it";
            Err(Error::policy("readonly_mounts", format!("{}: {why}; mount it elsewhere", inside.display())))
        } else {
            Ok(home)
        }
    }

    pub(crate) fn where_home_is(&self) -> Home {
        match self.home {
            Some(_) => Home::OnTheHost,
            None => Home::InMemory,
        }
    }

    /// Adds what is guarded to what is protected, and holds the places at the top where nothing is yet. A resolved
    /// policy only. Looks for it on a thread that may wait for the disk.
    pub(crate) async fn guarded(mut self) -> Result<(Self, Held), Error> {
        #[expect(clippy::disallowed_methods, reason = "this crate has no other way to a thread that may wait")]
        let guarded = tokio::task::spawn_blocking(move || self.guard().map(|held| (self, held)));
        guarded.await.map_err(|error| Error::io("look for what is guarded")(io::Error::other(error)))?
    }

    fn guard(&mut self) -> Result<Held, Error> {
        let mut placeholders = Vec::new();
        for name in &self.guarded {
            let place = Placeholder::hold(self.workspace.join(name));
            let unable =
                |error| format!("{} cannot be kept free: {error}; make the workspace writable", name.display());
            placeholders.extend(place.map_err(|error| Error::policy("guarded", unable(error)))?);
            if let Some(path) = resolve_protected(&self.workspace, name.as_ref())? {
                self.protected.push(path);
            }
        }
        self.protected.extend(find_guarded(&self.workspace, &self.guarded));
        let mut places = identify(&self.workspace, &mut self.protected).map_err(|error| {
            Error::policy("protected", format!("{error}; somebody is changing it, so that it cannot be protected"))
        })?;
        if let Some(home) = &self.home {
            let place = Place::of(home, HOME).map_err(|error| Error::policy("home", error.to_string()))?;
            places.push(place);
        }
        Ok(Held { placeholders, places })
    }
}

impl Supervisor {
    /// The very program that is running, also after its file was replaced or removed, as an upgrade does.
    pub fn myself<Words>(args: Words) -> Self
    where
        Words: IntoIterator,
        Words::Item: Into<OsString>,
    {
        Self { program: "/proc/self/exe".into(), args: args.into_iter().map(Into::into).collect() }
    }

    pub(crate) fn missing(&self, error: &std::io::Error) -> Error {
        Error::Missing {
            program: format!("{} ({error})", self.program.display()),
            hint: "the configured supervisor program must exist and be this same version of windlass",
        }
    }
}

impl Scratch {
    /// All that there are with such a home.
    pub(crate) fn all(home: Home) -> impl Iterator<Item = &'static Self> {
        SCRATCH.iter().filter(move |scratch| scratch.place != HOME || home == Home::InMemory)
    }

    /// Never zero, which would mean: as much as there is.
    pub(crate) fn bytes(&self, limits: &Limits) -> u64 {
        let share = limits.memory_bytes / 16 * self.sixteenths;
        limits.scratch_bytes.min(share).max(1 << 12)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 2 << 30,
            processes: 512,
            file_size_bytes: 4 << 30,
            open_files: 4096,
            cpu_seconds: None,
            scratch_bytes: 1 << 30,
        }
    }
}

/// The directories around these relative paths, each once and before what is in it. They are mounted too: a mount point
/// cannot be renamed, so that nobody swaps a directory around a protected path.
pub(crate) fn around(protected: &[PathBuf]) -> BTreeSet<&Path> {
    let parents = protected.iter().flat_map(|path| path.ancestors().skip(1));
    parents.filter(|parent| !parent.as_os_str().is_empty()).collect()
}

fn is_plain_absolute(path: &Path) -> bool {
    use std::path::Component::{Normal, RootDir};
    path.is_absolute() && path.components().all(|part| matches!(part, RootDir | Normal(_)))
}

/// The path relative to the workspace, `None` when there is nothing to protect. A symbolic link is refused
/// wherever it points: mounting follows links, and a repository could name any file of the host by one.
fn resolve_protected(workspace: &Path, path: &Path) -> Result<Option<PathBuf>, Error> {
    use std::path::Component::Normal;
    let refuse = |why: &str| Err(Error::policy("protected", format!("{}: {why}", path.display())));
    if path.as_os_str().is_empty() || !path.components().all(|part| matches!(part, Normal(_))) {
        return refuse("must be relative to the workspace and without `..`");
    }
    let mut here = workspace.to_path_buf();
    for part in path.components() {
        here.push(part);
        match here.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => {
                return refuse("is or passes through a symbolic link");
            }
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return refuse(&error.to_string()),
        }
    }
    Ok(Some(path.to_path_buf()))
}
