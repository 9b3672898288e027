//! The system call filter: a table of what no build, test or tool needs and an attacker does.
//!
//! Everything else is allowed, since a sandbox without capabilities, devices and network already denies most; this
//! removes the kernel's sharp corners. What is denied fails with `EPERM`, or with `ENOSYS` where callers are known
//! to fall back on something else, or where we know nothing of the call.

use std::{collections::BTreeMap, io};

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen::Dword, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

/// Denied whatever the arguments.
const DENIED: &[c_long] = &[
    // Mounting, in all its forms.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    // Other namespaces. `unshare` and `clone` are looked at below.
    libc::SYS_setns,
    // Looking into other processes: the supervisor holds the lock. Debuggers and leak sanitizers do not work inside.
    // `kcmp` compares and shows nothing, and the supervisor counts memory by it.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_process_madvise,
    // The kernel's keyrings are not part of any namespace.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Large, young or powerful interfaces with a record of holes. Runtimes that use io_uring do without it.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_fanotify_init,
    libc::SYS_open_by_handle_at,
    // The machine itself.
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ustat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_sysfs,
];

/// Not there, as far as callers can tell, and they fall back on `clone`, `openat` and `fchmodat`: the arguments are in
/// memory, where a filter cannot look. Nobody falls back from secret memory, and nobody needs it.
const ABSENT: &[c_long] = &[libc::SYS_clone3, libc::SYS_openat2, SYS_FCHMODAT2, libc::SYS_memfd_secret];

/// The same number on every architecture; newer than some of the libraries we build against.
const SYS_FCHMODAT2: c_long = 452;

/// `removexattrat`. What the kernel gained after it, a new way to mount (`open_tree_attr`) for one, is not there until
/// somebody has looked at it and moves this on: programs must do without it on older kernels anyway. The calls of x32 have
/// numbers of their own, far above, and would otherwise pass the table by.
const LAST_KNOWN: c_long = 466;

/// Files in memory that no process has mapped and no place shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryFiles {
    /// A control group counts them.
    Allowed,
    /// Nothing would. Callers fall back on `/dev/shm`.
    Absent,
}

/// Where a mode is passed, by argument. A set-user-id file in the workspace is a trap for whoever shares the host.
const MODES: &[(c_long, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_openat, 3),
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
];

const NAMESPACE_FLAGS: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Only for `unshare`; in `clone` this bit belongs to the exit signal.
const CLONE_NEWTIME: i32 = 0x80;

