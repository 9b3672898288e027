//! `kill -9` before every system call that writes: nothing half done is left that the next one does not find and mend, and no edit
//! of the user's is lost.

#![expect(clippy::disallowed_methods, reason = "the process that is killed is told by the environment what to do")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use windlass_domain::{Applied, TreeId, Workspace};
use windlass_engine::worktrees::{Delivered, Unmerged, artifacts, prepare, salvage};

use crate::worktrees::ground::{Ground, MADE, files, never, put, task};
use crate::worktrees::killing::{Ended, be_traced, run};

const GROUND: &str = "WINDLASS_TEST_GROUND";
const WORK: &str = "WINDLASS_TEST_WORK";
const FROM: &str = "WINDLASS_TEST_FROM";
const TO: &str = "WINDLASS_TEST_TO";

/// What the killed process does, and whoever comes after it once more.
fn work(ground: &Ground, work: &str, from: TreeId, to: TreeId) {
    let folder = ground.worktrees().folder(task(1), 1);
    match work {
        "prepare" => drop(prepare(&ground.workspace(), to, from, (&folder, &[]), MADE, &never).unwrap()),
        "discard" => ground.worktrees().discard(task(1), 1).unwrap(),
        "salvage" => drop(salvaged(ground, from)),
        "artifacts" => {
            assert_eq!(artifacts(&folder, &ground.beside("kept/1"), &never).unwrap(), Delivered::Kept);
        }
        "apply" => drop(Workspace::apply(&ground.workspace(), from, to, MADE, &never).unwrap()),
        other => panic!("{other}"),
    }
}

fn salvaged(ground: &Ground, base: TreeId) -> String {
    let folder = ground.worktrees().folder(task(1), 1);
    let unmerged = Unmerged { root: task(9), task: task(1), attempt: 1, base };
    let kept = salvage(&ground.opened(&folder), &ground.workspace(), unmerged, MADE, &never).unwrap();
    kept.and_then(|kept| kept.git_ref).unwrap()
}

/// Not a test of its own: what the others start and kill.
#[test]
fn as_a_process_that_is_killed() {
    let told = |name| std::env::var(name).ok();
    let (Some(ground), Some(what), Some(from), Some(to)) = (told(GROUND), told(WORK), told(FROM), told(TO)) else {
        return;
    };
    let tree = |text: String| TreeId(text.parse().unwrap());
    be_traced();
    work(&Ground::at(Path::new(&ground)), &what, tree(from), tree(to));
}

struct Doomed<'a> {
    ground: &'a Ground,
    work: &'static str,
    from: TreeId,
    to: TreeId,
}

impl Doomed<'_> {
    fn run(&self, before: impl FnMut(usize) -> bool) -> Ended {
        let environment = [
            (GROUND, self.ground.beside("").display().to_string()),
            (WORK, self.work.to_owned()),
            (FROM, self.from.0.to_string()),
            (TO, self.to.0.to_string()),
        ];
        run("worktrees::crash::as_a_process_that_is_killed", &environment, before)
    }

    /// Killed before the first call that writes, the second, and so on until there is none. `after` looks at what is left, mends it
    /// and puts everything back as it was before. Says how many there were.
    fn at_every_write(&self, mut after: impl FnMut(usize)) -> usize {
        for number in 1.. {
            let ended = self.run(|call| call < number);
            after(number);
            if ended == Ended::ByItself {
                return number;
            }
        }
        0
    }
}

/// A base, and a tree that differs from it in every way.
fn two_trees(ground: &Ground) -> (TreeId, TreeId) {
    for (path, text) in [("file", "1\n"), ("folder/x", "1\n"), ("tool", "1\n"), ("gone/deep/er", "1\n")] {
        ground.put(path, text);
    }
    symlink("file", ground.home.join("link")).unwrap();
    let from = Workspace::capture(&ground.workspace()).unwrap();
    let folder = ground.beside("changed");
    Workspace::materialise(&ground.workspace(), from, from, &folder, MADE, &never).unwrap();
    put(&folder.join("a.txt"), "ONE\ntwo\nthree\nfour\nfive\n");
    put(&folder.join("new/deep/er"), "new\n");
    fs::remove_dir_all(folder.join("gone")).unwrap();
    fs::remove_file(folder.join("file")).unwrap();
    put(&folder.join("file/now"), "a folder\n");
    fs::remove_dir_all(folder.join("folder")).unwrap();
    put(&folder.join("folder"), "a file\n");
    fs::set_permissions(folder.join("tool"), PermissionsExt::from_mode(0o755)).unwrap();
    fs::remove_file(folder.join("link")).unwrap();
    symlink("tool", folder.join("link")).unwrap();
    (from, ground.candidate(&folder, from))
}

