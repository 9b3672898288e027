//! Confinement by bubblewrap: own mount, process, IPC, host name, network and, where possible, user and control group
//! namespaces; the workspace read-write, the system read-only, everything else absent; no network but an empty
//! loopback; a system call filter; no capabilities.
//!
//! Known gaps. A socket with a path is not a network: one that lies in the workspace or a read-only mount can be
//! connected to. Where the owner is root, so are the sandbox's processes to the file system: without capabilities,
//! but able to change the modes of the host's `/dev/null` and its like, which are mounted from the host.

#![expect(clippy::disallowed_methods, reason = "the home of starting programs")]

mod refusal;
mod seccomp;
mod system;

use std::{
    ffi::{OsStr, OsString},
    io::{self, Seek, Write},
    os::fd::{AsRawFd, OwnedFd},
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use rustix::fs::{MemfdFlags, memfd_create};
use system::Part;

use crate::{
    BoxFuture, Cgroups, Error, Policy, Provider, Sandbox, Supervisor,
    host::{Failure, Groups, Session, Spawn, Start, Trap, capture_version},
    policy::{DEFAULT_PATH, WORKSPACE},
    wire::Setup,
};

/// Looked for here and not on `PATH`, which a workspace may have touched.
const PROGRAMS: [&str; 3] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];
const SUPERVISOR: &str = "/run/windlass/supervisor";

/// The default provider.
#[derive(Debug)]
pub struct Bubblewrap {
    program: Option<PathBuf>,
    supervisor: Supervisor,
    cgroups: Cgroups,
}

impl Bubblewrap {
    pub fn new(supervisor: Supervisor) -> Self {
        Self { program: None, supervisor, cgroups: Cgroups::default() }
    }

    /// Instead of the installed `bwrap`.
    #[must_use]
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = Some(program.into());
        self
    }

    #[must_use]
    pub fn cgroups(mut self, cgroups: Cgroups) -> Self {
        self.cgroups = cgroups;
        self
    }

    pub(crate) async fn version(&self) -> Result<(PathBuf, String), Error> {
        let program = self.find()?;
        let version = capture_version(program.clone()).await?;
        Ok((program, version))
    }

    fn find(&self) -> Result<PathBuf, Error> {
        let candidates: Vec<PathBuf> = match &self.program {
            Some(program) => vec![program.clone()],
            None => PROGRAMS.map(PathBuf::from).to_vec(),
        };
        candidates.into_iter().find(|path| path.is_file()).ok_or_else(|| Error::Missing {
            program: self.program.as_ref().map_or("bwrap".to_owned(), |path| path.display().to_string()),
            hint: refusal::INSTALL,
        })
    }

    async fn start(&self, policy: Policy) -> Result<Box<dyn Sandbox>, Error> {
        let program = self.find()?;
        let policy = policy.resolve()?;
        let trap = Trap::set(&policy).map_err(Error::io("set the canary's trap"))?;
        let groups = Groups::create(self.cgroups, &policy.limits);
        let setup = Setup {
            bait: Some(trap.bait().map_err(Error::io("set the canary's trap"))?),
            memory_held: groups.as_ref().is_some_and(Groups::holds_memory),
            processes_held: groups.as_ref().is_some_and(Groups::holds_processes),
            limits: policy.limits.clone(),
            scratch: None,
        };
        let line = CommandLine::build(&policy, &self.supervisor).map_err(Error::io("prepare a sandbox"))?;
        let mut command = Command::new(program);
        command.args(line.arguments);
        let mut env = policy.env;
        env.entry("PATH".into()).or_insert_with(|| DEFAULT_PATH.into());
        env.entry("HOME".into()).or_insert_with(|| system::HOME.into());
        let session = Session::open(Start {
            spawn: Spawn { command, inherited: line.descriptors, groups: Vec::new() },
            setup,
            lock: policy.lock,
            groups,
            workspace: PathBuf::from(WORKSPACE),
            env,
        });
        match session.await {
            Ok(session) => Ok(Box::new(session)),
            Err(Failure::Ended { said }) => Err(refusal::explain(&said)),
            Err(Failure::Other(error)) => Err(error),
        }
    }
}

impl Provider for Bubblewrap {
    fn open(&self, policy: Policy) -> BoxFuture<'_, Result<Box<dyn Sandbox>, Error>> {
        Box::pin(self.start(policy))
    }
}

/// Bubblewrap's arguments, and the descriptors that they mention by number.
struct CommandLine {
    arguments: Vec<OsString>,
    descriptors: Vec<OwnedFd>,
}

