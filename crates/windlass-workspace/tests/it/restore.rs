//! Protected paths are made what they were, and every way of tampering is reported.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use windlass_domain::TreeId;
use windlass_workspace::{Error, Snapshots};

use crate::support::{SECRET, Unhurried, Yard, put};

/// A baseline, and a copy of it to tamper with.
struct Case {
    yard: Yard,
    snapshots: Snapshots,
    tree: TreeId,
    copy: PathBuf,
}

impl Case {
    fn new() -> Self {
        let yard = Yard::new();
        yard.put("tests/a.py", "assert a");
        yard.put("tests/deep/b.py", "assert b");
        yard.put("tests/run.sh", "#!/bin/sh");
        fs::set_permissions(yard.inside("tests/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
        yard.link("a.py", "tests/link.py");
        yard.put("src/lib.py", "code");
        yard.put("pages/[id].tsx", "page");
        let snapshots = yard.snapshots_carrying(&["tests/node_modules"]);
        let tree = snapshots.capture().unwrap();
        let copy = yard.empty("copy");
        snapshots.lay(tree, &copy).unwrap();
        Self { yard, snapshots, tree, copy }
    }

    fn restore(&self, paths: &[&str]) -> Vec<String> {
        let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
        let reported = self.snapshots.put_back(self.tree, &paths, &self.copy).unwrap();
        let again = self.snapshots.put_back(self.tree, &paths, &self.copy).unwrap();
        assert_eq!(again, Vec::<String>::new(), "restoring is complete");
        reported
    }
}

#[test]
fn nothing_is_reported_when_nothing_was_touched() {
    assert_eq!(Case::new().restore(&["tests", "src/*.py", "pages/[id].tsx"]), Vec::<String>::new());
}

#[test]
fn every_way_of_tampering_is_reported_and_undone() {
    let check = |tamper: &dyn Fn(&Path), expected: &[&str]| {
        let case = Case::new();
        tamper(&case.copy);
        assert_eq!(case.restore(&["tests"]), expected);
        assert_eq!(fs::read(case.copy.join("tests/a.py")).unwrap(), b"assert a");
        assert_eq!(fs::read(case.copy.join("tests/deep/b.py")).unwrap(), b"assert b");
        assert_eq!(fs::read_link(case.copy.join("tests/link.py")).unwrap(), Path::new("a.py"));
        assert!(!case.copy.join("tests/conftest.py").exists());
        assert!(!case.copy.join("tests").is_symlink());
    };
    check(&|copy| put(&copy.join("tests/a.py"), "assert True"), &["tests/a.py"]);
    check(&|copy| fs::remove_file(copy.join("tests/a.py")).unwrap(), &["tests/a.py"]);
    check(&|copy| put(&copy.join("tests/conftest.py"), "skip"), &["tests/conftest.py"]);
    check(&|copy| put(&copy.join("tests/new/conftest.py"), "skip"), &["tests/new"]);
    check(
        &|copy| {
            fs::set_permissions(copy.join("tests/run.sh"), fs::Permissions::from_mode(0o644)).unwrap();
        },
        &["tests/run.sh"],
    );
    check(
        &|copy| {
            fs::remove_file(copy.join("tests/link.py")).unwrap();
            symlink("deep/b.py", copy.join("tests/link.py")).unwrap();
        },
        &["tests/link.py"],
    );
    check(
        &|copy| {
            fs::remove_file(copy.join("tests/a.py")).unwrap();
            symlink("../src/lib.py", copy.join("tests/a.py")).unwrap();
        },
        &["tests/a.py"],
    );
    check(
        &|copy| {
            fs::remove_file(copy.join("tests/a.py")).unwrap();
            put(&copy.join("tests/a.py/now/a/folder"), "x");
        },
        &["tests/a.py"],
    );
    check(
        &|copy| {
            fs::remove_dir_all(copy.join("tests/deep")).unwrap();
            fs::write(copy.join("tests/deep"), "now a file").unwrap();
        },
        &["tests/deep", "tests/deep/b.py"],
    );
    check(
        &|copy| {
            fs::rename(copy.join("tests"), copy.join("moved")).unwrap();
            symlink("moved", copy.join("tests")).unwrap();
        },
        &["tests", "tests/a.py", "tests/deep", "tests/deep/b.py", "tests/link.py", "tests/run.sh"],
    );
    check(&|copy| crate::support::pipe(&copy.join("tests/pipe")), &["tests/pipe"]);
}

#[test]
fn a_folder_swapped_for_a_link_out_is_replaced_and_what_it_led_to_untouched() {
    let case = Case::new();
    fs::remove_dir_all(case.copy.join("tests")).unwrap();
    symlink(case.yard.outside(""), case.copy.join("tests")).unwrap();
    let reported = case.restore(&["tests/*.py"]);
    assert_eq!(reported, ["tests", "tests/a.py", "tests/link.py"]);
    assert_eq!(fs::read_dir(case.yard.outside("")).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(case.yard.outside("secret")).unwrap(), SECRET);
}

#[test]
fn what_is_not_meant_is_left_as_it_is() {
    let case = Case::new();
    put(&case.copy.join("src/lib.py"), "the agent's work");
    put(&case.copy.join("tests/deep/extra.py"), "not matched by the glob");
    put(&case.copy.join("tests/evil.py"), "matched by the glob");
    assert_eq!(case.restore(&["tests/*.py"]), ["tests/evil.py"]);
    assert_eq!(fs::read(case.copy.join("src/lib.py")).unwrap(), b"the agent's work");
    assert!(case.copy.join("tests/deep/extra.py").exists());
}

#[test]
fn globs_reach_files_in_folders_the_snapshot_does_not_have() {
    let case = Case::new();
    put(&case.copy.join("elsewhere/conftest.py"), "skip everything");
    assert_eq!(case.restore(&["conftest.py", "**/conftest.py"]), ["elsewhere/conftest.py"]);
}

#[test]
fn names_that_look_like_globs_are_protected_as_written() {
    let case = Case::new();
    put(&case.copy.join("pages/[id].tsx"), "tampered");
    assert_eq!(case.restore(&["pages/[id].tsx"]), ["pages/[id].tsx"]);
}

#[test]
fn carried_paths_and_the_runtimes_files_are_left_alone() {
    let case = Case::new();
    put(&case.copy.join("tests/node_modules/x.js"), "carried");
    put(&case.copy.join("output/report.md"), "report");
    put(&case.copy.join(".git/config"), "git");
    assert_eq!(case.restore(&["**"]), Vec::<String>::new());
    assert!(case.copy.join("tests/node_modules/x.js").exists());
    assert!(case.copy.join("output/report.md").exists());
}

#[test]
fn patterns_that_leave_the_workspace_are_refused() {
    let case = Case::new();
    for pattern in ["../workspace-evil/secret", "/etc/passwd"] {
        let result = case.snapshots.put_back(case.tree, &[pattern.to_owned()], &case.copy);
        assert!(matches!(result, Err(Error::Outside { .. })), "{result:?}");
    }
}