/// Every file with what is in it, a link with where it leads.
fn contents(folder: &Path) -> BTreeMap<String, String> {
    let read = |path: &String| match fs::read_link(folder.join(path)) {
        Ok(target) => format!("-> {}", target.display()),
        Err(_) => fs::read_to_string(folder.join(path)).unwrap(),
    };
    files(folder).into_iter().map(|path| (path.clone(), read(&path))).collect()
}

fn names(folder: &Path) -> BTreeSet<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    fs::read_dir(folder).map(|entries| entries.map(name).collect()).unwrap_or_default()
}

#[test]
fn a_worktree_is_there_whole_or_not_at_all() {
    let ground = Ground::new();
    let (from, to) = two_trees(&ground);
    let folder = ground.worktrees().folder(task(1), 1);
    let whole = contents(&ground.beside("changed"));
    let doomed = Doomed { ground: &ground, work: "prepare", from, to };
    let calls = doomed.at_every_write(|number| {
        if folder.exists() {
            assert_eq!(contents(&folder), whole, "killed at {number}");
        }
        work(&ground, "prepare", from, to);
        assert_eq!(contents(&folder), whole, "killed at {number}");
        assert_eq!(names(folder.parent().unwrap()), ["1".to_owned()].into(), "killed at {number}");
        ground.worktrees().discard(task(1), 1).unwrap();
    });
    assert!(calls > whole.len() * 2, "{calls}");
}

#[test]
fn a_worktree_is_gone_or_still_whole() {
    let ground = Ground::new();
    let (from, to) = two_trees(&ground);
    let folder = ground.worktrees().folder(task(1), 1);
    let whole = contents(&ground.beside("changed"));
    work(&ground, "prepare", from, to);
    let doomed = Doomed { ground: &ground, work: "discard", from, to };
    let calls = doomed.at_every_write(|number| {
        if folder.exists() {
            assert_eq!(contents(&folder), whole, "killed at {number}");
        }
        ground.worktrees().sweep(|_| true).unwrap();
        assert!(names(folder.parent().unwrap()).iter().all(|name| name == "1"), "killed at {number}");
        work(&ground, "prepare", from, to);
    });
    assert!(calls > whole.len(), "{calls}");
}

#[test]
fn artifacts_are_all_there_or_none() {
    let ground = Ground::new();
    let (from, to) = two_trees(&ground);
    work(&ground, "prepare", from, to);
    let output = ground.worktrees().folder(task(1), 1).join("output");
    put(&output.join("report"), "report");
    put(&output.join("deep/er"), "chart");
    let (into, whole) = (ground.beside("kept/1"), contents(&output));
    let doomed = Doomed { ground: &ground, work: "artifacts", from, to };
    let calls = doomed.at_every_write(|number| {
        if into.exists() {
            assert_eq!(contents(&into), whole, "killed at {number}");
        }
        work(&ground, "artifacts", from, to);
        assert_eq!(contents(&into), whole, "killed at {number}");
        assert_eq!(names(&ground.beside("kept")), ["1".to_owned()].into(), "killed at {number}");
        fs::remove_dir_all(&into).unwrap();
    });
    assert!(calls > 8, "{calls}");
}

