//! What two made of one tree, together: every kind of agreement and disagreement, and the same answers as git's.

#![expect(clippy::disallowed_methods, reason = "git is asked for its opinion")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
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

/// A repository whose three versions are merged by git, which looks for no moved files here.
struct Git(tempfile::TempDir);

impl Git {
    fn new() -> Self {
        let git = Self(tempfile::TempDir::new().unwrap());
        git.say(&["init", "-q"]);
        git
    }

    fn try_say(&self, words: &[&str]) -> (bool, String) {
        let quiet =
            ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false", "-c", "merge.renames=false"];
        let ended = Command::new("git").current_dir(self.0.path()).args(quiet).args(words).output().expect("git");
        (ended.status.success(), String::from_utf8(ended.stdout).unwrap().trim().to_owned())
    }

    fn say(&self, words: &[&str]) -> String {
        let (is_good, said) = self.try_say(words);
        assert!(is_good, "git {words:?}");
        said
    }

    fn commit(&self, files: &BTreeMap<String, String>, parents: &[&str]) -> String {
        for name in std::fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap()) {
            if name.file_name() != ".git" {
                let _ = std::fs::remove_dir_all(name.path());
                let _ = std::fs::remove_file(name.path());
            }
        }
        lay(self.0.path(), files);
        self.say(&["add", "-A", "--force"]);
        let tree = self.say(&["write-tree"]);
        let parents: Vec<&str> = parents.iter().flat_map(|parent| ["-p", parent]).collect();
        self.say(&[&["commit-tree", &tree, "-m", "m"], &parents[..]].concat())
    }

    fn merge(&self, [base, ours, theirs]: [&BTreeMap<String, String>; 3]) -> Option<BTreeMap<String, String>> {
        let base = self.commit(base, &[]);
        let (ours, theirs) = (self.commit(ours, &[&base]), self.commit(theirs, &[&base]));
        let (is_clean, said) = self.try_say(&["merge-tree", "--write-tree", &ours, &theirs]);
        let tree = said.lines().next().unwrap_or_default().to_owned();
        is_clean.then(|| self.files_of(&tree))
    }

    fn files_of(&self, tree: &str) -> BTreeMap<String, String> {
        let copy = tempfile::TempDir::new().unwrap();
        let out = copy.path().join("out");
        std::fs::create_dir(&out).unwrap();
        let prefix = format!("--prefix={}/", out.display());
        for words in [vec!["read-tree", tree], vec!["checkout-index", "-a", &prefix]] {
            let mut command = Command::new("git");
            command.current_dir(self.0.path()).env("GIT_INDEX_FILE", copy.path().join("index")).args(words);
            assert!(command.status().expect("git").success());
        }
        read(&out)
    }
}

/// Few paths and few lines, so that the two often meet; no line is there twice, so that there is one way to see what changed.
fn some_files() -> impl Strategy<Value = BTreeMap<String, String>> {
    let text = (1..10_usize).prop_map(|lines| (0..lines).map(|line| format!("line {line}\n")).collect::<String>());
    let path = prop::sample::select(vec!["p", "q", "q*", "d/r", "d/s", "d/e/t"]);
    prop::collection::btree_map(path.prop_map(str::to_owned), text, 0..6).prop_map(|mut files| {
        // One name is one file.
        if files.contains_key("q*") {
            files.remove("q");
        }
        files
    })
}

/// What an agent might do to it: lines changed, added and taken out, files added.
fn changed(files: BTreeMap<String, String>) -> impl Strategy<Value = BTreeMap<String, String>> {
    let edit = (0..6_usize, 0..10_usize, prop::sample::select(vec!["", "x\n", "y\n", "x\ny\n", "+z\n"]));
    (prop::collection::vec(edit, 0..4), some_files(), any::<bool>()).prop_map(move |(edits, more, adds)| {
        let mut files = files.clone();
        for (file, line, to) in edits {
            let Some(text) = files.values_mut().nth(file) else { continue };
            let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
            if line < lines.len() {
                lines[line] = if to.starts_with('+') { format!("{}{to}", lines[line]) } else { to.to_owned() };
                *text = lines.concat();
            }
        }
        if adds {
            let taken =
                |path: &String| files.keys().any(|known| known.trim_end_matches('*') == path.trim_end_matches('*'));
            let new: Vec<_> = more.into_iter().filter(|(path, _)| !taken(path)).take(1).collect();
            files.extend(new);
        }
        files
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    /// Where both are sure they say the same, and what git cannot merge we do not either.
    #[test]
    fn git_is_of_the_same_opinion(
        (base, ours, theirs) in some_files().prop_flat_map(|base| (Just(base.clone()), changed(base.clone()), changed(base)))
    ) {
        let versions = [&base, &ours, &theirs];
        let (we, git) = (Three::new().merge(versions), Git::new().merge(versions));
        match (&we, &git) {
            (Ok(ours), Some(theirs)) => prop_assert_eq!(ours, theirs),
            (Ok(ours), None) => prop_assert!(false, "git found a conflict where we found {ours:?}"),
            (Err(conflicts), Some(tree)) => prop_assert!(false, "git found {tree:?} where we found {conflicts:?}"),
            (Err(_), None) => {}
        }
    }
}
