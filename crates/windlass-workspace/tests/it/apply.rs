//! Bringing a result into a folder that somebody is using: everything that changed arrives, and no edit is lost.

#![expect(clippy::disallowed_methods, reason = "a user works beside it, in a thread")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};

use windlass_domain::TreeId;
use windlass_workspace::{Applied, Disagreement, Snapshots};

use crate::capture::everything;
use crate::support::{Finished, MADE, SECRET, Unhurried, Yard, never, put};

/// A yard with a baseline, and the result that an agent made of it elsewhere.
struct Case {
    yard: Yard,
    snapshots: Snapshots,
    from: TreeId,
    to: TreeId,
}

impl Case {
    fn new(before: impl FnOnce(&Yard), agent: impl FnOnce(&std::path::Path)) -> Self {
        let yard = Yard::new();
        before(&yard);
        let snapshots = yard.snapshots();
        let from = snapshots.capture().unwrap();
        let copy = yard.path("copy");
        snapshots.lay(from, &copy).unwrap();
        agent(&copy);
        let elsewhere = windlass_workspace::SnapshotSetup::new(&copy, yard.path("data"), vec![]);
        let to = Snapshots::open(elsewhere).unwrap().candidate(from).unwrap().tree;
        Self { yard, snapshots, from, to }
    }

    fn apply(&self) -> Applied {
        self.snapshots.apply(self.from, self.to, MADE, &never).unwrap()
    }

    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.yard.inside(path)).ok()
    }
}

#[test]
fn every_kind_of_change_arrives() {
    let before = |yard: &Yard| {
        for (path, text) in [
            ("a", "1\n"),
            ("gone", "1"),
            ("d/gone", "1"),
            ("d/e/gone", "1"),
            ("file", "f"),
            ("folder/x", "x"),
            ("tool", "t"),
        ] {
            yard.put(path, text);
        }
        yard.link("a", "link");
    };
    let agent = |copy: &std::path::Path| {
        put(&copy.join("a"), "2\n");
        fs::remove_file(copy.join("gone")).unwrap();
        fs::remove_dir_all(copy.join("d")).unwrap();
        put(&copy.join("new/deep/er"), "n");
        fs::create_dir(copy.join("empty")).unwrap();
        fs::remove_file(copy.join("file")).unwrap();
        put(&copy.join("file/now/a/folder"), "f");
        fs::remove_dir_all(copy.join("folder")).unwrap();
        put(&copy.join("folder"), "now a file");
        fs::set_permissions(copy.join("tool"), PermissionsExt::from_mode(0o755)).unwrap();
        fs::remove_file(copy.join("link")).unwrap();
        std::os::unix::fs::symlink("tool", copy.join("link")).unwrap();
    };
    let case = Case::new(before, agent);
    let Applied::Done { changed } = case.apply() else { panic!("nobody is in the way") };
    assert!(changed > 10, "{changed}");
    assert_eq!(everything(&case.yard.inside("")), everything(&case.yard.path("copy")));
    assert_eq!(case.apply(), Applied::Done { changed: 0 }, "done again, it is done already");
}

#[test]
fn what_was_edited_meanwhile_stays() {
    let case = Case::new(
        |yard| {
            yard.put("a", "1\n2\n3\n4\n");
            yard.put("theirs", "1");
        },
        |copy| put(&copy.join("a"), "one\n2\n3\n4\n"),
    );
    case.yard.put("a", "1\n2\n3\nfour\n");
    case.yard.put("theirs", "2");
    case.yard.put("new", "by the user");
    assert_eq!(case.apply(), Applied::Done { changed: 1 });
    assert_eq!(case.text("a").as_deref(), Some("one\n2\n3\nfour\n"));
    assert_eq!((case.text("theirs").as_deref(), case.text("new").as_deref()), (Some("2"), Some("by the user")));
}

#[test]
fn where_they_disagree_nothing_is_changed() {
    let case = Case::new(
        |yard| {
            yard.put("a", "1\n");
            yard.put("b", "1\n");
        },
        |copy| {
            put(&copy.join("a"), "2\n");
            put(&copy.join("b"), "2\n");
        },
    );
    case.yard.put("a", "mine\n");
    let Applied::Conflicts(conflicts) = case.apply() else { panic!("both changed a") };
    assert_eq!(conflicts.len(), 1);
    assert_eq!((conflicts[0].path.as_str(), conflicts[0].kind), ("a", Disagreement::Lines));
    assert_eq!((case.text("a").as_deref(), case.text("b").as_deref()), (Some("mine\n"), Some("1\n")));
}

