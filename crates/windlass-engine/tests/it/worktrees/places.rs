//! Which folder is whose, and which are taken away.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use windlass_domain::plan::AtomId;
use windlass_domain::{Workspace, WorkspaceError};
use windlass_engine::worktrees::{Prepared, prepare};

use crate::worktrees::ground::{Ground, MADE, files, never, put, task};

#[test]
fn each_attempt_has_its_own_below_the_data_directory() {
    let ground = Ground::new();
    let (worktrees, data) = (ground.worktrees(), ground.data());
    assert_eq!(worktrees.folder(task(1), 2), data.join(format!("worktrees/{}/2", task(1))));
    let plan = AtomId::parse("release").unwrap();
    assert_eq!(worktrees.artifacts(&plan, task(1), 2), data.join(format!("artifacts/release/{}/2", task(1))));
}

#[test]
fn an_attempt_goes_on_in_its_folder_and_a_half_made_one_goes() {
    let ground = Ground::new();
    let base = Workspace::capture(&ground.workspace()).unwrap();
    let folder = ground.worktrees().folder(task(1), 1);
    let half = folder.with_file_name(".windlass-tmp-0123456789abcdef");
    put(&half.join("a.txt"), "one");
    let again = || prepare(&ground.workspace(), base, base, (&folder, &[]), MADE, &never).unwrap();
    assert_eq!(again(), Prepared::Fresh);
    assert!(!half.exists());
    put(&folder.join("a.txt"), "the attempt's");
    assert_eq!(again(), Prepared::GoesOn);
    assert_eq!(fs::read_to_string(folder.join("a.txt")).unwrap(), "the attempt's");
}

#[test]
fn what_is_stopped_or_fails_leaves_nothing() {
    let ground = Ground::new();
    let base = Workspace::capture(&ground.workspace()).unwrap();
    let folder = ground.worktrees().folder(task(1), 1);
    let stopped = prepare(&ground.workspace(), base, base, (&folder, &[]), MADE, &|| true);
    assert!(matches!(stopped, Err(WorkspaceError::Stopped)));
    assert_eq!(files(folder.parent().unwrap()).len(), 0);
    assert_eq!(fs::read_dir(folder.parent().unwrap()).unwrap().count(), 0);
}

#[test]
fn orphans_are_found_and_others_are_left() {
    let ground = Ground::new();
    let base = Workspace::capture(&ground.workspace()).unwrap();
    let (lives, over) = (ground.prepare(base, 1), ground.prepare(base, 2));
    let all = ground.data().join("worktrees");
    let leftovers = [".windlass-tmp-0123456789abcdef", "not-a-task"].map(|name| all.join(name));
    let inside = lives.with_file_name(".windlass-tmp-0123456789abcdef");
    leftovers.iter().chain([&inside]).for_each(|folder| put(&folder.join("x"), "x"));
    // As package managers leave them.
    put(&over.join("cache/x"), "x");
    fs::set_permissions(over.join("cache"), PermissionsExt::from_mode(0o555)).unwrap();
    assert_eq!(ground.worktrees().sweep(|found| found == task(1)).unwrap(), 2);
    assert_eq!(files(&lives).len(), 2);
    assert!(![&over, &inside, &leftovers[0], &leftovers[1]].into_iter().any(|folder| folder.exists()));
    assert_eq!(ground.worktrees().sweep(|found| found == task(1)).unwrap(), 0);
    assert_eq!(ground.worktrees().sweep(|_| false).unwrap(), 1);
    assert_eq!(fs::read_dir(all).unwrap().count(), 0);
}

#[test]
fn one_that_another_process_is_making_is_not_an_orphan() {
    let ground = Ground::new();
    let folder = ground.worktrees().folder(task(1), 1);
    let base = Workspace::capture(&ground.workspace()).unwrap();
    let swept = || {
        // Asked in the middle of filling it.
        ground.worktrees().sweep(|_| true).unwrap();
        false
    };
    assert_eq!(prepare(&ground.workspace(), base, base, (&folder, &[]), MADE, &swept).unwrap(), Prepared::Fresh);
    assert_eq!(files(&folder).len(), 2);
}

#[test]
fn what_is_discarded_is_gone_and_may_be_discarded_again() {
    let ground = Ground::new();
    let base = Workspace::capture(&ground.workspace()).unwrap();
    let folder = ground.prepare(base, 1);
    for _ in 0..2 {
        ground.worktrees().discard(task(1), 1).unwrap();
        assert!(!folder.exists() && folder.parent().unwrap().exists());
    }
    ground.prepare(base, 1);
    for _ in 0..2 {
        ground.worktrees().discard_task(task(1)).unwrap();
        assert!(!folder.parent().unwrap().exists());
    }
    assert_eq!(ground.worktrees().sweep(|_| false).unwrap(), 0, "where there never was any");
}
