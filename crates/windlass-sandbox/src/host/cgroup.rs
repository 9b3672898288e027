//! Control groups for one sandbox, below the owner's own group, where the owner may make them.
//!
//! Version 2 where it has the memory and pids controllers, version 1 for each that it has not, nothing where nothing
//! may be written. Never outside the owner's group or its parent: that would escape limits somebody set for us. Nothing
//! is switched on for existing groups.

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use rustix::{
    event::{Timespec, poll},
    fs::Access,
};

use crate::{Cgroups, Limits};

const PREFIX: &str = "windlass-";

/// Removed when dropped, if nothing runs in them any more.
pub(crate) struct Groups {
    groups: Vec<Group>,
}

struct Group {
    path: PathBuf,
    version: Version,
    holds_memory: bool,
    holds_processes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

/// The owner's own groups, as directories.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    unified: Option<PathBuf>,
    memory: Option<PathBuf>,
    pids: Option<PathBuf>,
}

/// How a process comes into a group.
pub(crate) struct Door {
    /// Joins who writes `0` to it.
    pub(crate) file: OwnedFd,
    /// The group itself, where a process can be born into it.
    pub(crate) directory: Option<OwnedFd>,
}

/// Where groups may be made, looked up once.
struct Parents {
    unified: Vec<PathBuf>,
    memory: Option<PathBuf>,
    pids: Option<PathBuf>,
}

impl Groups {
    pub(crate) fn create(whether: Cgroups, limits: &Limits) -> Option<Self> {
        match whether {
            Cgroups::WhereWritable => Self::create_where_writable(limits),
            Cgroups::Never => None,
        }
    }

    fn create_where_writable(limits: &Limits) -> Option<Self> {
        static PARENTS: OnceLock<Parents> = OnceLock::new();
        let parents = PARENTS.get_or_init(|| Places::find().parents());
        let name = unique_name();
        let unified = parents.unified.iter().find_map(|parent| create_unified(parent, &name, limits));
        let groups: Vec<Group> = match unified {
            Some(group) => vec![group],
            None => {
                let memory = parents.memory.as_deref().and_then(|parent| create_memory(parent, &name, limits));
                let pids = parents.pids.as_deref().and_then(|parent| create_pids(parent, &name, limits));
                memory.into_iter().chain(pids).collect()
            }
        };
        (!groups.is_empty()).then_some(Self { groups })
    }

    /// Of the group that holds the memory, if one does.
    pub(crate) fn memory_version(&self) -> Option<Version> {
        self.groups.iter().find(|group| group.holds_memory).map(|group| group.version)
    }

    /// Of the group that holds the number of processes, if one does.
    pub(crate) fn processes_version(&self) -> Option<Version> {
        self.groups.iter().find(|group| group.holds_processes).map(|group| group.version)
    }

    pub(crate) fn holds_memory(&self) -> bool {
        self.memory_version().is_some()
    }

    pub(crate) fn holds_processes(&self) -> bool {
        self.processes_version().is_some()
    }

    /// For a process of one thread to join them.
    pub(crate) fn doors(&self) -> io::Result<Vec<Door>> {
        self.groups.iter().map(Group::door).collect()
    }

    /// How many processes the kernel has killed for want of memory.
    pub(crate) fn oom_kills(&self) -> u64 {
        let memory = self.groups.iter().find(|group| group.holds_memory);
        memory.and_then(Group::oom_kills).unwrap_or(0)
    }
}

impl Group {
    fn oom_kills(&self) -> Option<u64> {
        let file = match self.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        let text = fs::read_to_string(self.path.join(file)).ok()?;
        text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
    }

    fn write(&self, file: &str, value: &str) -> io::Result<()> {
        fs::write(self.path.join(file), value)
    }

    fn door(&self) -> io::Result<Door> {
        match self.version {
            Version::One => Door::of_single(&self.path),
            Version::Two => Door::of_unified(&self.path),
        }
    }
}

/// Moving a whole process makes the kernel wait for every processor of the machine, some ten milliseconds; there is a way
/// around that in each version.
impl Door {
    /// A thread that moves itself waits for nobody.
    fn of_single(group: &Path) -> io::Result<Self> {
        Ok(Self { file: OpenOptions::new().write(true).open(group.join("tasks"))?.into(), directory: None })
    }

    /// Here no thread moves by itself, but a process can be born inside.
    pub(crate) fn of_unified(group: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).open(group.join("cgroup.procs"))?.into();
        Ok(Self { file, directory: Some(File::open(group)?.into()) })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The kernel may take a moment to notice that the last process is gone.
        for _ in 0..50 {
            match fs::remove_dir(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    let _ = poll(&mut [], Some(&Timespec { tv_sec: 0, tv_nsec: 1_000_000 }));
                }
                _ => return,
            }
        }
    }
}

impl Places {
    fn find() -> Self {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        Self::parse(&groups, &mounts)
    }

    /// What abandoned groups stand there are removed on the way.
    fn parents(self) -> Parents {
        let own = self.unified.iter().flat_map(|own| [Some(own.as_path()), own.parent()]).flatten();
        let unified = own.filter(|parent| is_writable(parent) && passes_on_controllers(parent));
        let parents = Parents {
            unified: unified.map(Path::to_path_buf).collect(),
            memory: self.memory.filter(|parent| is_writable(parent)),
            pids: self.pids.filter(|parent| is_writable(parent)),
        };
        for parent in parents.unified.iter().chain(&parents.memory).chain(&parents.pids) {
            remove_abandoned(parent);
        }
        parents
    }