/// What builds and tests open. Netlink only for asking about routes, which name lookups do.
const FAMILIES: [i32; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
const NETLINK_ROUTE: u64 = 0;

/// Pushing characters into somebody's terminal.
const TERMINAL_INPUT: [u64; 2] = [libc::TIOCSTI, libc::TIOCLINUX];

/// The filter as the kernel takes it, for bubblewrap's `--seccomp`.
pub(crate) fn filter(memory_files: MemoryFiles) -> io::Result<Vec<u8>> {
    let program = compile(memory_files).map_err(|error| io::Error::other(error.to_string()))?;
    let mut bytes = Vec::with_capacity(program.len() * 8);
    for instruction in program {
        bytes.extend(instruction.code.to_ne_bytes());
        bytes.extend([instruction.jt, instruction.jf]);
        bytes.extend(instruction.k.to_ne_bytes());
    }
    Ok(bytes)
}

/// For this process and all that it starts, from now on.
pub(crate) fn apply(memory_files: MemoryFiles) -> io::Result<()> {
    let program = compile(memory_files).map_err(|error| io::Error::other(error.to_string()))?;
    seccompiler::apply_filter(&program).map_err(|error| io::Error::other(error.to_string()))
}

fn compile(memory_files: MemoryFiles) -> Result<BpfProgram, BackendError> {
    let rules = rules()?;
    // The kernel walks the filter for every call there is when it is installed, and again for every call it must look at
    // later. One long table makes opening a sandbox noticeably slower than a few short ones.
    let mut parts: Vec<(i64, BpfProgram)> = Vec::new();
    let numbers: Vec<i64> = rules.keys().copied().collect();
    for chunk in numbers.chunks(PART) {
        let part = chunk.iter().map(|number| (*number, rules[number].clone())).collect();
        let denial = SeccompAction::Errno(libc::EPERM as u32);
        let filter = SeccompFilter::new(part, SeccompAction::Allow, denial, ARCHITECTURE)?;
        parts.push((chunk[0], filter.try_into()?));
    }
    Ok(preamble(memory_files).into_iter().chain(choose(parts)).collect())
}

/// How many calls share a table.
const PART: usize = 8;

/// Halves the parts until one is left, by the number of the call, which is loaded already.
fn choose(mut parts: Vec<(i64, BpfProgram)>) -> BpfProgram {
    if parts.len() < 2 {
        return parts.pop().map(|(_, program)| program).unwrap_or_default();
    }
    let upper = parts.split_off(parts.len() / 2);
    let first_of_upper = upper[0].0;
    let lower = choose(parts);
    // Conditional jumps reach 255 instructions only, plain ones any distance.
    let is_lower = instruction(0x35, 0, 1, first_of_upper as u32);
    let to_upper = instruction(0x05, 0, 0, lower.len() as u32);
    [is_lower, to_upper].into_iter().chain(lower).chain(choose(upper)).collect()
}

fn rules() -> Result<BTreeMap<i64, Vec<SeccompRule>>, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    for number in DENIED {
        // No rule means: always.
        rules.insert(*number, Vec::new());
    }
    for (number, argument) in MODES {
        for bit in [libc::S_ISUID, libc::S_ISGID] {
            rules.entry(*number).or_default().push(has_bit(*argument, bit.into())?);
        }
    }
    for flag in NAMESPACE_FLAGS {
        for number in [libc::SYS_clone, libc::SYS_unshare] {
            rules.entry(number).or_default().push(has_bit(0, flag as u32 as u64)?);
        }
    }
    rules.entry(libc::SYS_unshare).or_default().push(has_bit(0, CLONE_NEWTIME as u64)?);
    rules.insert(libc::SYS_socket, vec![unlisted_family()?, netlink_beyond_routes()?]);
    let inputs = TERMINAL_INPUT.iter().map(|request| rule(&[(1, SeccompCmpOp::Eq, *request)]));
    rules.insert(libc::SYS_ioctl, inputs.collect::<Result<_, _>>()?);
    Ok(rules)
}

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: TargetArch = TargetArch::x86_64;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: TargetArch = TargetArch::aarch64;

fn unlisted_family() -> Result<SeccompRule, BackendError> {
    rule(&FAMILIES.map(|family| (0, SeccompCmpOp::Ne, family as u64)))
}

fn netlink_beyond_routes() -> Result<SeccompRule, BackendError> {
    rule(&[(0, SeccompCmpOp::Eq, libc::AF_NETLINK as u64), (2, SeccompCmpOp::Ne, NETLINK_ROUTE)])
}

fn has_bit(argument: u8, bit: u64) -> Result<SeccompRule, BackendError> {
    rule(&[(argument, SeccompCmpOp::MaskedEq(bit), bit)])
}

