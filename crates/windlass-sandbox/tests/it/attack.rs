//! Attacks that no shell can make, as little programs: each prints `worked` or why it did not. They are run by the
//! other tests, inside a sandbox and, as the control that shows they can work at all, outside. Harmless where they work.

use std::{
    fmt::Display,
    fs,
    io::{self, Write},
    net::{TcpListener, TcpStream},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixStream},
    },
    process::{Command, Stdio},
};

#[expect(clippy::print_stdout, reason = "how an attack reports")]
fn report<T, E: Display>(result: Result<T, E>) {
    match result {
        Ok(_) => println!("\nworked"),
        Err(error) => println!("\ndenied: {error}"),
    }
}

/// For calls whose harmless form fails anyway: any error but the filter's means that the kernel was reached.
fn reached(result: libc::c_long) {
    let error = io::Error::last_os_error();
    let is_filtered = matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS));
    report(if result == -1 && is_filtered { Err(error) } else { Ok(()) });
}

#[expect(unsafe_code, reason = "raw system calls are the point")]
fn call(number: libc::c_long, arguments: [libc::c_long; 5]) -> libc::c_long {
    let [a, b, c, d, e] = arguments;
    // SAFETY: the callers pass null or numbers; the kernel checks them.
    unsafe { libc::syscall(number, a, b, c, d, e) }
}

#[test]
#[ignore = "an attack, run by other tests"]
fn mounting() {
    let place = std::env::temp_dir().join(format!("windlass-attack-{}", std::process::id()));
    fs::create_dir(&place).expect("a directory");
    let mounted = rustix::mount::mount(c"none", &place, c"tmpfs", rustix::mount::MountFlags::empty(), None);
    if mounted.is_ok() {
        rustix::mount::unmount(&place, rustix::mount::UnmountFlags::empty()).expect("unmounted");
    }
    fs::remove_dir(&place).expect("removed");
    report(mounted);
}

#[test]
#[ignore = "an attack, run by other tests"]
fn tracing_a_child() {
    let mut child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().expect("starts");
    const PTRACE_SEIZE: libc::c_long = 0x4206;
    let seized = call(libc::SYS_ptrace, [PTRACE_SEIZE, child.id().into(), 0, 0, 0]);
    let error = io::Error::last_os_error();
    child.kill().expect("killed");
    child.wait().expect("reaped");
    report(if seized == 0 { Ok(()) } else { Err(error) });
}

#[test]
#[ignore = "an attack, run by other tests"]
fn adding_a_key() {
    let description = c"windlass-attack";
    let (kind, description) = (c"user".as_ptr() as libc::c_long, description.as_ptr() as libc::c_long);
    const PROCESS_KEYRING: libc::c_long = -2;
    let key = call(libc::SYS_add_key, [kind, description, description, 4, PROCESS_KEYRING]);
    report(if key > 0 { Ok(()) } else { Err(io::Error::last_os_error()) });
}

#[test]
#[ignore = "an attack, run by other tests"]
fn setting_up_io_uring() {
    reached(call(libc::SYS_io_uring_setup, [1, 0, 0, 0, 0]));
}

#[test]
#[ignore = "an attack, run by other tests"]
fn cloning_with_hidden_flags() {
    reached(call(libc::SYS_clone3, [0, 0, 0, 0, 0]));
}

/// A way to mount that is younger than the filter's table.
#[test]
#[ignore = "an attack, run by other tests"]
fn opening_a_tree_with_attributes() {
    const OPEN_TREE_ATTR: libc::c_long = 467;
    reached(call(OPEN_TREE_ATTR, [0, 0, 0, 0, 0]));
}

/// To be run at a terminal.
#[test]
#[ignore = "an attack, run by other tests"]
fn typing_into_its_own_terminal() {
    reached(call(libc::SYS_ioctl, [0, libc::TIOCSTI as libc::c_long, 0, 0, 0]));
}

#[test]
#[ignore = "an attack, run by other tests"]
fn pushing_into_a_terminal() {
    let null = fs::File::open("/dev/null").expect("opens");
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&null).into();
    // With garbage in the upper half, which the kernel ignores and a careless filter compares.
    const GARBAGE: libc::c_long = 1 << 40;
    reached(call(libc::SYS_ioctl, [descriptor, GARBAGE | libc::TIOCSTI as libc::c_long, 0, 0, 0]));
}

