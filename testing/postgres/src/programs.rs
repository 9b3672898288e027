//! Finding PostgreSQL's programs, and starting them as somebody whom the server accepts: it refuses to run as root.

#![expect(clippy::disallowed_methods, reason = "a test's server is a program that the test starts")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian keeps the server's programs apart, by version, and off the path.
const DEBIAN: &str = "/usr/lib/postgresql";

pub fn folder() -> PathBuf {
    installed().unwrap_or_else(|| panic!("there is no PostgreSQL below {DEBIAN}; run: scripts/setup postgres"))
}

/// Where the programs of the newest version are.
pub fn installed() -> Option<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir(DEBIAN)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .filter(|(_, bin)| bin.join("initdb").exists())
        .collect();
    versions.sort();
    versions.pop().map(|(_, bin)| bin)
}

/// The numbers of the package's own user, where this is root.
pub fn user() -> Option<(u32, u32)> {
    if !rustix::process::getuid().is_root() {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").expect("a list of users");
    let fields = users.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|fields| fields[0] == "postgres");
    let fields = fields.expect("the package makes a user called postgres");
    let number = |field: &str| field.parse().expect("a user's numbers");
    Some((number(fields[2]), number(fields[3])))
}

/// It ends with the thread that started it, however that ends.
pub fn program(bin: &Path, name: &str) -> Command {
    let mut command = Command::new("setpriv");
    if let Some((user, group)) = user() {
        command.args(["--reuid", &user.to_string(), "--regid", &group.to_string(), "--clear-groups"]);
    }
    command.args(["--pdeathsig", "KILL"]).arg(bin.join(name));
    command.current_dir("/").env("LC_ALL", "C");
    command
}
