//! What no snapshot has and a drawn work keeps all the same: what is tracked under the runtime's own names, and submodules.

#![expect(clippy::disallowed_methods, reason = "git makes the repositories, and is asked what it sees")]

use std::fs;
use std::path::Path;
use std::process::Command;

use windlass_domain::TreeId;
use windlass_workspace::{Drawn, GitReference, Step};

use crate::support::{MADE, Yard, never, put};

fn git(folder: &Path, words: &[&str]) -> String {
    let ended = Command::new("git")
        .current_dir(folder)
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")])
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"])
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

fn reference() -> GitReference {
    GitReference::new(&["0199f1c2", "work"]).unwrap()
}

/// Draws it, and says in what that differs from what the user has checked out.
fn drawn(yard: &Yard, tree: TreeId, after: Option<TreeId>) -> String {
    let step = Step { tree, after, message: "work", at: MADE };
    let drawn = yard.snapshots().draw(&reference(), step, &never).unwrap();
    assert!(matches!(drawn, Drawn::Yes { .. }));
    git(&yard.inside(""), &["fsck", "--strict"]);
    let ours = git(&yard.inside(""), &["for-each-ref", "--format=%(refname)", "refs/windlass"]);
    assert_eq!(ours.trim_end(), reference().as_str(), "nothing else is left there");
    git(&yard.inside(""), &["diff", "--raw", "--no-renames", "--abbrev=4", "HEAD", reference().as_str()])
        .lines()
        .map(|line| {
            let (facts, path) = line.split_once('\t').unwrap();
            let words: Vec<&str> = facts.split(' ').collect();
            format!("{} {} {path}\n", words[1], words[4])
        })
        .collect()
}

#[test]
fn what_is_tracked_under_the_runtime_s_names_stays_as_it_is() {
    let yard = Yard::new();
    for path in ["a", "output/site/index.html", ".memo/notes", ".plan.md", "src/output/b"] {
        yard.put(path, "1");
    }
    commit_all(&yard.inside(""));
    yard.put("output/untracked", "x");
    yard.put("a", "2");
    fs::remove_file(yard.inside("src/output/b")).unwrap();
    let tree = yard.snapshots().capture().unwrap();
    let expected = "100644 M a\n000000 D src/output/b\n";
    assert_eq!(drawn(&yard, tree, None), expected);
    assert_eq!(drawn(&yard, tree, None), expected, "and so it does on top of itself");
    assert_eq!(drawn(&yard, tree, Some(tree)), expected);
}

/// `lib` is a submodule with a file, a tool and a link.
fn with_submodule() -> Yard {
    let yard = Yard::new();
    let lib = yard.path("lib");
    put(&lib.join("src/code.c"), "code");
    put(&lib.join("tool"), "tool");
    fs::set_permissions(lib.join("tool"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("tool", lib.join("link")).unwrap();
    commit_all(&lib);
    yard.put("a", "1");
    commit_all(&yard.inside(""));
    git(&yard.inside(""), &["submodule", "--quiet", "add", lib.to_str().unwrap(), "vendor/lib"]);
    git(&yard.inside(""), &["commit", "-q", "-m", "a submodule"]);
    yard
}

#[test]
fn a_submodule_that_is_as_it_was_stays_one() {
    let yard = with_submodule();
    let before = yard.snapshots().capture().unwrap();
    yard.put("a", "2");
    let tree = yard.snapshots().capture().unwrap();
    assert_eq!(drawn(&yard, tree, None), "100644 M a\n");
    assert_eq!(drawn(&yard, tree, None), "100644 M a\n", "and so it does on top of itself");
    assert_eq!(drawn(&yard, before, Some(tree)), "");
}

#[test]
fn a_submodule_that_nobody_has_checked_out_stays_one() {
    let yard = with_submodule();
    git(&yard.inside(""), &["submodule", "--quiet", "deinit", "--all"]);
    let tree = yard.snapshots().capture().unwrap();
    assert_eq!(drawn(&yard, tree, None), "");
}

/// A commit that nobody has made cannot be named, so what was done there is drawn.
#[test]
fn what_was_done_in_a_submodule_is_drawn_as_files() {
    let yard = with_submodule();
    yard.put("vendor/lib/src/code.c", "better code");
    let tree = yard.snapshots().capture().unwrap();
    let expected =
        "000000 D vendor/lib\n120000 A vendor/lib/link\n100644 A vendor/lib/src/code.c\n100755 A vendor/lib/tool\n";
    assert_eq!(drawn(&yard, tree, None), expected);
    let shown = git(&yard.inside(""), &["show", &format!("{}:vendor/lib/src/code.c", reference().as_str())]);
    assert_eq!(shown, "better code");
}

#[test]
fn a_submodule_that_is_removed_is_removed() {
    let yard = with_submodule();
    fs::remove_dir_all(yard.inside("vendor")).unwrap();
    let tree = yard.snapshots().capture().unwrap();
    assert_eq!(drawn(&yard, tree, None), "000000 D vendor/lib\n");
}
