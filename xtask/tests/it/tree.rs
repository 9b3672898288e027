//! What belongs to the tree that tidy reads.

use std::fs;

use tempfile::TempDir;
use xtask::Tree;

const FILES: [(&str, &[u8]); 6] = [
    (".gitignore", b"/target\n*.snap.new\n"),
    ("target/debug/out.rs", b"built"),
    ("a.snap.new", b"pending"),
    (".ci/run", b"make"),
    ("crates/a/src/lib.rs", b"//! A."),
    ("logo.png", &[0xff, 0xd8, 0x00]),
];

const TRACKED: [&str; 3] = [".ci/run", ".gitignore", "crates/a/src/lib.rs"];

fn folder_with(files: &[(&str, &[u8])]) -> TempDir {
    let root = tempfile::tempdir().expect("a temporary folder can be made");
    for (path, bytes) in files {
        let path = root.path().join(path);
        let folder = path.parent().expect("every file here has a folder");
        fs::create_dir_all(folder).expect("the folder can be made");
        fs::write(path, bytes).expect("the file can be written");
    }
    root
}

fn paths(root: &TempDir) -> Vec<String> {
    let tree = Tree::read(root.path()).expect("the folder can be read");
    tree.files().map(|(path, _)| path.to_owned()).collect()
}

#[test]
fn the_tree_of_a_clone_is_what_git_would_track() {
    let root = folder_with(&FILES);
    fs::create_dir(root.path().join(".git")).expect("the folder can be made");
    fs::write(root.path().join(".git/config"), "private").expect("the file can be written");
    assert_eq!(paths(&root), TRACKED);
}

#[test]
fn the_tree_of_a_source_archive_is_the_same() {
    assert_eq!(paths(&folder_with(&FILES)), TRACKED);
}