impl CommandLine {
    fn build(policy: &Policy, supervisor: &Supervisor) -> io::Result<Self> {
        let mut line = Self { arguments: Vec::new(), descriptors: Vec::new() };
        line.namespaces();
        line.system(policy)?;
        line.workspace(policy);
        line.filter()?;
        line.mount("--ro-bind", &supervisor.program, Path::new(SUPERVISOR));
        // Last, or nothing more could be mounted. Bubblewrap's root is a writable file system in memory otherwise.
        line.words(["--remount-ro", "/"]);
        line.words(["--chdir", WORKSPACE, "--", SUPERVISOR]);
        line.words(&supervisor.args);
        Ok(line)
    }

    fn namespaces(&mut self) {
        self.words([
            "--unshare-user-try",
            "--unshare-ipc",
            "--unshare-pid",
            "--unshare-net",
            "--unshare-uts",
            "--unshare-cgroup-try",
        ]);
        self.words(["--uid", "1000", "--gid", "1000", "--hostname", "sandbox", "--cap-drop", "ALL"]);
        // Guards the sandbox until the supervisor runs; it then watches its owner by itself.
        self.words(["--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]);
    }

    fn system(&mut self, policy: &Policy) -> io::Result<()> {
        let scratch = policy.limits.scratch_bytes.to_string();
        for part in system::parts() {
            match part {
                Part::Mount { host, inside } => self.mount("--ro-bind", &host, &inside),
                Part::Link { target, inside } => self.mount("--symlink", &target, &inside),
                Part::File { bytes, inside } => {
                    let descriptor = self.data(&bytes)?;
                    self.words(["--perms", "0444"]);
                    self.mount("--file", Path::new(&descriptor), &inside);
                }
            }
        }
        // Without capabilities, but with the owner's user id, which as root owns every switch of the kernel in
        // `/proc`: only a mount that is read-only denies them.
        self.words(["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"]);
        for (place, mode) in [("/dev/shm", "1777"), ("/tmp", "1777"), (system::HOME, "0700")] {
            self.words(["--perms", mode, "--size", &scratch, "--tmpfs", place]);
        }
        self.words(["--remount-ro", "/dev"]);
        for (host, inside) in &policy.readonly_mounts {
            self.mount("--ro-bind", host, inside);
        }
        Ok(())
    }

    fn workspace(&mut self, policy: &Policy) {
        self.mount("--bind", &policy.workspace, Path::new(WORKSPACE));
        for path in &policy.protected {
            let host = policy.workspace.join(path);
            let inside = Path::new(WORKSPACE).join(path);
            for (host, inside) in
                parents_below(&policy.workspace, &host).zip(parents_below(WORKSPACE.as_ref(), &inside))
            {
                // A mount point cannot be renamed, so nobody swaps the directory around a protected path.
                self.mount("--bind", host, inside);
            }
            self.mount("--ro-bind", &host, &inside);
        }
    }

    fn filter(&mut self) -> io::Result<()> {
        static FILTER: OnceLock<Vec<u8>> = OnceLock::new();
        let filter = match FILTER.get() {
            Some(filter) => filter,
            None => {
                let filter = seccomp::filter()?;
                FILTER.get_or_init(|| filter)
            }
        };
        let descriptor = self.data(filter)?;
        self.words(["--seccomp", &descriptor]);
        Ok(())
    }

    fn words<Word: AsRef<OsStr>>(&mut self, words: impl IntoIterator<Item = Word>) {
        self.arguments.extend(words.into_iter().map(|word| word.as_ref().to_owned()));
    }

    fn mount(&mut self, how: &str, from: &Path, inside: &Path) {
        self.words([OsStr::new(how), from.as_os_str(), inside.as_os_str()]);
    }

    /// The number of a descriptor from which bubblewrap will read these bytes.
    fn data(&mut self, bytes: &[u8]) -> io::Result<String> {
        let mut file = std::fs::File::from(memfd_create("windlass", MemfdFlags::CLOEXEC)?);
        file.write_all(bytes)?;
        file.rewind()?;
        let number = file.as_raw_fd().to_string();
        self.descriptors.push(file.into());
        Ok(number)
    }
}

/// The directories strictly between `root` and `path`, outermost first.
fn parents_below<'a>(root: &'a Path, path: &'a Path) -> impl Iterator<Item = &'a Path> {
    let mut parents: Vec<&Path> = path.ancestors().skip(1).take_while(|parent| *parent != root).collect();
    parents.reverse();
    parents.into_iter()
}
