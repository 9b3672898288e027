//! Where an agent may be let loose. Everything in the workspace is the agent's to change, so that some folders can never be
//! one: the data directory, from which the next run takes its orders, whatever contains it or lies in it; the system's own
//! folders; and a home, with its keys and its start-up files. Folders are told by what they are and not by how they are
//! called: links and bind mounts lead to the same answer.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::config::Config;
use crate::exit::WrongUse;

/// These and everything in them.
const SYSTEM: [&str; 9] = ["/proc", "/sys", "/dev", "/usr", "/etc", "/bin", "/sbin", "/boot", "/run"];
/// Folders in which the system has others keep their own.
const SHARED: [&str; 4] = ["/dev/shm", "/run/user", "/usr/src", "/usr/local/src"];
/// These alone: what is in them may be anybody's project.
const TOPS: [&str; 8] = ["/", "/var", "/opt", "/srv", "/home", "/root", "/mnt", "/media"];

const PROJECT: &str = "run it in a project folder, or name one with --workspace";

/// The folder as it is called without links, if an agent may work in it.
pub fn workspace(folder: &Path, config: &Config) -> Result<PathBuf, WrongUse> {
    said_by("--workspace ", folder, config)
}

/// The same for one that the configuration lists, and why not otherwise. What to do about a command is of no use there.
pub fn listed(folder: &Path, config: &Config) -> Result<PathBuf, String> {
    said_by("", folder, config).map_err(|wrong| wrong.message)
}

fn said_by(what: &str, folder: &Path, config: &Config) -> Result<PathBuf, WrongUse> {
    let path = folder.canonicalize().map_err(|error| {
        WrongUse::new(format!("{what}{}: {error}", folder.display())).hint("make the folder first, or name another")
    })?;
    if !path.is_dir() {
        return Err(WrongUse::new(format!("{} is not a folder", path.display())).hint("name a folder with --workspace"));
    }
    if path.to_str().is_none() {
        return Err(WrongUse::new(format!("the path {} is not UTF-8, so that it cannot be kept", path.display()))
            .hint("rename the folder"));
    }
    if let Some(what) = objection(&path, config) {
        return Err(WrongUse::new(format!("{} {what}: an agent may not work there", path.display())).hint(PROJECT));
    }
    if path.join(".git").is_symlink() {
        return Err(WrongUse::new(format!("{}/.git is a symbolic link, which cannot be protected", path.display()))
            .hint("put the repository itself there, or a file that says `gitdir: …` as git worktrees have"));
    }
    Ok(path)
}

/// Whether one of two folders is, contains or lies in the other.
pub fn overlap(one: &Path, other: &Path) -> bool {
    is_in(one, other) || is_in(other, one)
}

fn objection(path: &Path, config: &Config) -> Option<&'static str> {
    if path.ancestors().any(is_repository) {
        return Some("is the inside of a git repository, whose programs run for whoever uses it");
    }
    if is_in(path, &config.data_dir) {
        return Some("is in the data directory of windlass");
    }
    if is_in(&config.data_dir, path) {
        return Some("contains the data directory of windlass");
    }
    if is_system(path) {
        return Some("belongs to the system");
    }
    config.home.as_ref().filter(|home| is_in(home, path)).map(|_| "is or contains your home folder")
}

/// The folder that git itself writes to, whatever it is called.
fn is_repository(folder: &Path) -> bool {
    let is_named_so = folder.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
    is_named_so || (folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir())
}

fn is_system(path: &Path) -> bool {
    let below = |folder: &&str| path.starts_with(folder);
    let is_shared = SHARED.iter().any(|folder| below(folder) && path != Path::new(folder));
    let is_library = path.components().nth(1).is_some_and(|top| {
        let name = top.as_os_str().as_encoded_bytes();
        matches!(name, b"lib" | b"lib32" | b"lib64" | b"libx32" | b"libexec")
    });
    let is_top = TOPS.iter().any(|folder| path == Path::new(folder));
    is_top || is_library || (SYSTEM.iter().any(below) && !is_shared)
}

/// Whether `inner` is `outer` or lies in it. Of what is not there yet, the folders above it count.
fn is_in(inner: &Path, outer: &Path) -> bool {
    let Some(outer) = identity(outer) else { return false };
    resolved(inner).ancestors().any(|folder| identity(folder) == Some(outer))
}

fn identity(folder: &Path) -> Option<(u64, u64)> {
    folder.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Without links, as far as it exists.
fn resolved(path: &Path) -> PathBuf {
    let existing =
        path.ancestors().find_map(|above| Some((above.canonicalize().ok()?, path.strip_prefix(above).ok()?)));
    existing.map_or_else(|| path.to_owned(), |(above, rest)| above.join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inside_of_a_repository_is_no_place_to_work_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for made in ["a/.git/hooks", "bare/objects", "bare/refs/heads", "plain/objects"] {
            std::fs::create_dir_all(at(made)).expect("made");
        }
        std::fs::write(at("bare/HEAD"), "ref: refs/heads/main").expect("written");
        let is_inside = |name: &str| at(name).ancestors().any(is_repository);
        for inside in ["a/.git", "a/.git/hooks", "a/.GIT/x", "bare", "bare/refs/heads"] {
            assert!(is_inside(inside), "{inside}");
        }
        for outside in ["a", "plain", "plain/objects"] {
            assert!(!is_inside(outside), "{outside}");
        }
    }

    #[test]
    fn the_system_s_folders_are_known_and_projects_are_not_taken_for_them() {
        let system = [
            "/",
            "/proc",
            "/proc/self",
            "/sys/fs",
            "/dev",
            "/dev/shm",
            "/usr",
            "/usr/local",
            "/usr/src",
            "/etc/ssh",
            "/lib",
            "/lib64",
            "/lib32/x",
            "/boot",
            "/run",
            "/run/lock",
            "/run/user",
            "/var",
            "/home",
            "/root",
        ];
        for folder in system {
            assert!(is_system(Path::new(folder)), "{folder}");
        }
        let projects = [
            "/home/you/project",
            "/tmp/x",
            "/dev/shm/x",
            "/usr/src/app",
            "/run/user/1000/x",
            "/var/www",
            "/srv/x",
            "/library",
            "/libs/x",
            "/usrlocal",
            "/workspace",
        ];
        for folder in projects {
            assert!(!is_system(Path::new(folder)), "{folder}");
        }
    }

    #[test]
    fn what_is_not_there_yet_lies_in_what_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("link");
        std::fs::create_dir(folder.path().join("real")).expect("a folder");
        std::os::unix::fs::symlink("real", &link).expect("a link");
        assert!(is_in(&link.join("not/yet"), &folder.path().join("real")));
        assert!(!is_in(&folder.path().join("other"), &folder.path().join("real")));
        assert!(!overlap(&folder.path().join("real"), &folder.path().join("other")));
        assert!(overlap(folder.path(), &link));
    }
}
