//! What two made of one tree, together: every kind of agreement and disagreement.

use std::collections::BTreeMap;
use std::path::Path;

use windlass_domain::TreeId;
use windlass_workspace::{Conflict, Disagreement, Merged, Snapshots};

use crate::capture::{Thing, everything};
use crate::support::{Unhurried, Yard, never, put};

/// Paths and what is in them; a name that ends in `*` is executable, content after `->` is a link's.
type Files<'a> = &'a [(&'a str, &'a str)];

struct Three {
    yard: Yard,
    snapshots: Snapshots,
}

impl Three {
    fn new() -> Self {
        let yard = Yard::new();
        Self { snapshots: yard.snapshots(), yard }
    }

    fn tree(&self, files: &BTreeMap<String, String>) -> TreeId {
        std::fs::remove_dir_all(self.yard.inside("")).unwrap();
        std::fs::create_dir(self.yard.inside("")).unwrap();
        lay(&self.yard.inside(""), files);
        self.yard.snapshots().capture().unwrap()
    }

    fn merge(&self, versions: [&BTreeMap<String, String>; 3]) -> Result<BTreeMap<String, String>, Vec<Conflict>> {
        let [base, ours, theirs] = versions.map(|files| self.tree(files));
        match self.snapshots.merge(base, ours, theirs, &never).unwrap() {
            Merged::Conflicts(conflicts) => Err(conflicts),
            Merged::Clean(tree) => {
                let copy = tempfile::TempDir::new().unwrap();
                self.snapshots.lay(tree, copy.path()).unwrap();
                Ok(read(copy.path()))
            }
        }
    }
}

fn lay(folder: &Path, files: &BTreeMap<String, String>) {
    for (path, content) in files {
        let at = folder.join(path.trim_end_matches('*'));
        match content.strip_prefix("->") {
            Some(target) => {
                std::fs::create_dir_all(at.parent().unwrap()).unwrap();
                std::os::unix::fs::symlink(target, at).unwrap();
            }
            None => put(&at, content),
        }
        if path.ends_with('*') {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(folder.join(path.trim_end_matches('*')), PermissionsExt::from_mode(0o755))
                .unwrap();
        }
    }
}

fn read(folder: &Path) -> BTreeMap<String, String> {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let entry = |(path, thing): (std::path::PathBuf, Thing)| {
        let path = path.to_str().unwrap().to_owned();
        match thing {
            Thing::File(bytes) => Some((path, text(bytes))),
            Thing::Executable(bytes) => Some((format!("{path}*"), text(bytes))),
            Thing::Symlink(target) => Some((path, format!("->{}", target.display()))),
            Thing::Folder => None,
        }
    };
    everything(folder).into_iter().filter(|(path, _)| !path.starts_with(".git")).filter_map(entry).collect()
}

fn owned(files: Files<'_>) -> BTreeMap<String, String> {
    files.iter().map(|(path, content)| ((*path).to_owned(), (*content).to_owned())).collect()
}

fn clean(base: Files<'_>, ours: Files<'_>, theirs: Files<'_>, expected: Files<'_>) {
    let merged = Three::new().merge([&owned(base), &owned(ours), &owned(theirs)]);
    assert_eq!(merged, Ok(owned(expected)));
    let other_way = Three::new().merge([&owned(base), &owned(theirs), &owned(ours)]);
    assert_eq!(other_way, Ok(owned(expected)), "the other way round");
}

fn conflict(base: Files<'_>, ours: Files<'_>, theirs: Files<'_>, expected: &[(&str, Disagreement)]) {
    let expected: Vec<Conflict> =
        expected.iter().map(|(path, kind)| Conflict { path: (*path).to_owned(), kind: *kind }).collect();
    for sides in [[ours, theirs], [theirs, ours]] {
        let merged = Three::new().merge([&owned(base), &owned(sides[0]), &owned(sides[1])]);
        assert_eq!(merged, Err(expected.clone()));
    }
}

#[test]
fn what_one_side_changed_is_kept() {
    let base: Files<'_> = &[("a", "1"), ("b", "1"), ("c", "1"), ("d/e", "1"), ("d/f", "1")];
    let ours: Files<'_> = &[("a", "2"), ("c", "1"), ("d/e", "1"), ("d/f", "1"), ("new/x", "n")];
    let theirs: Files<'_> = &[("a", "1"), ("b", "1"), ("c*", "1"), ("d/e", "3"), ("l", "->a")];
    clean(base, ours, theirs, &[("a", "2"), ("c*", "1"), ("d/e", "3"), ("l", "->a"), ("new/x", "n")]);
}

#[test]
fn the_same_change_on_both_sides_is_one() {
    clean(&[("a", "1"), ("b", "1")], &[("a", "2"), ("n", "x")], &[("a", "2"), ("n", "x")], &[("a", "2"), ("n", "x")]);
}

#[test]
fn lines_and_the_executable_bit_are_merged_apart() {
    clean(&[("s", "a\nb\nc\nd\n")], &[("s*", "A\nb\nc\nd\n")], &[("s", "a\nb\nc\nD\n")], &[("s*", "A\nb\nc\nD\n")]);
}

#[test]
fn a_folder_that_both_empty_is_gone() {
    clean(
        &[("d/a", "1"), ("d/b", "1"), ("k", "")],
        &[("d/b", "1"), ("k", "")],
        &[("d/a", "1"), ("k", "")],
        &[("k", "")],
    );
    clean(&[("d/a", "1"), ("d/b", "1"), ("k", "")], &[("k", "")], &[("d/b", "1"), ("k", "")], &[("k", "")]);
    clean(
        &[("d/a", "1"), ("k", "")],
        &[("k", "")],
        &[("d/a", "1"), ("d/n", "n"), ("k", "")],
        &[("d/n", "n"), ("k", "")],
    );
}

#[test]
fn every_disagreement_is_told_with_its_path() {
    conflict(&[("a", "1\n")], &[("a", "2\n")], &[("a", "3\n")], &[("a", Disagreement::Lines)]);
    conflict(&[("a", "\0")], &[("a", "\0b")], &[("a", "\0c")], &[("a", Disagreement::Opaque)]);
    conflict(&[], &[("a", "2")], &[("a", "3")], &[("a", Disagreement::BothAdded)]);
    conflict(
        &[("a", "1"), ("k", "")],
        &[("k", "")],
        &[("a", "2"), ("k", "")],
        &[("a", Disagreement::ChangedAndRemoved)],
    );
    conflict(&[("a", "1")], &[("a/b", "1")], &[("a", "2")], &[("a", Disagreement::Kind)]);
    conflict(&[("a", "->x")], &[("a", "->y")], &[("a", "->z")], &[("a", Disagreement::Kind)]);
    let two = [("a", Disagreement::Lines), ("d/b", Disagreement::BothAdded)];
    conflict(&[("a", "1")], &[("a", "2"), ("d/b", "2")], &[("a", "3"), ("d/b", "3")], &two);
}

#[test]
fn it_stops_when_it_is_told_to() {
    let three = Three::new();
    let [base, ours, theirs] =
        [owned(&[("a", "1")]), owned(&[("a", "2")]), owned(&[("b", "1")])].map(|files| three.tree(&files));
    let stopped = three.snapshots.merge(base, ours, theirs, &|| true);
    assert!(matches!(stopped, Err(windlass_workspace::Error::Stopped)), "{stopped:?}");
}
