//! What a repository knows beyond the files that are there: tracked files that are ignored, files that a sparse checkout leaves out, and
//! what is excluded for all of its worktrees.

#![expect(clippy::disallowed_methods, reason = "git makes the repositories, and is asked what it sees")]

use std::fs;
use std::path::Path;
use std::process::Command;

use windlass_workspace::{Change, ChangeKind, Drawn, GitReference, Step};

use crate::support::{MADE, Unhurried as _, Yard, never, put};

fn git(folder: &Path, words: &[&str]) -> String {
    let ended = Command::new("git")
        .current_dir(folder)
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .args(["-c", "user.name=a", "-c", "user.email=a@b"])
        .args(words)
        .output()
        .expect("git");
    assert!(ended.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap()
}

fn commit_all(folder: &Path) {
    git(folder, &["init", "-q", "-b", "main"]);
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "first"]);
}

/// `dist/app/main.js` and `keep.log` are tracked; what is beside them is not.
fn with_tracked() -> Yard {
    let yard = Yard::new();
    yard.put(".gitignore", "dist/\n*.log\n");
    yard.put("a", "a");
    commit_all(&yard.inside(""));
    for (path, is_tracked) in [("dist/app/main.js", true), ("dist/app/main.js.map", false), ("dist/other", false)]
        .into_iter()
        .chain([("keep.log", true), ("other.log", false)])
    {
        yard.put(path, "1");
        if is_tracked {
            git(&yard.inside(""), &["add", "--force", path]);
        }
    }
    git(&yard.inside(""), &["commit", "-q", "-m", "meant to be there"]);
    yard
}

#[test]
fn what_is_tracked_is_kept_although_it_is_ignored_and_nothing_beside_it() {
    let yard = with_tracked();
    let snapshots = yard.snapshots();
    let baseline = snapshots.capture().unwrap();
    let expected = [".gitignore", "a", "dist/app/main.js", "keep.log"];
    assert_eq!(yard.files_of(&snapshots, baseline), expected);
    assert_eq!(snapshots.candidate(baseline).unwrap().tree, baseline, "nothing was done");

    yard.put("dist/app/main.js", "2");
    yard.put("dist/app/new", "n");
    let candidate = snapshots.candidate(baseline).unwrap().tree;
    let changed = Change { path: "dist/app/main.js".to_owned(), kind: ChangeKind::Modified };
    assert_eq!(snapshots.changes(baseline, candidate).unwrap(), [changed]);

    // Whatever becomes of the repository meanwhile, a candidate is taken as its baseline was.
    fs::remove_dir_all(yard.inside(".git")).unwrap();
    assert_eq!(snapshots.candidate(baseline).unwrap().tree, candidate);
    let without = yard.snapshots().capture().unwrap();
    assert_eq!(yard.files_of(&snapshots, without), [".gitignore", "a"], "control: nobody tracks them now");
}

#[test]
fn a_linked_worktree_is_seen_under_what_its_repository_excludes() {
    let yard = Yard::new();
    let home = yard.path("home");
    put(&home.join("a"), "a");
    commit_all(&home);
    git(&home, &["worktree", "add", "-q", "--detach", yard.inside("").to_str().unwrap()]);
    put(&home.join(".git/info/exclude"), "/private\n");
    yard.put("private", "mine");
    let snapshots = yard.snapshots();
    let files = yard.files_of(&snapshots, snapshots.capture().unwrap());
    assert_eq!(files, ["a"]);
}

/// A `.git` may name any folder; only one that names the workspace in turn is believed.
#[test]
fn a_folder_that_does_not_know_the_worktree_excludes_nothing() {
    let yard = Yard::new();
    let home = yard.path("home");
    put(&home.join("a"), "a");
    commit_all(&home);
    git(&home, &["worktree", "add", "-q", "--detach", yard.path("another").to_str().unwrap()]);
    put(&home.join(".git/info/exclude"), "/private\n");
    let named = fs::read(yard.path("another/.git")).unwrap();
    yard.put(".git", named);
    yard.put("private", "mine");
    let snapshots = yard.snapshots();
    let files = yard.files_of(&snapshots, snapshots.capture().unwrap());
    assert_eq!(files, ["private"]);
}

#[test]
fn files_that_a_sparse_checkout_leaves_out_are_not_drawn_as_deleted() {
    let yard = Yard::new();
    for path in ["top", "here/a", "here/b", "away/c", "away/d"] {
        yard.put(path, "1");
    }
    commit_all(&yard.inside(""));
    git(&yard.inside(""), &["sparse-checkout", "set", "--cone", "here"]);
    assert!(!yard.inside("away/c").exists(), "it is sparse");
    yard.put("here/a", "2");
    fs::remove_file(yard.inside("here/b")).unwrap();
    yard.put("here/new", "n");
    let snapshots = yard.snapshots();
    let tree = snapshots.capture().unwrap();
    let reference = GitReference::new(&["0199f1c2", "work"]).unwrap();
    let drawn = snapshots.draw(&reference, Step { tree, after: None, message: "work", at: MADE }, &never).unwrap();
    assert!(matches!(drawn, Drawn::Yes { .. }));
    let changed = git(&yard.inside(""), &["diff", "--name-status", "HEAD", reference.as_str()]);
    assert_eq!(changed, "M\there/a\nD\there/b\nA\there/new\n");
}
