//! Finding what is guarded below a workspace: a search by name, outermost first, that ends after so many directories and
//! names. A workspace may hold a whole dependency tree, and somebody waits for its sandbox to open.

use std::{
    collections::VecDeque,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// Some twenty milliseconds' worth, each, and half a second's where the disk has to be asked. Callers are told of them in
/// [`crate::Policy::guarded`].
const MOST_DIRECTORIES: usize = 2_000;
const MOST_NAMES: usize = 50_000;
/// Each is a mount, and so is each directory around it.
const MOST_FOUND: usize = 64;

/// Paths relative to `root`, below its top. Keeps its thread waiting for the disk. Symbolic links are neither followed nor found: nothing can be mounted on one.
pub(crate) fn find_guarded(root: &Path, names: &[OsString]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut names_left = MOST_NAMES;
    let mut to_visit = VecDeque::from([PathBuf::new()]);
    for _ in 0..MOST_DIRECTORIES {
        let Some(directory) = to_visit.pop_front() else { break };
        let entries = fs::read_dir(root.join(&directory)).into_iter().flatten().flatten();
        for entry in entries.take(names_left) {
            names_left -= 1;
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            if !names.contains(&name) {
                to_visit.extend(kind.is_dir().then(|| directory.join(name)));
            } else if !kind.is_symlink() && !directory.as_os_str().is_empty() {
                found.push(directory.join(name));
            }
            if found.len() == MOST_FOUND {
                return found;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_are_found_first_and_nothing_behind_a_link() {
        let root = tempfile::tempdir().expect("a directory");
        let make = |path: &str| fs::create_dir_all(root.path().join(path)).expect("made");
        make(".git/modules/x/.git");
        make("a/deep/down/.git");
        make("b/.git");
        fs::create_dir_all(root.path().join("c")).expect("made");
        fs::write(root.path().join("c/.git"), "gitdir: elsewhere").expect("written");
        make("d");
        std::os::unix::fs::symlink("../b/.git", root.path().join("d/.git")).expect("a link");
        std::os::unix::fs::symlink("b", root.path().join("e")).expect("a link");
        let mut found = find_guarded(root.path(), &[".git".into()]);
        assert_eq!(found.pop(), Some("a/deep/down/.git".into()));
        found.sort();
        assert_eq!(found, [PathBuf::from("b/.git"), "c/.git".into()]);
    }

    #[test]
    fn a_search_ends() {
        let root = tempfile::tempdir().expect("a directory");
        for number in 0..MOST_FOUND + 10 {
            fs::create_dir_all(root.path().join(format!("{number}/.git"))).expect("made");
        }
        assert_eq!(find_guarded(root.path(), &[".git".into()]).len(), MOST_FOUND);
    }
}
