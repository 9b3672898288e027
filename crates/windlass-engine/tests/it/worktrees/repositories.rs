//! Two attempts in worktrees of their own, merged and brought to the user, in every kind of folder that a user may have. What the
//! user did not save through git stays, and so do index and HEAD; nothing of the repository is run.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use windlass_domain::{Applied, Merge, TreeId, Workspace};
use windlass_engine::worktrees::{Unmerged, salvage};

use crate::worktrees::ground::{Ground, MADE, files, never, put, task};

/// A folder of one kind, and what an attempt sees in it beside the files that all have.
struct Case {
    make: fn(&mut Ground),
    seen: &'static [&'static str],
}

fn check(Case { make, seen }: Case) {
    let mut ground = Ground::new();
    make(&mut ground);
    let (own, status) = (ground.own(), ground.status());
    let expected: BTreeSet<String> = seen.iter().copied().chain(["a.txt", "b/c.txt"]).map(str::to_owned).collect();
    let (base, second, tip) = runs_nothing(&ground, || {
        let base = Workspace::capture(&ground.workspace()).unwrap();
        let (first, second) = (ground.prepare(base, 1), ground.prepare(base, 2));
        assert_eq!((files(&first), files(&second)), (expected.clone(), expected));
        put(&first.join("a.txt"), "ONE\ntwo\nthree\nfour\nfive\n");
        put(&first.join("new/file"), "new\n");
        put(&second.join("a.txt"), "one\ntwo\nthree\nfour\nFIVE\n");
        fs::remove_file(second.join("b/c.txt")).unwrap();
        let tip = merged(&ground, base, &first, &second);
        (base, second, tip)
    });
    salvages(&ground, base, &second);
    assert_eq!((ground.own(), ground.status()), (own, status), "before it is applied");

    let mine = ground.text("a.txt").unwrap().replace("three", "three, mine");
    ground.put("a.txt", mine);
    let (own, status) = (ground.own(), ground.status());
    let apply = || Workspace::apply(&ground.workspace(), base, tip, MADE, &never).unwrap();
    assert_eq!(runs_nothing(&ground, apply), Applied::Done { changed: 4 });
    assert_eq!(ground.text("a.txt").unwrap(), "ONE\ntwo\nthree, mine\nfour\nFIVE\n");
    assert_eq!((ground.text("new/file").as_deref(), ground.text("b/c.txt")), (Some("new\n"), None));
    assert_eq!((ground.own(), ground.status()), (own, status), "after it was applied");
}

/// Nothing that a repository names leaves its mark meanwhile. What git runs when the test asks it is not counted.
fn runs_nothing<T>(ground: &Ground, work: impl FnOnce() -> T) -> T {
    let _ = fs::remove_file(ground.beside("ran"));
    let done = work();
    assert!(!ground.beside("ran").exists(), "something of the repository was run");
    done
}

fn merged(ground: &Ground, base: TreeId, first: &Path, second: &Path) -> TreeId {
    let workspace = ground.workspace();
    let merge = |tip, candidate| match Workspace::merge(&workspace, base, tip, candidate, &never).unwrap() {
        Merge::Clean(tree) => tree,
        Merge::Conflicts(conflicts) => panic!("{conflicts:?}"),
    };
    let tip = merge(base, ground.candidate(first, base));
    merge(tip, ground.candidate(second, base))
}

fn salvages(ground: &Ground, base: TreeId, worktree: &Path) {
    let unmerged = Unmerged { root: task(9), task: task(2), attempt: 1, base };
    let salvaging = || salvage(&ground.opened(worktree), &ground.workspace(), unmerged, MADE, &never);
    let kept = runs_nothing(ground, salvaging).unwrap().unwrap();
    assert_eq!(kept.not_drawn, None);
    let reference = format!("refs/windlass/{}/salvage-{}-1", task(9), task(2));
    assert_eq!(kept.git_ref, ground.is_repository().then(|| reference.clone()));
    if ground.is_repository() {
        assert_eq!(ground.git(&["show", &format!("{reference}:a.txt")]), "one\ntwo\nthree\nfour\nFIVE");
    }
    assert_eq!(kept.tree, ground.candidate(worktree, base));
}

#[test]
fn a_folder_that_is_no_repository() {
    check(Case { make: |_| {}, seen: &[] });
}

#[test]
fn a_clean_repository() {
    check(Case { make: |ground| ground.commit_all(), seen: &[] });
}

