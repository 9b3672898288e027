//! If the owner dies while the supervisor is stuck, the kernel still ends the commands.
//!
//! Bubblewrap dies with its owner, and at its death the kernel signals the supervisor, wherever that is in its code.
//! Not by `SIGKILL`: that would free the lock first and kill the commands after.

use rustix::process::{Signal, set_parent_process_death_signal};

/// Only for the first process of a namespace, where "everything else" is the sandbox.
pub(crate) fn arm() -> rustix::io::Result<()> {
    #[expect(unsafe_code, reason = "std has no signal handling")]
    // SAFETY: the handler makes one system call and touches no memory but its argument; the action is initialised
    // to zero, which means no flags and an empty mask, before its fields are set.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigaction(libc::SIGTERM, &action, std::ptr::null_mut());
    }
    set_parent_process_death_signal(Some(Signal::TERM))
}

/// A command may send us the signal too, but not without its pid: that is zero only for senders outside.
extern "C" fn on_signal(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    #[expect(unsafe_code, reason = "a signal handler is called with raw pointers")]
    // SAFETY: the kernel passes a valid `siginfo_t` to a handler installed with `SA_SIGINFO`.
    unsafe {
        if (*info).si_code == libc::SI_USER && (*info).si_pid() == 0 {
            libc::kill(-1, libc::SIGKILL);
        }
    }
}
