//! What an ordinary user runs into and root does not: these tests run as one, whoever runs them.

#![expect(clippy::disallowed_methods, reason = "a thread of its own is what can be another user's")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::process::{Gid, Uid, geteuid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};
use windlass_domain::{Workspace, WorkspaceError};
use windlass_workspace::{SnapshotSetup, Snapshots, remove_folder};

use crate::support::{never, put};

/// In a folder of that user's own.
fn as_ordinary_user(work: impl FnOnce(&Path) + Send) {
    let folder = tempfile::tempdir().unwrap();
    let is_root = geteuid().is_root();
    if is_root {
        std::os::unix::fs::chown(folder.path(), Some(65_534), Some(65_534)).unwrap();
    }
    let working = || {
        if is_root {
            let (user, group) = (Uid::from_raw(65_534), Gid::from_raw(65_534));
            set_thread_groups(&[]).unwrap();
            set_thread_res_gid(group, group, group).unwrap();
            set_thread_res_uid(user, user, user).unwrap();
        }
        work(folder.path());
    };
    std::thread::scope(|scope| scope.spawn(working).join().unwrap());
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// As a package manager leaves its cache, and as a test may leave its own folder.
#[test]
fn a_folder_with_folders_that_nobody_may_write_into_is_removed() {
    as_ordinary_user(|folder| {
        let copy = folder.join("copy");
        put(&copy.join("cache/module/file"), "read-only");
        put(&folder.join("outside/kept"), "not in it");
        std::os::unix::fs::symlink(folder.join("outside"), copy.join("link")).unwrap();
        set_mode(&copy.join("cache/module"), 0o555);
        set_mode(&copy.join("cache"), 0o000);
        set_mode(&folder.join("outside"), 0o555);
        set_mode(&copy, 0o500);
        assert!(fs::remove_dir_all(&copy).is_err(), "control");
        remove_folder(&copy).unwrap();
        assert!(!copy.exists());
        assert!(folder.join("outside/kept").exists());
        assert_eq!(fs::metadata(folder.join("outside")).unwrap().permissions().mode() & 0o777, 0o555);
        set_mode(&folder.join("outside"), 0o755);
        remove_folder(&copy).unwrap();
    });
}

/// Or a task could be put to sleep by `chmod 0`.
#[test]
fn a_file_that_cannot_be_read_is_the_agents_to_mend() {
    as_ordinary_user(|folder| {
        put(&folder.join("workspace/src/a"), "a");
        let setup = SnapshotSetup::new(folder.join("workspace"), folder.join("data"), Vec::new());
        let snapshots = Snapshots::open(setup).unwrap();
        let baseline = snapshots.capture().unwrap();
        let captured = || Workspace::capture_under(&snapshots, baseline, &never).map(drop);
        for path in ["workspace/src/a", "workspace/src"] {
            set_mode(&folder.join(path), 0o000);
            let told = captured().unwrap_err();
            assert!(matches!(&told, WorkspaceError::Unfit(why) if why.contains("permission denied")), "{told}");
            set_mode(&folder.join(path), 0o755);
        }
        // What is ours is not the agent's.
        fs::write(folder.join("workspace/src/new"), "new").unwrap();
        set_mode(&folder.join("data/objects"), 0o500);
        assert!(matches!(captured(), Err(WorkspaceError::Failed(_))));
        set_mode(&folder.join("data/objects"), 0o700);
        captured().unwrap();
    });
}