#[test]
fn what_is_salvaged_is_in_the_repository_whenever_it_is_said_to_be() {
    let ground = Ground::new();
    ground.commit_all();
    let from = Workspace::capture(&ground.workspace()).unwrap();
    let folder = ground.prepare(from, 1);
    put(&folder.join("a.txt"), "work\n");
    let own = ground.own();
    let doomed = Doomed { ground: &ground, work: "salvage", from, to: from };
    let calls = doomed.at_every_write(|number| {
        let reference = salvaged(&ground, from);
        assert_eq!(ground.git(&["show", &format!("{reference}:a.txt")]), "work", "killed at {number}");
        assert_eq!(ground.own(), own, "killed at {number}");
        ground.git(&["fsck", "--strict", "--no-dangling"]);
        ground.git(&["update-ref", "-d", &reference]);
        // What makes the work durable is written again.
        fs::remove_dir_all(ground.data().join("objects")).unwrap();
        assert_eq!(Workspace::capture(&ground.workspace()).unwrap(), from);
    });
    assert!(calls > 8, "{calls}");
}

/// The user's folder as it was before anything was applied.
fn put_back(ground: &Ground, before: &Path) {
    fs::remove_dir_all(&ground.home).unwrap();
    windlass_workspace::copy_folder(before, &ground.home, &never).unwrap();
}

#[test]
fn a_result_arrives_whole_however_often_it_is_cut_off() {
    let ground = Ground::new();
    let (from, to) = two_trees(&ground);
    ground.put("a.txt", "one\ntwo\nthree, mine\nfour\nfive\n");
    ground.put("mine", "mine\n");
    let before = ground.beside("before");
    windlass_workspace::copy_folder(&ground.home, &before, &never).unwrap();
    let mut whole = contents(&ground.beside("changed"));
    whole.insert("a.txt".to_owned(), "ONE\ntwo\nthree, mine\nfour\nfive\n".to_owned());
    whole.insert("mine".to_owned(), "mine\n".to_owned());
    let former = contents(&before);
    let doomed = Doomed { ground: &ground, work: "apply", from, to };
    let calls = doomed.at_every_write(|number| {
        for (path, text) in contents(&ground.home) {
            let known = [whole.get(&path), former.get(&path)].into_iter().flatten().any(|known| *known == text);
            assert!(known || path.contains(".windlass-tmp-"), "killed at {number}: {path} is {text:?}");
        }
        work(&ground, "apply", from, to);
        assert_eq!(contents(&ground.home), whole, "killed at {number}");
        put_back(&ground, &before);
    });
    assert!(calls > 30, "{calls}");
}

/// The user saves two files, one of them changed and one removed by the result, at every moment; a few calls later the process is
/// killed.
#[test]
fn what_the_user_saves_at_the_last_moment_outlives_a_crash() {
    let ground = Ground::new();
    let from = Workspace::capture(&ground.workspace()).unwrap();
    let folder = ground.prepare(from, 1);
    put(&folder.join("a.txt"), "ONE\ntwo\nthree\nfour\nfive\n");
    fs::remove_file(folder.join("b/c.txt")).unwrap();
    let to = ground.candidate(&folder, from);
    let before = ground.beside("before");
    windlass_workspace::copy_folder(&ground.home, &before, &never).unwrap();
    let doomed = Doomed { ground: &ground, work: "apply", from, to };
    let save = |path: &str, text: &str| {
        ground.put("saving", text);
        fs::rename(ground.home.join("saving"), ground.home.join(path)).unwrap();
    };
    for moment in 1.. {
        let mut ended = Ended::ByItself;
        for later in 1..5 {
            ended = doomed.run(|call| {
                if call == moment {
                    let text = ground.text("a.txt").unwrap();
                    save("a.txt", &format!("{text}last\n"));
                    save("b/c.txt", "kept\n");
                }
                call < moment + later
            });
            let seen = || (ground.text("a.txt").unwrap_or_default(), ground.text("b/c.txt").unwrap_or_default());
            let applied = Workspace::apply(&ground.workspace(), from, to, MADE, &never).unwrap();
            let (a, c) = seen();
            let at = format!("saved at {moment}, killed {later} calls later: {applied:?}");
            if ended == Ended::Killed {
                assert!(a.ends_with("five\nlast\n"), "{at}: {a:?}");
                assert_eq!(c, "kept\n", "{at}");
            }
            assert!(matches!(applied, Applied::Done { .. } | Applied::Conflicts(_)), "{at}");
            assert!(!files(&ground.home).iter().any(|path| path.contains(".windlass-tmp-")), "{at}");
            put_back(&ground, &before);
        }
        if ended == Ended::ByItself {
            assert!(moment > 10, "{moment}");
            return;
        }
    }
}