#[test]
fn no_commit_yet() {
    check(Case {
        make: |ground| {
            ground.git(&["init", "-q"]);
        },
        seen: &[],
    });
    check(Case {
        make: |ground| {
            ground.git(&["init", "-q"]);
            ground.git(&["add", "a.txt"]);
        },
        seen: &[],
    });
}

#[test]
fn a_dirty_tree() {
    check(Case {
        make: |ground| {
            for path in ["edited", "staged", "staged-edited", "removed", "removed-staged", "moved"] {
                ground.put(path, "1\n");
            }
            ground.commit_all();
            for path in ["edited", "staged", "staged-edited"] {
                ground.put(path, "2\n");
            }
            ground.put("added", "1\n");
            ground.put("meant", "1\n");
            ground.git(&["add", "staged", "staged-edited", "added"]);
            ground.git(&["add", "-N", "meant"]);
            ground.put("staged-edited", "3\n");
            fs::remove_file(ground.home.join("removed")).unwrap();
            ground.git(&["rm", "-q", "removed-staged"]);
            ground.git(&["mv", "moved", "elsewhere"]);
        },
        seen: &["edited", "staged", "staged-edited", "added", "meant", "elsewhere"],
    });
}

#[test]
fn in_the_middle_of_a_conflict() {
    check(Case {
        make: |ground| {
            ground.put("both", "1\n");
            ground.commit_all();
            ground.git(&["checkout", "-q", "-b", "other"]);
            ground.put("both", "2\n");
            ground.git(&["commit", "-q", "-a", "-m", "other"]);
            ground.git(&["checkout", "-q", "main"]);
            ground.put("both", "3\n");
            ground.git(&["commit", "-q", "-a", "-m", "main"]);
            ground.git(&["read-tree", "-m", "main~", "main", "other"]);
        },
        seen: &["both"],
    });
}

#[test]
fn untracked_and_ignored_files() {
    check(Case {
        make: |ground| {
            ground.put(".gitignore", "/target\n*.log\n/node_modules\n");
            ground.commit_all();
            ground.put("notes", "untracked\n");
            ground.put("target/app", "ignored\n");
            ground.put("x.log", "ignored\n");
            ground.put("node_modules/dep/index.js", "carried\n");
            ground.put("output/report", "another's\n");
            ground.put(".memo/m", "another's\n");
        },
        seen: &[".gitignore", "notes", "node_modules/dep/index.js"],
    });
}

#[test]
fn submodules() {
    check(Case {
        make: |ground| {
            let library = ground.beside("library");
            put(&library.join("code.c"), "code\n");
            ground.git_in(&library, &["init", "-q", "-b", "main"]);
            ground.git_in(&library, &["add", "-A"]);
            ground.git_in(&library, &["commit", "-q", "-m", "library"]);
            ground.commit_all();
            ground.git(&["submodule", "add", "-q", library.to_str().unwrap(), "vendor/library"]);
            ground.git(&["commit", "-q", "-m", "submodule"]);
            // Not of the commit that the repository names, and not clean.
            ground.put("vendor/library/code.c", "edited\n");
        },
        seen: &[".gitmodules", "vendor/library/code.c"],
    });
}

const POINTER: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";

