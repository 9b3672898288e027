//! What the port says in the domain's words: conflicts with their reasons, paths in order, names that git would not take.

#![expect(clippy::disallowed_methods, reason = "git makes the repository")]

use std::fs;
use std::process::Command;

use windlass_domain::{Applied, Drawing, Drawn, Merge, TreeId, Workspace, WorkspaceError};
use windlass_workspace::Snapshots;

use crate::support::{MADE, Yard, never};

struct Case {
    yard: Yard,
    snapshots: Snapshots,
    base: TreeId,
}

impl Case {
    fn new() -> Self {
        let yard = Yard::new();
        yard.put("a", "1\n");
        yard.put("b", "1\n");
        let snapshots = yard.snapshots();
        let base = snapshots.capture().unwrap();
        Self { yard, snapshots, base }
    }

    /// The workspace as it is with these files, and as it was again.
    fn with(&self, files: &[(&str, &str)]) -> TreeId {
        files.iter().for_each(|(path, text)| self.yard.put(path, text));
        let tree = self.port().capture_under(self.base, &never).unwrap().tree;
        files.iter().for_each(|(path, _)| fs::remove_file(self.yard.inside(path)).unwrap());
        ["a", "b"].iter().for_each(|path| self.yard.put(path, "1\n"));
        tree
    }

    fn port(&self) -> &dyn Workspace {
        &self.snapshots
    }
}

#[test]
fn a_merge_is_a_tree_or_says_which_paths_and_why() {
    let case = Case::new();
    let (ours, theirs) = (case.with(&[("a", "2\n")]), case.with(&[("b", "2\n"), ("c", "3\n")]));
    let Merge::Clean(both) = case.port().merge(case.base, ours, theirs, &never).unwrap() else {
        panic!("they do not touch the same file")
    };
    assert_eq!(case.port().changes(case.base, both).unwrap(), ["a", "b", "c"]);
    let other = case.with(&[("a", "3\n"), ("c", "4\n")]);
    assert_eq!(
        case.port().merge(case.base, both, other, &never).unwrap(),
        Merge::Conflicts(vec![
            "a: both changed the same lines".to_owned(),
            "c: both added it, with different content".to_owned()
        ])
    );
    assert!(matches!(case.port().merge(case.base, ours, theirs, &|| true), Err(WorkspaceError::Stopped)));
}

#[test]
fn a_result_is_applied_once_or_says_what_is_in_its_way() {
    let case = Case::new();
    let result = case.with(&[("a", "2\n")]);
    let apply = || case.port().apply(case.base, result, MADE, &never).unwrap();
    assert_eq!(apply(), Applied::Done { changed: 1 });
    assert_eq!(apply(), Applied::Done { changed: 0 }, "again leads to the same");
    case.yard.put("a", "the user's\n");
    assert_eq!(apply(), Applied::Conflicts(vec!["a: both changed the same lines".to_owned()]));
    assert_eq!(fs::read_to_string(case.yard.inside("a")).unwrap(), "the user's\n");
}

#[test]
fn a_path_that_became_another_kind_of_thing_is_told_once() {
    let case = Case::new();
    fs::remove_file(case.yard.inside("a")).unwrap();
    fs::create_dir(case.yard.inside("a")).unwrap();
    let after = case.port().capture().unwrap();
    assert_eq!(case.port().changes(case.base, after).unwrap(), ["a"]);
}

#[test]
fn a_drawing_is_found_under_its_name_or_there_is_no_repository() {
    let case = Case::new();
    let draw = |name: &[&str]| {
        let drawing = Drawing { name, tree: case.base, after: None, message: "kept", at: MADE };
        case.port().draw(drawing, &never)
    };
    assert_eq!(draw(&["root", "salvage-a-1"]).unwrap(), Drawn::NoRepository);
    let git = Command::new("git").args(["init", "-q"]).arg(case.yard.inside("")).status().unwrap();
    assert!(git.success());
    let drawn = draw(&["root", "salvage-a-1"]).unwrap();
    assert!(matches!(drawn, Drawn::Yes { reference, .. } if reference == "refs/windlass/root/salvage-a-1"));
    let refused = draw(&["root", "..\n"]).unwrap_err().to_string();
    assert_eq!(refused, "`root/..\\n`: is not made of small letters, digits, `-` and `_`");
}