#[test]
#[ignore = "an attack, run by other tests"]
fn opening_a_raw_netlink_socket() {
    const NETLINK_NETFILTER: libc::c_long = 12;
    let raw = libc::SOCK_RAW.into();
    reached(call(libc::SYS_socket, [libc::AF_NETLINK.into(), raw, NETLINK_NETFILTER, 0, 0]));
}

#[test]
#[ignore = "an attack, run by other tests"]
fn opening_a_hypervisor_socket() {
    reached(call(libc::SYS_socket, [libc::AF_VSOCK.into(), libc::SOCK_STREAM.into(), 0, 0, 0]));
}

/// The file `target` names the listener.
#[test]
#[ignore = "an attack, run by other tests"]
fn reaching_an_abstract_socket() {
    let name = fs::read("target").expect("a name");
    let address = SocketAddr::from_abstract_name(name).expect("an address");
    report(UnixStream::connect_addr(&address));
}

/// Not an attack: what a test suite does with a server of its own.
#[test]
#[ignore = "run by other tests"]
fn talking_to_oneself() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    report(TcpStream::connect(listener.local_addr().expect("an address")));
}

fn take(mebibytes: usize) -> Vec<Vec<u8>> {
    (0..mebibytes).map(|_| vec![1; 1 << 20]).collect()
}

#[test]
#[ignore = "an attack, run by other tests"]
fn one_gibibyte() {
    let taken = take(1024);
    println!("\nworked {}", taken.len());
}

#[test]
#[ignore = "an attack, run by other tests"]
fn holding_a_quarter_gibibyte() {
    let taken = take(256);
    hold();
    drop(taken);
}

#[test]
#[ignore = "an attack, run by other tests"]
fn a_quarter_gibibyte_that_starts_programs() {
    let taken = take(256);
    for _ in 0..1_000 {
        Command::new("true").status().expect("starts");
    }
    drop(taken);
    println!("\nworked");
}

#[expect(clippy::print_stdout, reason = "how an attack reports")]
fn hold() {
    println!("\nholding");
    Command::new("sleep").arg("1000").status().expect("sleeps");
}

/// In files without a name, written and not mapped: no process seems to use any.
#[test]
#[ignore = "an attack, run by other tests"]
fn half_a_gibibyte_in_memory_files() {
    let write = || -> io::Result<fs::File> {
        let name = c"attack";
        let descriptor = call(libc::SYS_memfd_create, [name.as_ptr() as libc::c_long, 0, 0, 0, 0]);
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        #[expect(unsafe_code, reason = "a raw system call made it")]
        // SAFETY: the descriptor was just made, and nobody else has it.
        let mut file: fs::File = unsafe { std::os::fd::FromRawFd::from_raw_fd(descriptor as i32) };
        for _ in 0..32 {
            file.write_all(&[1; 1 << 20])?;
        }
        Ok(file)
    };
    report((0..16).map(|_| write()).collect::<io::Result<Vec<_>>>());
}

const HALF_A_GIBIBYTE: usize = 512 << 20;

#[expect(unsafe_code, reason = "memory from the kernel")]
fn touch(memory: *mut libc::c_void) {
    for offset in (0..HALF_A_GIBIBYTE).step_by(4096) {
        // SAFETY: within the memory, which is as large and was just made.
        unsafe { memory.cast::<u8>().add(offset).write_volatile(1) };
    }
}

#[test]
#[ignore = "an attack, run by other tests"]
fn holding_half_a_gibibyte_of_shared_memory() {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    #[expect(unsafe_code, reason = "std has no shared memory")]
    // SAFETY: a new mapping, wherever the kernel likes it.
    let memory = unsafe { libc::mmap(std::ptr::null_mut(), HALF_A_GIBIBYTE, access, kind, -1, 0) };
    assert_ne!(memory, libc::MAP_FAILED);
    touch(memory);
    hold();
}

/// Detached, so that it belongs to no process at all.
#[test]
#[ignore = "an attack, run by other tests"]
fn holding_half_a_gibibyte_in_a_segment() {
    #[expect(unsafe_code, reason = "std has no segments")]
    // SAFETY: a new segment, attached wherever the kernel likes it, and detached when nobody uses it any more.
    unsafe {
        let segment = libc::shmget(libc::IPC_PRIVATE, HALF_A_GIBIBYTE, 0o600);
        let memory = libc::shmat(segment, std::ptr::null(), 0);
        assert_ne!(memory as isize, -1);
        touch(memory);
        libc::shmdt(memory);
    }
    hold();
}
