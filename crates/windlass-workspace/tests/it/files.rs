//! What `Root` does with files that are inside: whole writes, hard names, things that are not files, sizes.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;

use windlass_domain::Digest;
use windlass_workspace::{Error, Kind, WorkspacePath};

use crate::support::{Yard, at, pipe};

fn names_in(yard: &Yard, folder: &str) -> Vec<String> {
    let entries = fs::read_dir(yard.inside(folder)).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn writing_makes_folders_replaces_files_and_leaves_nothing_else() {
    let yard = Yard::new();
    let root = yard.root();
    root.write(&at("a/b/c.txt"), b"one").unwrap();
    root.write(&at("/workspace/a/b/c.txt"), b"two").unwrap();
    assert_eq!(fs::read(yard.inside("a/b/c.txt")).unwrap(), b"two");
    assert_eq!(names_in(&yard, "a/b"), ["c.txt"]);
    assert_eq!(root.digest(&at("a/b/c.txt")).unwrap(), Some(Digest::of(b"two")));
    assert_eq!(root.digest(&at("a/b/d.txt")).unwrap(), None);
}

#[test]
fn a_replaced_file_keeps_its_permissions_and_a_link_stays_a_link() {
    let yard = Yard::new();
    yard.put("bin/run", "old");
    fs::set_permissions(yard.inside("bin/run"), fs::Permissions::from_mode(0o751)).unwrap();
    yard.link("bin/run", "link");
    yard.root().write(&at("link"), b"new").unwrap();
    assert!(yard.inside("link").is_symlink());
    let metadata = fs::metadata(yard.inside("bin/run")).unwrap();
    assert_eq!((metadata.permissions().mode() & 0o777, metadata.len()), (0o751, 3));
}

#[test]
fn a_read_only_file_is_not_replaced_behind_its_back() {
    let yard = Yard::new();
    yard.put("fixed", "old");
    fs::set_permissions(yard.inside("fixed"), fs::Permissions::from_mode(0o444)).unwrap();
    assert!(matches!(yard.root().write(&at("fixed"), b"new"), Err(Error::ReadOnly { .. })));
    assert_eq!(fs::read(yard.inside("fixed")).unwrap(), b"old");
}

#[test]
fn a_failed_write_leaves_the_old_file_and_no_debris() {
    let yard = Yard::new();
    yard.put("folder/file", "old");
    let root = yard.root();
    assert!(matches!(root.write(&at("folder"), b"x"), Err(Error::IsAFolder { .. })));
    assert!(matches!(root.write(&at(""), b"x"), Err(Error::IsAFolder { .. })));
    assert!(matches!(root.write(&at("folder/file/below"), b"x"), Err(Error::NotAFolder { .. })));
    assert_eq!(names_in(&yard, ""), ["folder"]);
    assert_eq!(names_in(&yard, "folder"), ["file"]);
}

#[test]
fn pipes_sockets_and_devices_are_refused_without_waiting() {
    let yard = Yard::new();
    pipe(&yard.inside("pipe"));
    let _socket = std::os::unix::net::UnixListener::bind(yard.inside("socket")).unwrap();
    let root = yard.root();
    for name in ["pipe", "socket"] {
        assert!(matches!(root.read(&at(name), 10), Err(Error::NotAFile { .. })), "{name}");
        assert!(matches!(root.write(&at(name), b"x"), Err(Error::NotAFile { .. })), "{name}");
        assert_eq!(root.metadata(&at(name)).unwrap().kind, Kind::Other);
    }
    let devices = windlass_workspace::Root::open(std::path::Path::new("/dev")).unwrap();
    assert!(matches!(devices.read(&at("zero"), 10), Err(Error::NotAFile { .. })));
    assert!(matches!(devices.read(&at("tty"), 10), Err(Error::NotAFile { .. })));
}

#[test]
fn what_is_too_large_is_said_to_be_and_how_large() {
    let yard = Yard::new();
    yard.put("big", vec![b'x'; 101]);
    let root = yard.root();
    assert!(matches!(root.read(&at("big"), 100), Err(Error::TooLarge { size: 101, cap: 100, .. })));
    assert_eq!(root.read(&at("big"), 101).unwrap().len(), 101);
    // Files that say they are empty and are not, as one that grows while it is read.
    let kernel = windlass_workspace::Root::open(std::path::Path::new("/proc/self")).unwrap();
    assert_eq!(kernel.metadata(&at("status")).unwrap().size, 0);
    assert!(matches!(kernel.read(&at("status"), 10), Err(Error::TooLarge { cap: 10, .. })));
}

#[test]
fn names_with_newlines_and_foreign_bytes_are_ordinary_names() {
    let yard = Yard::new();
    let root = yard.root();
    let odd = WorkspacePath::parse(OsStr::from_bytes(b"odd\n\xff\xfename")).unwrap();
    root.write(&odd, b"odd").unwrap();
    assert_eq!(root.read(&odd, 10).unwrap(), b"odd");
    let listed = root.list(&WorkspacePath::top()).unwrap();
    assert_eq!(listed[0].shown(), r"odd\n\xff\xfename");
    assert_eq!(root.digest(&odd).unwrap(), Some(Digest::of(b"odd")));
    root.remove(&odd).unwrap();
    assert_eq!(root.list(&WorkspacePath::top()).unwrap(), []);
}

#[test]
fn loops_of_links_and_over_long_names_end() {
    let yard = Yard::new();
    yard.link("b", "a");
    yard.link("a", "b");
    let root = yard.root();
    assert!(matches!(root.read(&at("a"), 10), Err(Error::Loop { .. })));
    assert!(matches!(root.write(&at("a"), b"x"), Err(Error::Loop { .. })));
    assert!(matches!(root.read(&at(&"n".repeat(300)), 10), Err(Error::BadPath { .. })));
}

#[test]
fn what_a_crash_left_beside_a_file_is_swept_and_nothing_else() {
    let yard = Yard::new();
    yard.put("src/.windlass-tmp-00ff", "half");
    yard.put("src/main.rs", "whole");
    yard.root().sweep(&at("src/main.rs")).unwrap();
    yard.root().sweep(&at("nowhere/at/all")).unwrap();
    assert_eq!(names_in(&yard, "src"), ["main.rs"]);
}

#[test]
fn errors_speak_of_the_agents_paths_only() {
    let yard = Yard::new();
    let host = yard.inside("").to_str().unwrap().to_owned();
    let root = yard.root();
    let errors = [
        root.read(&at("missing"), 1).unwrap_err(),
        root.read(&at("../x"), 1).unwrap_err(),
        root.list(&at("missing")).unwrap_err(),
        root.remove(&at("missing")).unwrap_err(),
        root.write(&at(".git/x"), b"").unwrap_err(),
    ];
    for error in errors {
        assert!(!format!("{error} {error:?}").contains(&host), "{error:?}");
    }
}
