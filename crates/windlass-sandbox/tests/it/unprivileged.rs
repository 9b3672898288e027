//! The same tests as a user who is nobody, where the tests themselves run as root.

use std::process::Command;

use crate::support::own_program;

#[test]
fn everything_holds_for_an_unprivileged_user() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: the other tests are unprivileged already");
        return;
    }
    let tests = [
        "canary::",
        "confinement::",
        "guarded::",
        "home::",
        "hostile::",
        "lifecycle::",
        "limits::",
        "listen::",
        "owner::",
        "replaced::",
        "talk::",
        "terminal::",
    ];
    let output = Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(own_program())
        .args(["--test-threads=2"])
        .args(tests)
        .env("HOME", "/nonexistent")
        .current_dir("/")
        .output()
        .expect("setpriv, of the Debian package util-linux");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(!said.contains("running 0 tests"), "{said}");
}
