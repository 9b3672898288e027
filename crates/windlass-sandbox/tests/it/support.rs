//! Rooms to run commands in, and ways to see what is left of them.

use std::{
    fs,
    future::Future,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tempfile::TempDir;
use windlass_sandbox::{
    Bubblewrap, Cgroups, Command, Docker, Error, Exit, IUnderstandThereIsNoIsolation, Policy, Process, Provider,
    Sandbox, Status, Supervisor, discard, never,
};

/// Where the tests' own program is mounted, for attacks that no shell can make.
pub const ATTACKER: &str = "/run/attacker";

/// A workspace with a sandbox over it.
pub struct Room {
    pub workspace: TempDir,
    pub sandbox: Box<dyn Sandbox>,
}

pub fn supervisor() -> Supervisor {
    Supervisor { program: env!("CARGO_BIN_EXE_windlass-supervisor").into(), args: Vec::new() }
}

/// What confines in the tests that hold for all: bubblewrap, or containers of the daemon at this socket.
pub fn confined() -> Box<dyn Provider> {
    match docker_socket() {
        Some(socket) => Box::new(Docker::new(supervisor()).socket(socket)),
        None => Box::new(bubblewrap()),
    }
}

/// Set by `make test-docker`.
pub fn docker_socket() -> Option<PathBuf> {
    std::env::var_os("WINDLASS_TEST_DOCKER").map(PathBuf::from)
}

/// Whose system is an image's, and whose limits are held by control groups.
pub fn is_docker() -> bool {
    docker_socket().is_some()
}

/// Without control groups, so that what is tested is what works everywhere.
pub fn bubblewrap() -> Bubblewrap {
    Bubblewrap::new(supervisor()).cgroups(Cgroups::Never)
}

/// With hard limits, where this user may have them.
pub fn with_cgroups() -> Bubblewrap {
    Bubblewrap::new(supervisor()).cgroups(Cgroups::WhereWritable)
}

pub fn process() -> Process {
    Process::new(IUnderstandThereIsNoIsolation, supervisor()).cgroups(Cgroups::Never)
}

pub fn workspace() -> TempDir {
    TempDir::with_prefix("windlass-test-").expect("a temporary directory")
}

pub fn own_program() -> PathBuf {
    std::env::current_exe().expect("a path to the tests")
}

impl Room {
    pub async fn open(provider: &dyn Provider) -> Self {
        Self::open_with(provider, |_| {}).await
    }

    pub async fn open_with(provider: &dyn Provider, change: impl FnOnce(&mut Policy)) -> Self {
        let workspace = workspace();
        let mut policy = Policy::new(workspace.path());
        policy.readonly_mounts.push((own_program(), ATTACKER.into()));
        change(&mut policy);
        let sandbox = in_time(provider.open(policy)).await.expect("opens");
        Self { workspace, sandbox }
    }

    pub async fn run(&self, command: Command) -> Exit {
        self.try_run(command).await.expect("runs")
    }

    pub async fn try_run(&self, command: Command) -> Result<Exit, Error> {
        in_time(self.sandbox.run(command, &mut discard, never())).await
    }

    pub async fn bash(&self, script: &str) -> Exit {
        self.run(Command::bash(script)).await
    }

    /// What a script prints; it must succeed.
    pub async fn says(&self, script: &str) -> String {
        let exit = self.bash(script).await;
        assert_eq!(exit.status, Status::Code(0), "{script}: {}", text(&exit.combined));
        text(&exit.combined).trim_end().to_owned()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.workspace.path().join(name)
    }
}

/// A pipe by the name of `gate`: commands wait at it with `read < gate`, one byte each.
pub struct Gate {
    writer: fs::File,
}

impl Gate {
    pub fn build(room: &Room) -> Self {
        let path = room.file("gate");
        rustix::fs::mkfifoat(rustix::fs::CWD, &path, 0o600.into()).expect("a pipe");
        // Reading and writing, so that neither end waits for the other.
        let writer = fs::File::options().read(true).write(true).open(path).expect("opens");
        Self { writer }
    }

    pub fn let_through(&self, commands: usize) {
        (&self.writer).write_all(&vec![b'\n'; commands]).expect("writes");
    }
}

/// A guard against hanging, far beyond anything expected.
pub async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.expect("did not hang")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A number of seconds to sleep that no other process on the machine sleeps: its mark.
pub fn mark() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}.{:03}", 1_000_000 + std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// How many processes of this machine carry the mark, zombies aside.
pub fn marked(mark: &str) -> usize {
    let has_mark = |pid: &Path| {
        let cmdline = fs::read(pid.join("cmdline")).unwrap_or_default();
        text(&cmdline).contains(mark)
    };
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    entries
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.parse::<i32>().is_ok()))
        .filter(|entry| has_mark(&entry.path()))
        .count()
}

/// Waits, with a guard, for something that another process does.
pub async fn eventually(what: &str, mut happened: impl FnMut() -> bool) {
    let wait = async {
        while !happened() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(60), wait).await.is_ok(), "{what} never happened");
}

pub fn bubblewrap_of(room: &Room) -> i32 {
    let workspace = room.workspace.path().to_str().expect("text");
    let is_it = |pid: &i32| {
        let cmdline = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        // Above its first process, which is the supervisor, there is only bubblewrap.
        text(&cmdline).contains(workspace)
    };
    let names = fs::read_dir("/proc").expect("/proc").flatten().map(|entry| entry.file_name());
    let mut found = names.filter_map(|name| name.to_str()?.parse().ok()).filter(is_it);
    found.next().expect("bubblewrap runs")
}

/// A script in the place of bubblewrap.
pub fn write_program(directory: &TempDir, script: &str) -> PathBuf {
    let path = directory.path().join("bwrap");
    fs::write(&path, script).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
    path
}