/// All conditions together. Arguments are compared as the 32 bits that the kernel looks at; comparing 64 would be
/// fooled by garbage in the upper half.
fn rule(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, BackendError> {
    let conditions = conditions
        .iter()
        .map(|(argument, operator, value)| SeccompCondition::new(*argument, Dword, operator.clone(), *value))
        .collect::<Result<_, _>>()?;
    SeccompRule::new(conditions)
}

/// Runs before the table, for what the table cannot say: another error number.
fn preamble(memory_files: MemoryFiles) -> BpfProgram {
    const LOAD_NUMBER: sock_filter = instruction(0x20, 0, 0, 0);
    let refuse = |errno: i32| instruction(0x06, 0, 0, 0x0005_0000 | errno as u32);
    let mut program = vec![LOAD_NUMBER, instruction(0x25, 0, 1, LAST_KNOWN as u32), refuse(libc::ENOSYS)];
    for number in absent(memory_files) {
        program.extend([instruction(0x15, 0, 1, number as u32), refuse(libc::ENOSYS)]);
    }
    program
}

fn absent(memory_files: MemoryFiles) -> impl Iterator<Item = c_long> {
    let memory_file = (memory_files == MemoryFiles::Absent).then_some(libc::SYS_memfd_create);
    ABSENT.iter().copied().chain(memory_file)
}

const fn instruction(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter { code, jt, jf, k }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_compiles_and_fits() {
        let filter = filter(MemoryFiles::Absent).expect("compiles");
        assert_eq!(filter.len() % 8, 0);
        assert!(filter.len() / 8 < 4096, "the kernel takes 4096 instructions");
    }

    const ALLOW: u32 = 0x7fff_0000;
    const EPERM: u32 = 0x0005_0000 | libc::EPERM as u32;
    const ENOSYS: u32 = 0x0005_0000 | libc::ENOSYS as u32;
    const KILL: u32 = 0x8000_0000;

    /// What the kernel would do, for those instructions that we use. On 64-bit architectures of this byte order.
    fn answer(program: &BpfProgram, architecture: u32, number: c_long, arguments: [u64; 6]) -> u32 {
        let mut data = vec![number as u32, architecture, 0, 0];
        data.extend(arguments.iter().flat_map(|argument| [*argument as u32, (*argument >> 32) as u32]));
        let (mut at, mut value) = (0, 0);
        loop {
            let sock_filter { code, jt, jf, k } = program[at];
            at += 1;
            let choose = |holds: bool| usize::from(if holds { jt } else { jf });
            match code {
                0x20 => value = data[k as usize / 4],
                0x54 => value &= k,
                0x05 => at += k as usize,
                0x15 => at += choose(value == k),
                0x25 => at += choose(value > k),
                0x35 => at += choose(value >= k),
                0x06 => return k,
                other => panic!("instruction {other:#x}"),
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    const NATIVE: u32 = 0xc000_003e;
    #[cfg(target_arch = "aarch64")]
    const NATIVE: u32 = 0xc000_00b7;

    #[test]
    fn every_call_gets_the_answer_of_its_row() {
        check_every_call(MemoryFiles::Allowed);
        check_every_call(MemoryFiles::Absent);
    }

    fn check_every_call(memory_files: MemoryFiles) {
        let program = compile(memory_files).expect("compiles");
        let rules = rules().expect("are rules");
        for number in 0..600 {
            let expected = match () {
                () if number > LAST_KNOWN => ENOSYS,
                () if number == libc::SYS_memfd_create && memory_files == MemoryFiles::Absent => ENOSYS,
                () if ABSENT.contains(&number) => ENOSYS,
                () if DENIED.contains(&number) => EPERM,
                // A family that is unlisted, where the call is about sockets.
                () if number == libc::SYS_socket => EPERM,
                () => ALLOW,
            };
            assert_eq!(answer(&program, NATIVE, number, [0; 6]), expected, "call {number}");
            let all_bits = answer(&program, NATIVE, number, [u64::MAX; 6]);
            let is_by_bit = rules.contains_key(&number) && ![libc::SYS_ioctl, libc::SYS_socket].contains(&number);
            assert_eq!(all_bits, if is_by_bit { EPERM } else { expected }, "call {number} with every bit set");
            assert_eq!(answer(&program, NATIVE, number | 0x4000_0000, [0; 6]), ENOSYS, "x32 call {number}");
            let foreign = answer(&program, 0x4000_0003, number, [0; 6]);
            assert!([KILL, ENOSYS].contains(&foreign), "call {number} of another architecture: {foreign:#x}");
        }
        let on = |number, arguments| answer(&program, NATIVE, number, arguments);
        const OPEN_TREE_ATTR: c_long = 467;
        assert_eq!(on(OPEN_TREE_ATTR, [0; 6]), ENOSYS);
        assert_eq!(on(-1, [0; 6]), ENOSYS);
        let unix = libc::AF_UNIX as u64;
        assert_eq!(on(libc::SYS_socket, [unix, 1, 0, 0, 0, 0]), ALLOW);
        assert_eq!(on(libc::SYS_socket, [libc::AF_VSOCK as u64, 1, 0, 0, 0, 0]), EPERM);
        assert_eq!(on(libc::SYS_socket, [libc::AF_NETLINK as u64, 3, 12, 0, 0, 0]), EPERM);
        assert_eq!(on(libc::SYS_ioctl, [0, (1 << 40) | libc::TIOCSTI, 0, 0, 0, 0]), EPERM);
        assert_eq!(on(libc::SYS_fchmodat, [0, 0, 0o755, 0, 0, 0]), ALLOW);
        assert_eq!(on(libc::SYS_fchmodat, [0, 0, 0o4755, 0, 0, 0]), EPERM);
    }

    #[test]
    fn no_call_is_named_twice() {
        let mut numbers: Vec<c_long> = DENIED.to_vec();
        numbers.extend(absent(MemoryFiles::Absent));
        numbers.extend(MODES.iter().map(|(number, _)| number));
        numbers.extend([libc::SYS_clone, libc::SYS_unshare, libc::SYS_socket, libc::SYS_ioctl]);
        let count = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), count);
    }
}
