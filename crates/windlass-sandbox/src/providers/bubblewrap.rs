//! Confinement by bubblewrap: own mount, process, IPC, host name, network and, where possible, user and control group
//! namespaces; the workspace read-write, the system read-only, everything else absent; no network but an empty
//! loopback; a system call filter; no capabilities.
//!
//! Known gaps. A socket with a path is not a network: one that lies in the workspace or a read-only mount can be
//! connected to. Where the owner is root, so are the sandbox's processes to the file system: without capabilities,
//! but able to change the modes of the host's `/dev/null` and its like, which are mounted from the host. Where no control
//! group holds the memory, what the supervisor's count does not see is not held.

mod refusal;
mod system;

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    io::{self, Seek, Write},
    os::fd::{AsRawFd, OwnedFd},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use rustix::fs::{MemfdFlags, memfd_create};
use system::Part;

use crate::{
    BoxFuture, Cgroups, Error, Policy, Provider, Sandbox, Supervisor,
    host::{Failure, Groups, Heard, Inside, Program, SEALED, Spawn, Start, Trap, WayOut, capture_version, path_to},
    policy::{DEFAULT_PATH, HOME, Held, PROXY_PORT, Scratch, WORKSPACE, around},
    seccomp::{self, MemoryFiles},
    wire::Setup,
};

/// Looked for here and not on `PATH`, which a workspace may have touched.
const PROGRAMS: [&str; 3] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

/// The default provider.
#[derive(Debug)]
pub struct Bubblewrap {
    program: Option<PathBuf>,
    supervisor: Supervisor,
    supervisor_program: io::Result<Program>,
    cgroups: Cgroups,
}

impl Bubblewrap {
    pub fn new(supervisor: Supervisor) -> Self {
        let supervisor_program = Program::open(&supervisor.program);
        Self { program: None, supervisor, supervisor_program, cgroups: Cgroups::default() }
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
        let (mut policy, Held { placeholders, places }) = policy.resolve()?.guarded().await?;
        let groups = Groups::create(self.cgroups, &policy.limits);
        let memory_held = groups.as_ref().is_some_and(Groups::holds_memory);
        let processes_held = groups.as_ref().is_some_and(Groups::holds_processes);
        let supervisor = self.supervisor_program.as_ref().map_err(|error| self.supervisor.missing(error))?;
        let memory_files = if memory_held { MemoryFiles::Allowed } else { MemoryFiles::Absent };
        let line = CommandLine::build(&policy, memory_files, supervisor, &self.supervisor.args);
        let line = line.map_err(Error::io("prepare a sandbox"))?;
        let mut spawn = Spawn::new(program, Heard::Stderr);
        spawn.arguments = line.arguments;
        spawn.inherited = line.descriptors;
        let mut env = std::mem::take(&mut policy.env);
        env.entry("PATH".into()).or_insert_with(|| DEFAULT_PATH.into());
        env.entry("HOME".into()).or_insert_with(|| HOME.into());
        let way_out = WayOut::of(&policy.network, PROXY_PORT);
        let listen = way_out.as_ref().map(|way_out| way_out.port);
        let start = Start {
            spawn,
            lock: policy.lock.take(),
            groups,
            placeholders,
            scratch: None,
            inside: Inside { workspace: PathBuf::from(WORKSPACE), env, way_out },
        };
        let mut trap = None;
        let prepare = || {
            let bait = Trap::set(&policy).and_then(|set| trap.insert(set).bait(SEALED, &policy, &places));
            let bait = Some(bait.map_err(Error::io("set the canary's trap"))?);
            let (limits, home) = (policy.limits.clone(), policy.where_home_is());
            Ok(Setup { bait, memory_held, processes_held, listen, limits, home, scratch: None })
        };
        match start.open(prepare).await {
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
    fn build(policy: &Policy, memory_files: MemoryFiles, supervisor: &Program, args: &[OsString]) -> io::Result<Self> {
        let mut line = Self { arguments: Vec::new(), descriptors: Vec::new() };
        line.namespaces();
        line.system(policy)?;
        line.workspace(policy);
        line.filter(memory_files)?;
        // Last, or nothing more could be mounted. Bubblewrap's root is a writable file system in memory otherwise.
        line.words(["--remount-ro", "/"]);
        let supervisor = supervisor.descriptor()?;
        line.words(["--chdir", WORKSPACE, "--", &path_to(&supervisor)]);
        line.words(args);
        line.descriptors.push(supervisor);
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
        let (uid, gid) = system::USER;
        self.words(["--uid", &uid.to_string(), "--gid", &gid.to_string()]);
        self.words(["--hostname", "sandbox", "--cap-drop", "ALL"]);
        // Guards the sandbox until the supervisor runs; it then watches its owner by itself.
        self.words(["--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]);
    }

    fn system(&mut self, policy: &Policy) -> io::Result<()> {
        for part in system::parts() {
            match part {
                Part::Mount { host, inside } => self.mount("--ro-bind", host, inside),
                Part::Link { target, inside } => self.mount("--symlink", target, inside),
                Part::File { bytes, inside } => {
                    let descriptor = self.data(bytes)?;
                    self.words(["--perms", "0444"]);
                    self.mount("--file", Path::new(&descriptor), inside);
                }
            }
        }
        // Without capabilities, but with the owner's user id, which as root owns every switch of the kernel in
        // `/proc`: only a mount that is read-only denies them.
        self.words(["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev"]);
        for path in system::masked() {
            // Mounted like this it is no device, and nobody can open it.
            self.mount("--ro-bind", Path::new("/dev/null"), path);
        }
        for scratch in Scratch::all(policy.where_home_is()) {
            let size = scratch.bytes(&policy.limits).to_string();
            self.words(["--perms", scratch.mode, "--size", &size, "--tmpfs", scratch.place]);
        }
        if let Some(home) = &policy.home {
            self.mount("--bind", home, Path::new(HOME));
        }
        self.words(["--remount-ro", "/dev"]);
        for (host, inside) in &policy.readonly_mounts {
            self.mount("--ro-bind", host, inside);
        }
        Ok(())
    }

    fn workspace(&mut self, policy: &Policy) {
        self.mount("--bind", &policy.workspace, Path::new(WORKSPACE));
        let protected: BTreeSet<&Path> = policy.protected.iter().map(PathBuf::as_path).collect();
        // Each once, before what is in it and before everything protected: mounted again, it would lie on top of what is
        // there already.
        for (how, paths) in [("--bind", around(&policy.protected)), ("--ro-bind", protected)] {
            for path in paths {
                self.mount(how, &policy.workspace.join(path), &Path::new(WORKSPACE).join(path));
            }
        }
    }

    fn filter(&mut self, memory_files: MemoryFiles) -> io::Result<()> {
        static FILTERS: [OnceLock<Vec<u8>>; 2] = [const { OnceLock::new() }; 2];
        let once = match memory_files {
            MemoryFiles::Allowed => &FILTERS[0],
            MemoryFiles::Absent => &FILTERS[1],
        };
        let filter = match once.get() {
            Some(filter) => filter,
            None => {
                let filter = seccomp::filter(memory_files)?;
                once.get_or_init(|| filter)
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
