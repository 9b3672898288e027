//! How much memory commands use, counted from what `/proc` shows, where no control group counts; and freeing what outlives
//! them.
//!
//! Counted is what ordinary programs use: memory of their own, memory that they share with each other, files in the
//! scratch places, System V segments. Not counted, because nothing shows it: buffers of pipes and sockets, and shared
//! memory that a program has unmapped in part while it holds on to the rest. Who means to can hide memory there; only a
//! control group holds that.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Read,
    path::Path,
};

use rustix::fs::statvfs;

use crate::{
    Limits,
    policy::{Home, Scratch},
};

/// What the kernel keeps for a file in memory, however short that is.
const PER_FILE: u64 = 1 << 10;
/// A list of mappings that is longer is not read on: a command must not keep the supervisor busy with it.
const LONGEST_LIST: u64 = 4 << 20;

/// Shared memory without a name, by its inode, which is the same for all who share it.
pub(crate) type Shared = BTreeMap<u64, u64>;

/// A process's own memory, and what is new about its shared memory, which is noted in `shared`. Libraries are not counted:
/// they are files of the host, and would count once per process.
pub(crate) fn of_process(pid: i32, shared: &mut Shared) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let kibibytes = |name: &str| {
        let field = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let number = field.and_then(|field| field.trim().strip_suffix(" kB"));
        number.and_then(|number| number.parse::<u64>().ok()).unwrap_or(0)
    };
    let own = (kibibytes("RssAnon") + kibibytes("VmSwap")) << 10;
    match kibibytes("RssShmem") << 10 {
        0 => own,
        resident => own + note_shared(&read_mappings(pid), resident, shared),
    }
}

/// Whether two processes have one memory: a program that starts another is two processes with one memory until the other one
/// is loaded. Where the kernel does not say, each has its own.
pub(crate) fn is_one(pid: i32, other: i32) -> bool {
    const MEMORY: libc::c_long = 1;
    let (pid, other) = (libc::c_long::from(pid), libc::c_long::from(other));
    #[expect(unsafe_code, reason = "neither std nor rustix knows the call")]
    // SAFETY: compares what two processes have; nothing is read or written.
    let compared = unsafe { libc::syscall(libc::SYS_kcmp, pid, other, MEMORY, 0, 0) };
    compared == 0
}

fn read_mappings(pid: i32) -> Vec<u8> {
    let mut list = Vec::new();
    // A process that ended meanwhile uses nothing any more.
    if let Ok(file) = File::open(format!("/proc/{pid}/maps")) {
        let _ = file.take(LONGEST_LIST).read_to_end(&mut list);
    }
    list
}

/// By how much this process's view of its shared memory exceeds what others showed of the same. More may be mapped than
/// was ever touched, hence `resident`, which is for all of its shared memory together.
fn note_shared(mappings: &[u8], resident: u64, shared: &mut Shared) -> u64 {
    let mut extents = Shared::new();
    for (inode, bytes) in mappings.split(|byte| *byte == b'\n').filter_map(parse_mapping) {
        *extents.entry(inode).or_default() += bytes;
    }
    let mut news = 0;
    for (inode, extent) in extents {
        let seen = shared.entry(inode).or_default();
        let now = extent.min(resident).max(*seen);
        news += now - *seen;
        *seen = now;
    }
    news
}

/// Inode and size, of a mapping of shared memory without a name; files in the scratch places are counted there.
fn parse_mapping(line: &[u8]) -> Option<(u64, u64)> {
    let line = str::from_utf8(line.strip_suffix(b" /dev/zero (deleted)")?).ok()?;
    let mut fields = line.split_ascii_whitespace();
    let (start, end) = fields.next()?.split_once('-')?;
    let address = |digits| u64::from_str_radix(digits, 16).ok();
    let inode = fields.nth(3)?.parse().ok()?;
    Some((inode, address(end)?.checked_sub(address(start)?)?))
}

/// What lasts when commands end, in a confined sandbox: the scratch places and System V segments.
pub(crate) fn lasting(home: Home) -> u64 {
    let scratch: u64 = Scratch::all(home).map(|scratch| in_files(scratch.place)).sum();
    let segments: u64 = segments().iter().map(|segment| segment.resident).sum();
    scratch + segments
}