#[test]
fn large_files_that_are_pointers() {
    check(Case {
        make: |ground| {
            ground.put(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
            ground.put("data/model.bin", POINTER);
            ground.commit_all();
            let run = format!("touch '{}'; cat", ground.beside("ran").display());
            for (name, command) in [("clean", &run), ("smudge", &run), ("process", &"false".to_owned())] {
                ground.git(&["config", &format!("filter.lfs.{name}"), command]);
            }
            ground.git(&["config", "filter.lfs.process", ""]);
        },
        seen: &[".gitattributes", "data/model.bin"],
    });
}

fn trapped(ground: &Ground) {
    ground.put(".gitattributes", "*.filtered filter=evil\n");
    ground.put("x.filtered", "x\n");
    ground.commit_all();
    let run = format!("touch '{}'", ground.beside("ran").display());
    for hook in ["post-checkout", "post-merge", "post-commit", "reference-transaction", "post-index-change"] {
        let path = ground.home.join(".git/hooks").join(hook);
        put(&path, format!("#!/bin/sh\n{run}\n"));
        fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    ground.git(&["config", "filter.evil.clean", &format!("{run}; cat")]);
    ground.git(&["config", "filter.evil.smudge", &format!("{run}; cat")]);
    ground.git(&["config", "merge.evil.driver", &run]);
}

#[test]
fn hooks_and_filters() {
    check(Case { make: |ground| trapped(ground), seen: &[".gitattributes", "x.filtered"] });
}

/// The control: git's own worktrees run them.
#[test]
fn hooks_and_filters_run_where_git_makes_the_worktree() {
    let ground = Ground::new();
    trapped(&ground);
    let _ = fs::remove_file(ground.beside("ran"));
    ground.git(&["worktree", "add", "-q", "--detach", ground.beside("gits").to_str().unwrap()]);
    assert!(ground.beside("ran").exists());
}

#[test]
fn a_sparse_checkout() {
    check(Case {
        make: |ground| {
            ground.put("docs/page", "page\n");
            ground.put("src/main", "main\n");
            ground.commit_all();
            ground.git(&["sparse-checkout", "set", "--no-cone", "/a.txt", "/b/", "/src/"]);
            assert!(!ground.home.join("docs").exists());
        },
        seen: &["src/main"],
    });
}

#[test]
fn a_linked_worktree() {
    check(Case {
        make: |ground| {
            ground.put("only", "1\n");
            ground.commit_all();
            let linked = ground.beside("linked");
            ground.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
            ground.home = linked;
            ground.put("untracked", "1\n");
        },
        seen: &["only", "untracked"],
    });
}

#[test]
fn symlinks() {
    check(Case {
        make: |ground| {
            put(&ground.beside("outside/secret"), "secret");
            for (target, name) in [("a.txt", "file"), ("b", "folder"), ("nowhere", "broken"), ("/etc", "out")] {
                symlink(target, ground.home.join(name)).unwrap();
            }
            symlink(ground.beside("outside"), ground.home.join("away")).unwrap();
            ground.commit_all();
        },
        seen: &["file", "folder", "broken", "out", "away"],
    });
}

#[test]
fn read_only_files() {
    let read_only = |ground: &mut Ground| {
        ground.put("fixed", "1\n");
        ground.put("tool", "1\n");
        ground.commit_all();
        for (path, mode) in [("a.txt", 0o444), ("fixed", 0o400), ("tool", 0o555)] {
            fs::set_permissions(ground.home.join(path), PermissionsExt::from_mode(mode)).unwrap();
        }
        // The user saves as an editor does.
        let text = ground.text("a.txt").unwrap();
        fs::remove_file(ground.home.join("a.txt")).unwrap();
        ground.put("a.txt", text);
    };
    check(Case { make: read_only, seen: &["fixed", "tool"] });
    let mut ground = Ground::new();
    read_only(&mut ground);
    fs::set_permissions(ground.home.join("a.txt"), PermissionsExt::from_mode(0o444)).unwrap();
    let base = Workspace::capture(&ground.workspace()).unwrap();
    let worktree = ground.prepare(base, 1);
    put(&worktree.join("a.txt"), "an attempt may write\n");
    let tree = ground.candidate(&worktree, base);
    Workspace::apply(&ground.workspace(), base, tree, MADE, &never).unwrap();
    let mode = fs::metadata(ground.home.join("a.txt")).unwrap().permissions().mode() & 0o777;
    assert_eq!((ground.text("a.txt").as_deref(), mode), (Some("an attempt may write\n"), 0o444));
}

/// Ten times as many are measured in `make bench`.
#[test]
fn five_thousand_files() {
    const FOLDERS: usize = 25;
    const FILES: usize = 200;
    let ground = Ground::new();
    for folder in 0..FOLDERS {
        let inner = ground.home.join(format!("many/{folder}"));
        fs::create_dir_all(&inner).unwrap();
        (0..FILES).for_each(|file| fs::write(inner.join(file.to_string()), format!("{folder} {file}")).unwrap());
    }
    let base = Workspace::capture(&ground.workspace()).unwrap();
    let worktree = ground.prepare(base, 1);
    assert_eq!(files(&worktree).len(), FOLDERS * FILES + 2);
    put(&worktree.join("many/7/7"), "changed");
    let tree = ground.candidate(&worktree, base);
    assert_eq!(Workspace::changes(&ground.workspace(), base, tree).unwrap(), ["many/7/7"]);
    assert_eq!(Workspace::apply(&ground.workspace(), base, tree, MADE, &never).unwrap(), Applied::Done { changed: 1 });
    assert_eq!(ground.text("many/7/7").as_deref(), Some("changed"));
}