#[test]
fn permissions_that_nobody_changed_stay() {
    let case = Case::new(
        |yard| {
            yard.put("private", "1");
            fs::set_permissions(yard.inside("private"), PermissionsExt::from_mode(0o600)).unwrap();
        },
        |copy| put(&copy.join("private"), "2"),
    );
    case.apply();
    assert_eq!(fs::metadata(case.yard.inside("private")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(case.text("private").as_deref(), Some("2"));
}

#[test]
fn ignored_files_in_a_folder_that_goes_are_left() {
    let case = Case::new(
        |yard| {
            yard.put(".gitignore", "*.log\n");
            yard.put("d/a", "1");
            yard.put("d/mine.log", "keep");
        },
        |copy| fs::remove_dir_all(copy.join("d")).unwrap(),
    );
    assert!(matches!(case.apply(), Applied::Done { .. }));
    assert_eq!((case.text("d/a"), case.text("d/mine.log").as_deref()), (None, Some("keep")));
}

/// The attack: a folder on the way becomes a link that leads out, after the result was made.
#[test]
fn nothing_is_written_through_a_link() {
    let with_link = |is_there: bool| {
        let case = Case::new(|yard| yard.put("k", "1"), |copy| put(&copy.join("way/secret"), "overwritten"));
        if is_there {
            case.yard.link(case.yard.outside(""), "way");
        }
        let applied = case.apply();
        assert_eq!(fs::read_to_string(case.yard.outside("secret")).unwrap(), SECRET);
        (applied, case.text("way/secret"))
    };
    let (refused, _) = with_link(true);
    assert!(matches!(refused, Applied::Conflicts(_)), "{refused:?}");
    let (done, written) = with_link(false);
    assert_eq!((done, written.as_deref()), (Applied::Done { changed: 2 }, Some("overwritten")));
}

/// Somebody saves a file over and over while results arrive: each text that was saved is there until it is merged, and the
/// last one is never lost.
#[test]
fn a_user_who_saves_at_every_moment_loses_nothing() {
    for round in 0..8 {
        let case = Case::new(
            |yard| yard.put("a", "head\n\n\n\ntail 0\n"),
            |copy| put(&copy.join("a"), "HEAD\n\n\n\ntail 0\n"),
        );
        let is_over = AtomicBool::new(false);
        let (applied, last) = std::thread::scope(|scope| {
            let saver = scope.spawn(|| {
                let mut saved = 0;
                while !is_over.load(Ordering::Relaxed) && saved < 2_000 {
                    saved += 1;
                    let path = case.yard.inside("a");
                    // As editors do: read, change one's own line, write beside it, rename.
                    let text = fs::read_to_string(&path).unwrap();
                    let (rest, _) = text.rsplit_once("tail").unwrap();
                    let beside = case.yard.path("beside");
                    fs::write(&beside, format!("{rest}tail {saved}\n")).unwrap();
                    fs::rename(&beside, &path).unwrap();
                }
                saved
            });
            let _finished = Finished(&is_over);
            let applied = case.apply();
            is_over.store(true, Ordering::Relaxed);
            (applied, saver.join().unwrap())
        });
        let text = case.text("a").unwrap();
        assert!(text.ends_with(&format!("tail {last}\n")), "round {round}: {text:?} lost {last}, {applied:?}");
        assert!(!matches!(applied, Applied::Conflicts(_)), "{applied:?}");
        let left: Vec<_> =
            fs::read_dir(case.yard.inside("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["a"], "nothing is left beside it");
    }
}

#[test]
fn it_can_be_stopped_and_done_again() {
    let before = |yard: &Yard| (0..20).for_each(|n| yard.put(&format!("f{n}"), "1"));
    let agent = |copy: &std::path::Path| (0..20).for_each(|n| put(&copy.join(format!("f{n}")), "2"));
    for stop_after in [30, 45, 60, 75] {
        let case = Case::new(before, agent);
        let asked = std::cell::Cell::new(0);
        let stops = || {
            asked.set(asked.get() + 1);
            asked.get() > stop_after
        };
        let stopped = case.snapshots.apply(case.from, case.to, MADE, &stops);
        assert!(matches!(stopped, Err(windlass_workspace::Error::Stopped) | Ok(Applied::Done { .. })), "{stopped:?}");
        assert!(matches!(case.apply(), Applied::Done { .. }));
        assert_eq!(everything(&case.yard.inside("")), everything(&case.yard.path("copy")));
    }
}

/// As a process that is killed when it asks for the `moment`-th time whether to stop: nothing is tidied up. Whether it was.
fn killed_at(moment: usize, case: &Case) -> bool {
    let asked = std::cell::Cell::new(0);
    let dies = || {
        asked.set(asked.get() + 1);
        assert!(asked.get() < moment, "killed");
        false
    };
    let apply = || case.snapshots.apply(case.from, case.to, MADE, &dies);
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(apply)).is_err()
}

/// A task whose work was half brought when its process was killed is cancelled; another's work is brought into the same folder.
#[test]
fn what_another_task_left_half_brought_is_not_gone_on_with() {
    let names = ["a", "b", "c", "d"];
    let before = |yard: &Yard| names.iter().for_each(|name| yard.put(name, "1"));
    let agent = |copy: &std::path::Path| names.iter().for_each(|name| put(&copy.join(name), "2"));
    let (mut half, mut gone_on) = (0, 0);
    for moment in 1.. {
        let case = Case::new(before, agent);
        let texts = || names.map(|name| case.text(name).unwrap());
        let other = {
            let copy = case.yard.path("other");
            case.snapshots.lay(case.from, &copy).unwrap();
            put(&copy.join("other"), "2");
            let elsewhere = windlass_workspace::SnapshotSetup::new(&copy, case.yard.path("data"), vec![]);
            Snapshots::open(elsewhere).unwrap().candidate(case.from).unwrap().tree
        };
        if !killed_at(moment, &case) {
            break;
        }
        let left = texts();
        assert!(matches!(case.snapshots.apply(case.from, other, MADE, &never).unwrap(), Applied::Done { changed: 1 }));
        assert_eq!((texts(), case.text("other").as_deref()), (left.clone(), Some("2")), "killed at {moment}");
        let found = fs::read_dir(case.yard.inside("")).unwrap().count();
        assert_eq!(found, 5, "killed at {moment}: something is left beside a name");
        half += usize::from(left.contains(&"1".to_owned()));
        // The control: whoever brings the same goes on.
        assert!(matches!(case.apply(), Applied::Done { .. }));
        gone_on += usize::from(texts() == ["2"; 4]);
    }
    assert!(half > 3 && gone_on >= half, "{half} {gone_on}");
}

fn texts(case: &Case, names: &[&str]) -> Vec<Option<String>> {
    names.iter().map(|name| case.text(name)).collect()
}

const NAMES: [&str; 7] = ["a", "gone", "m", "new/deep", "turned", "turned/x", "z"];

/// Changes of every kind, around two files that the user may be at.
fn of_every_kind() -> Case {
    let before = |yard: &Yard| {
        ["a", "gone", "m", "turned", "z"].iter().for_each(|name| yard.put(name, "1\n"));
        fs::set_permissions(yard.inside("gone"), PermissionsExt::from_mode(0o600)).unwrap();
        fs::set_permissions(yard.inside("a"), PermissionsExt::from_mode(0o744)).unwrap();
    };
    let agent = |copy: &std::path::Path| {
        ["a", "m", "z", "new/deep"].iter().for_each(|name| put(&copy.join(name), "2\n"));
        ["gone", "turned"].iter().for_each(|name| fs::remove_file(copy.join(name)).unwrap());
        put(&copy.join("turned/x"), "2\n");
    };
    Case::new(before, agent)
}

fn modes(case: &Case) -> Vec<Option<u32>> {
    let mode = |name: &&str| Some(fs::metadata(case.yard.inside(name)).ok()?.permissions().mode() & 0o777);
    NAMES.iter().map(mode).collect()
}

/// The process is killed between any two renames, and the user saves what disagrees with the result before anybody goes on: what was
/// brought until then is taken back, and the rest of the folder is as it was.
#[test]
fn a_conflict_after_a_kill_leaves_nothing_of_the_result() {
    let mut half = 0;
    for moment in 1.. {
        let case = of_every_kind();
        let (before, modes_before) = (texts(&case, &NAMES), modes(&case));
        let was_killed = killed_at(moment, &case);
        half += usize::from(was_killed && texts(&case, &NAMES) != before);
        case.yard.put("m", "mine\n");
        let applied = case.apply();
        assert_eq!(case.text("m").as_deref(), Some("mine\n"), "killed at {moment}");
        if !was_killed {
            assert!(half > 3, "{half}");
            return;
        }
        assert!(matches!(applied, Applied::Conflicts(_)), "killed at {moment}: {applied:?}");
        case.yard.put("m", "1\n");
        assert_eq!((texts(&case, &NAMES), modes(&case)), (before, modes_before), "killed at {moment}");
        let left: Vec<_> = everything(&case.yard.inside("")).into_keys().collect();
        assert_eq!(left.len(), 5, "killed at {moment}: {left:?}");
        // The control: nobody disagrees any more, and all of it arrives.
        assert!(matches!(case.apply(), Applied::Done { .. }), "killed at {moment}");
        assert_eq!(everything(&case.yard.inside("")), everything(&case.yard.path("copy")), "killed at {moment}");
    }
}

/// What the user went on with after the process was killed is theirs.
#[test]
fn what_was_brought_before_a_kill_and_edited_since_stays_as_it_was_edited() {
    let mut edited = 0;
    for moment in 1.. {
        let case = of_every_kind();
        if !killed_at(moment, &case) {
            assert!(edited > 3, "{edited}");
            return;
        }
        if case.text("a").as_deref() == Some("2\n") {
            edited += 1;
            case.yard.put("a", "2\nand mine\n");
            case.yard.put("m", "mine\n");
            let Applied::Conflicts(_) = case.apply() else { panic!("killed at {moment}: they disagree about m") };
            assert_eq!(case.text("a").as_deref(), Some("2\nand mine\n"), "killed at {moment}");
        }
    }
}

/// The user saves something that disagrees with the result, at every moment: either all of the result is there and they saved on top
/// of it, or nothing of it is.
#[test]
fn a_conflict_that_is_found_late_leaves_nothing_of_the_result() {
    let mut conflicts = 0;
    for moment in 1.. {
        let case = of_every_kind();
        let (before, modes_before) = (texts(&case, &NAMES), modes(&case));
        let asked = std::cell::Cell::new(0);
        let saves = || {
            asked.set(asked.get() + 1);
            if asked.get() == moment {
                case.yard.put("m", "mine\n");
            }
            false
        };
        let applied = case.snapshots.apply(case.from, case.to, MADE, &saves);
        if asked.get() < moment {
            assert!(conflicts > 10, "{conflicts}");
            return;
        }
        assert!(!everything(&case.yard.inside("")).keys().any(|path| path.to_string_lossy().contains("tmp")));
        assert_eq!(case.text("m").as_deref(), Some("mine\n"));
        if let Ok(Applied::Conflicts(_)) = applied {
            conflicts += 1;
            case.yard.put("m", "1\n");
            assert_eq!((texts(&case, &NAMES), modes(&case)), (before, modes_before), "saved at {moment}");
            assert!(!case.yard.inside("new").exists(), "saved at {moment}");
        } else {
            assert!(matches!(applied, Ok(Applied::Done { .. })), "saved at {moment}: {applied:?}");
            assert_eq!(case.text("z").as_deref(), Some("2\n"));
        }
    }
}

#[test]
fn what_is_stopped_leaves_nothing_of_the_result() {
    for moment in 1.. {
        let case = of_every_kind();
        let before = texts(&case, &NAMES);
        let asked = std::cell::Cell::new(0);
        let stops = || asked.replace(asked.get() + 1) == moment;
        match case.snapshots.apply(case.from, case.to, MADE, &stops) {
            Err(windlass_workspace::Error::Stopped) => {
                assert_eq!(texts(&case, &NAMES), before, "stopped at {moment}");
            }
            done => {
                assert!(matches!(done, Ok(Applied::Done { .. })), "{done:?}");
                assert!(moment > 20, "{moment}");
                return;
            }
        }
    }
}

/// As a disk that is full does: the last file of a result cannot be made.
#[test]
fn a_file_that_cannot_be_made_leaves_nothing_of_the_result() {
    for doomed in ["z", "turned/x"] {
        let case = Case::new(
            |yard| ["a", "gone", "turned", "z"].iter().for_each(|name| yard.put(name, "1\n")),
            |copy| {
                fs::remove_file(copy.join("gone")).unwrap();
                fs::remove_file(copy.join("turned")).unwrap();
                ["a", "turned/x", "z"].iter().for_each(|name| put(&copy.join(name), "2\n"));
                put(&copy.join(doomed), "doomed\n");
            },
        );
        let before = texts(&case, &NAMES);
        let digest = windlass_domain::Digest::of(b"doomed\n").to_string();
        fs::remove_file(case.yard.path("data/objects").join(&digest[..2]).join(&digest[2..])).unwrap();
        let failed = case.snapshots.apply(case.from, case.to, MADE, &never);
        assert!(matches!(failed, Err(windlass_workspace::Error::Damaged { .. })), "{failed:?}");
        assert_eq!(texts(&case, &NAMES), before, "{doomed}");
    }
}