fn in_files(place: &str) -> u64 {
    let Ok(found) = statvfs(place) else { return 0 };
    let bytes = found.f_blocks.saturating_sub(found.f_bfree) * found.f_frsize;
    bytes + found.f_files.saturating_sub(found.f_ffree) * PER_FILE
}

struct Segment {
    identifier: i32,
    resident: u64,
}

fn segments() -> Vec<Segment> {
    let table = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    table.lines().skip(1).filter_map(parse_segment).collect()
}

/// `key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap`.
fn parse_segment(line: &str) -> Option<Segment> {
    let mut fields = line.split_ascii_whitespace();
    let identifier = fields.nth(1)?.parse().ok()?;
    let resident: u64 = fields.nth(12)?.parse().ok()?;
    let swapped: u64 = fields.next()?.parse().ok()?;
    Some(Segment { identifier, resident: resident + swapped })
}

/// To be called while no command runs, and only where the namespaces are the sandbox's own. Segments outlive who made
/// them, and nobody would free them. Files stay, unless they fill the memory: no command could live to remove them then.
/// Their sizes are bounded to less than that, their number is not.
pub(crate) fn tidy(limits: &Limits, home: Home) {
    remove_segments();
    if lasting(home) > limits.memory_bytes / 4 * 3 {
        Scratch::all(home).for_each(|scratch| empty(Path::new(scratch.place)));
    }
}

fn remove_segments() {
    for Segment { identifier, .. } in segments() {
        #[expect(unsafe_code, reason = "neither std nor rustix knows System V segments")]
        // SAFETY: marks a segment for removal; nothing is read or written, and this process has none attached.
        unsafe {
            libc::shmctl(identifier, libc::IPC_RMID, std::ptr::null_mut());
        }
    }
}

/// As far as it goes: what cannot be removed stays.
fn empty(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let path = entry.path();
        let _ = match entry.file_type() {
            Ok(kind) if kind.is_dir() => fs::remove_dir_all(path),
            _ => fs::remove_file(path),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPPINGS: &[u8] = b"\
        55d0-55d8 r--p 00000000 08:01 77 /usr/bin/x\n\
        1000-3000 rw-s 00000000 00:01 5 /dev/zero (deleted)\n\
        4000-5000 r--s 00002000 00:01 5 /dev/zero (deleted)\n\
        8000-9000 rw-s 00000000 00:01 6 /dev/zero (deleted)\n\
        a000-b000 rw-s 00000000 00:30 9 /tmp/dev/zero (deleted)\n\
        \xff /dev/zero (deleted)\n";

    #[test]
    fn memory_that_is_shared_counts_once_and_only_as_far_as_it_is_used() {
        let mut shared = Shared::new();
        assert_eq!(note_shared(MAPPINGS, 0x2000, &mut shared), 0x2000 + 0x1000);
        assert_eq!(note_shared(MAPPINGS, 0x2000, &mut shared), 0, "another process with the same");
        assert_eq!(note_shared(MAPPINGS, 0x9000, &mut shared), 0x1000, "one that has touched more of it");
        assert_eq!(shared, Shared::from([(5, 0x3000), (6, 0x1000)]));
    }

    #[test]
    fn a_segment_is_read_from_its_line() {
        let line =
            "         0          3  1600  1048576  123  123  0  1000  1000  1000  1000  0  0  1700000000  4096  8192";
        let segment = parse_segment(line).expect("parses");
        assert_eq!((segment.identifier, segment.resident), (3, 4096 + 8192));
        assert!(parse_segment("key shmid perms").is_none());
    }

    #[test]
    fn a_process_counts_what_it_has() {
        let own_pid = std::process::id().cast_signed();
        let before = of_process(own_pid, &mut Shared::new());
        let taken = vec![1_u8; 64 << 20];
        let after = of_process(own_pid, &mut Shared::new());
        assert!(after >= before + (60 << 20), "{before}, then {after} with {} more", taken.len());
    }
}
