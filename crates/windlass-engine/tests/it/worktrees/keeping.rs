//! What is kept of an attempt's folder before it goes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use windlass_domain::{TreeId, Workspace, WorkspaceError};
use windlass_engine::worktrees::{Delivered, Salvaged, Unmerged, artifacts, salvage};

use crate::worktrees::ground::{Ground, MADE, files, never, put, task};

fn unmerged(base: TreeId) -> Unmerged {
    Unmerged { root: task(9), task: task(1), attempt: 1, base }
}

fn salvaged(ground: &Ground, folder: &std::path::Path, base: TreeId) -> Option<Salvaged> {
    salvage(&ground.opened(folder), &ground.workspace(), unmerged(base), MADE, &never).unwrap()
}

#[test]
fn nothing_changed_is_nothing_to_salvage() {
    let ground = Ground::new();
    ground.commit_all();
    let base = Workspace::capture(&ground.workspace()).unwrap();
    let folder = ground.prepare(base, 1);
    put(&folder.join("output/report"), "a deliverable, which is no part of the project");
    assert_eq!(salvaged(&ground, &folder, base), None);
    assert_eq!(ground.git(&["for-each-ref", "refs/windlass"]), "");
}

#[test]
fn a_repository_that_git_cannot_use_costs_the_picture_and_not_the_work() {
    let ground = Ground::new();
    fs::create_dir_all(ground.home.join(".git")).unwrap();
    ground.put(".git/HEAD", "damaged");
    let base = Workspace::capture(&ground.workspace()).unwrap();
    let folder = ground.prepare(base, 1);
    put(&folder.join("a.txt"), "work");
    let kept = salvaged(&ground, &folder, base).unwrap();
    assert_eq!(kept.git_ref, None);
    assert!(kept.not_drawn.unwrap().contains("not a git repository"));
    let back = ground.beside("back");
    Workspace::materialise(&ground.workspace(), kept.tree, base, &back, MADE, &never).unwrap();
    assert_eq!(fs::read_to_string(back.join("a.txt")).unwrap(), "work");
}

#[test]
fn salvaging_can_be_stopped_and_done_again() {
    let ground = Ground::new();
    ground.commit_all();
    let base = Workspace::capture(&ground.workspace()).unwrap();
    let folder = ground.prepare(base, 1);
    put(&folder.join("a.txt"), "work");
    let stopped = salvage(&ground.opened(&folder), &ground.workspace(), unmerged(base), MADE, &|| true);
    assert!(matches!(stopped, Err(WorkspaceError::Stopped)));
    let kept = salvaged(&ground, &folder, base);
    assert_eq!(salvaged(&ground, &folder, base), kept);
    let reference = kept.unwrap().git_ref.unwrap();
    assert_eq!(ground.git(&["show", &format!("{reference}:a.txt")]), "work");
}

/// A folder as an attempt left it.
fn delivering() -> (Ground, PathBuf, PathBuf) {
    let ground = Ground::new();
    let (folder, into) = (ground.beside("worktree"), ground.beside("artifacts/plan/task/1"));
    fs::create_dir(&folder).unwrap();
    (ground, folder, into)
}

#[test]
fn deliverables_outlive_the_folder() {
    let (_ground, folder, into) = delivering();
    put(&folder.join("output/report.md"), "report");
    put(&folder.join("output/deep/er/chart.svg"), "chart");
    put(&folder.join("src/main"), "no deliverable");
    assert_eq!(artifacts(&folder, &into, &never).unwrap(), Delivered::Kept);
    put(&folder.join("output/report.md"), "later");
    assert_eq!(artifacts(&folder, &into, &never).unwrap(), Delivered::Kept, "after a crash");
    fs::remove_dir_all(folder).unwrap();
    assert_eq!(files(&into).into_iter().collect::<Vec<_>>(), ["deep/er/chart.svg", "report.md"]);
    assert_eq!(fs::read_to_string(into.join("report.md")).unwrap(), "report");
}

#[test]
fn where_nothing_is_delivered_nothing_is_kept() {
    let (_ground, folder, into) = delivering();
    assert_eq!(artifacts(&folder, &into, &never).unwrap(), Delivered::Nothing);
    fs::create_dir(folder.join("output")).unwrap();
    assert_eq!(artifacts(&folder, &into, &never).unwrap(), Delivered::Nothing);
    put(&folder.join("output/at-last"), "x");
    assert!(!into.exists());
    assert_eq!(artifacts(&folder, &into, &never).unwrap(), Delivered::Kept);
}

#[test]
fn no_deliverable_leads_out() {
    let (ground, folder, into) = delivering();
    put(&ground.beside("secret"), "secret");
    symlink(ground.beside(""), folder.join("output")).unwrap();
    assert_eq!(artifacts(&folder, &into, &never).unwrap(), Delivered::Nothing, "the whole of it is a link");

    fs::remove_file(folder.join("output")).unwrap();
    put(&folder.join("output/a/b/file"), "x");
    let links = [
        ("a/b/absolute", "/etc/passwd"),
        ("a/b/up", "../../../secret"),
        ("a/here", "."),
        // Each looks harmless; together they climb.
        ("a/together", "here/../../../secret"),
        ("a/down-and-up", "b/../../../secret"),
    ];
    let kept = [("a/b/latest", "file"), ("a/top", "../a/b"), ("a/b/most", "../../a"), ("broken", "nowhere")];
    for (name, target) in links.iter().chain(&kept) {
        symlink(target, folder.join("output").join(name)).unwrap();
    }
    assert_eq!(artifacts(&folder, &into, &never).unwrap(), Delivered::Kept);
    let mut expected: Vec<&str> = kept.iter().map(|(name, _)| *name).chain(["a/b/file", "a/here"]).collect();
    expected.sort_unstable();
    assert_eq!(files(&into).into_iter().collect::<Vec<_>>(), expected);
}