    fn parse(groups: &str, mounts: &str) -> Self {
        let mounts: Vec<Mount> = mounts.lines().filter_map(Mount::parse).collect();
        let mut places = Self::default();
        for line in groups.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(own)) = (fields.next(), fields.next()) else {
                continue;
            };
            let directory = |controller: Option<&str>| {
                mounts.iter().find(|mount| mount.carries(controller)).map(|mount| mount.directory(own))
            };
            if controllers.is_empty() {
                places.unified = directory(None);
            }
            for controller in controllers.split(',') {
                match controller {
                    "memory" => places.memory = directory(Some(controller)),
                    "pids" => places.pids = directory(Some(controller)),
                    _ => {}
                }
            }
        }
        places
    }
}

struct Mount<'a> {
    root: &'a str,
    point: &'a str,
    kind: &'a str,
    options: &'a str,
}

impl<'a> Mount<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let mut before = before.split(' ').skip(3);
        let mut after = after.split(' ');
        Some(Self { root: before.next()?, point: before.next()?, kind: after.next()?, options: after.nth(1)? })
    }

    fn carries(&self, controller: Option<&str>) -> bool {
        match controller {
            None => self.kind == "cgroup2",
            Some(name) => self.kind == "cgroup" && self.options.split(',').any(|option| option == name),
        }
    }

    /// In a container the mount may show only a part of the hierarchy.
    fn directory(&self, own: &str) -> PathBuf {
        let below = Path::new(own).strip_prefix(self.root).unwrap_or(Path::new(own));
        Path::new(self.point).join(below.strip_prefix("/").unwrap_or(below))
    }
}

/// Moving a process needs leave to write in the group that both ends share, hence the look at the parent.
fn is_writable(parent: &Path) -> bool {
    rustix::fs::access(parent.join("cgroup.procs"), Access::WRITE_OK).is_ok()
}

/// Whether groups below this one can hold what we want held.
fn passes_on_controllers(parent: &Path) -> bool {
    let passed_on = fs::read_to_string(parent.join("cgroup.subtree_control")).unwrap_or_default();
    ["memory", "pids"].iter().all(|wanted| passed_on.split_ascii_whitespace().any(|name| name == *wanted))
}

fn create(parent: &Path, name: &str, version: Version) -> Option<Group> {
    let path = parent.join(name);
    fs::create_dir(&path).ok()?;
    let group = Group { path, version, holds_memory: false, holds_processes: false };
    group.door().is_ok().then_some(group)
}

fn create_unified(parent: &Path, name: &str, limits: &Limits) -> Option<Group> {
    let mut group = create(parent, name, Version::Two)?;
    group.write("memory.max", &limits.memory_bytes.to_string()).ok()?;
    group.write("pids.max", &limits.processes.to_string()).ok()?;
    // Without swap this does not exist, and nothing is lost.
    let _ = group.write("memory.swap.max", "0");
    group.holds_memory = true;
    group.holds_processes = true;
    Some(group)
}

fn create_memory(parent: &Path, name: &str, limits: &Limits) -> Option<Group> {
    let mut group = create(parent, name, Version::One)?;
    group.write("memory.limit_in_bytes", &limits.memory_bytes.to_string()).ok()?;
    let _ = group.write("memory.memsw.limit_in_bytes", &limits.memory_bytes.to_string());
    group.holds_memory = true;
    Some(group)
}

fn create_pids(parent: &Path, name: &str, limits: &Limits) -> Option<Group> {
    let mut group = create(parent, name, Version::One)?;
    group.write("pids.max", &limits.processes.to_string()).ok()?;
    group.holds_processes = true;
    Some(group)
}

/// An owner that was killed could not remove its groups. A group with a process in it cannot be removed, so a pid that
/// was used again costs nothing.
fn remove_abandoned(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(owner_of) else {
            continue;
        };
        if !Path::new("/proc").join(owner).exists() {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn owner_of(name: &str) -> Option<&str> {
    let (owner, _) = name.strip_prefix(PREFIX)?.split_once('-')?;
    owner.parse::<u32>().is_ok().then_some(owner)
}

fn unique_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{PREFIX}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A group of version 2 for a test, and how `/proc/self/cgroup` ends for who is in it.
#[cfg(test)]
pub(crate) fn scratch_group() -> Option<(PathBuf, String)> {
    let name = unique_name();
    let path = Places::find().unified?.join(&name);
    fs::create_dir(&path).ok()?;
    Some((path, format!("/{name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(groups: &str, mounts: &str, unified: Option<&str>, memory: Option<&str>, pids: Option<&str>) {
        let path = |path: Option<&str>| path.map(PathBuf::from);
        let expected = Places { unified: path(unified), memory: path(memory), pids: path(pids) };
        assert_eq!(Places::parse(groups, mounts), expected);
    }

    #[test]
    fn finds_the_owners_groups_in_every_mode() {
        check(
            "0::/user.slice/app.scope\n",
            "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate",
            Some("/sys/fs/cgroup/user.slice/app.scope"),
            None,
            None,
        );
        check(
            "8:pids:/\n4:cpu,memory:/job/7\n0::/\n",
            "31 23 0:27 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n\
             32 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,cpu,memory\n\
             33 23 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
            Some("/sys/fs/cgroup/unified/"),
            Some("/sys/fs/cgroup/memory/job/7"),
            Some("/sys/fs/cgroup/pids/"),
        );
        check(
            "4:memory:/docker/abc\n",
            "32 23 0:28 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory",
            None,
            Some("/sys/fs/cgroup/memory/"),
            None,
        );
        check("", "", None, None, None);
    }

    #[test]
    fn only_our_own_names_are_ever_removed() {
        assert_eq!(owner_of("windlass-12-0"), Some("12"));
        assert_eq!(owner_of("windlass-x-0"), None);
        assert_eq!(owner_of("windlass-12"), None);
        assert_eq!(owner_of("system.slice"), None);
    }
}
