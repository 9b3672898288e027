//! Random trees, changed by two, merged by us and by git: both find the same tree, or both a conflict. Files come and go, are renamed,
//! become executable, links, folders and back; lines end in CRLF, files in no line end, and names are whatever bytes a file
//! system takes. No line is twice in a text, so that there is one way to see what changed.
//!
//! We are stricter in three things, on purpose. A file that moved is one removed and one added: git looks for the file that it looks
//! most like, and may guess wrong. A name that is a folder for one and no folder for another is one thing: where all three
//! versions of it differ somebody is asked, while git looks at files alone, and what one of the two meant may be gone without
//! a word. And what both added is not the same because one of them left it empty: to git an empty file is what was there
//! before, and no answer. `where_git_goes_on_and_we_ask` has these cases.

#![expect(clippy::disallowed_methods, reason = "git is asked for its opinion")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tempfile::TempDir;
use windlass_domain::TreeId;
use windlass_workspace::{Conflict, Disagreement, Merged, SnapshotSetup, Snapshots};

use crate::capture::{Thing, everything};
use crate::support::{Unhurried, never, put};

/// Files and links, by their paths; folders are what is in them.
type Tree = BTreeMap<PathBuf, Thing>;

/// Puts it there, whatever stood in its way.
fn set(tree: &mut Tree, path: &Path, thing: Thing) {
    tree.retain(|known, _| !known.starts_with(path) && !path.starts_with(known));
    tree.insert(path.to_owned(), thing);
}

/// In memory where the machine has such a place: every tree is synced, and nothing here is about disks.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

struct Ours {
    folder: TempDir,
    snapshots: Snapshots,
}

impl Ours {
    fn new() -> Self {
        let folder = folder();
        std::fs::create_dir(folder.path().join("workspace")).unwrap();
        Self { snapshots: Self::open(&folder), folder }
    }

    fn open(folder: &TempDir) -> Snapshots {
        let (workspace, data) = (folder.path().join("workspace"), folder.path().join("data"));
        Snapshots::open(SnapshotSetup::new(workspace, data, Vec::new())).unwrap()
    }

    fn capture(&self, tree: &Tree) -> TreeId {
        let folder = self.folder.path().join("workspace");
        std::fs::remove_dir_all(&folder).unwrap();
        std::fs::create_dir(&folder).unwrap();
        for (path, thing) in tree {
            let at = folder.join(path);
            match thing {
                Thing::File(bytes) => put(&at, bytes),
                Thing::Executable(bytes) => {
                    put(&at, bytes);
                    std::fs::set_permissions(&at, PermissionsExt::from_mode(0o755)).unwrap();
                }
                Thing::Symlink(target) => {
                    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
                    symlink(target, at).unwrap();
                }
                Thing::Folder => unreachable!("folders are what is in them"),
            }
        }
        Self::open(&self.folder).capture().unwrap()
    }

    fn merge(&self, versions: [&Tree; 3]) -> Result<Tree, Vec<Conflict>> {
        let [base, one, other] = versions.map(|tree| self.capture(tree));
        let merged = self.merge_captured([base, one, other]);
        assert_eq!(merged, self.merge_captured([base, other, one]), "the other way round");
        merged
    }

    fn merge_captured(&self, [base, ours, theirs]: [TreeId; 3]) -> Result<Tree, Vec<Conflict>> {
        match self.snapshots.merge(base, ours, theirs, &never).unwrap() {
            Merged::Conflicts(conflicts) => Err(conflicts),
            Merged::Clean(tree) => {
                let copy = folder();
                self.snapshots.lay(tree, copy.path()).unwrap();
                Ok(everything(copy.path()).into_iter().filter(|(_, thing)| *thing != Thing::Folder).collect())
            }
        }
    }
}

struct Git {
    folder: TempDir,
    moves: Moves,
}

/// Whether git may take one file for another that moved. It cannot be told not to, in all versions; but where each line says in
/// which file it stands, no two files look alike.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moves {
    Seen,
    Unseen,
}

impl Git {
    fn new(moves: Moves) -> Self {
        let git = Self { folder: folder(), moves };
        assert!(git.command(&["init", "-q", "--bare"]).status().expect("git").success());
        git
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("git");
        command
            .current_dir(self.folder.path())
            .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1")]);
        command.args(words);
        command
    }

    /// How it ended, and the first line of what was said.
    fn say(&self, words: &[&str]) -> (Option<i32>, String) {
        let ended = self.command(words).output().expect("git");
        let said = String::from_utf8_lossy(&ended.stdout).lines().next().unwrap_or_default().to_owned();
        (ended.status.code(), said)
    }

    fn keep(&self, versions: &[(&str, &Tree)]) {
        let mut importing =
            self.command(&["fast-import", "--quiet", "--force"]).stdin(Stdio::piped()).spawn().expect("git");
        let mut stream = Vec::new();
        for (number, (name, tree)) in versions.iter().enumerate() {
            let after = if number == 0 { "" } else { "from :1\n" };
            let mark = number + 1;
            let commit =
                format!("commit refs/heads/{name}\nmark :{mark}\ncommitter a <a@b> 0 +0000\ndata 1\nm\n{after}");
            stream.extend_from_slice(commit.as_bytes());
            stream.extend_from_slice(b"deleteall\n");
            for (path, thing) in *tree {
                let (mode, bytes) = match thing {
                    Thing::File(bytes) => ("100644", bytes.clone()),
                    Thing::Executable(bytes) => ("100755", bytes.clone()),
                    Thing::Symlink(target) => ("120000", target.as_os_str().as_bytes().to_vec()),
                    Thing::Folder => unreachable!("folders are what is in them"),
                };
                let bytes = if self.moves == Moves::Unseen { tagged(path, &bytes) } else { bytes };
                let entry = format!("M {mode} inline {}\ndata {}\n", quoted(path), bytes.len());
                stream.extend_from_slice(entry.as_bytes());
                stream.extend_from_slice(&bytes);
                stream.push(b'\n');
            }
        }
        importing.stdin.take().unwrap().write_all(&stream).unwrap();
        assert!(importing.wait().unwrap().success(), "{}", stream.escape_ascii());
    }

    /// The tree that it finds, by its name.
    fn merge(&self, [base, ours, theirs]: [&Tree; 3]) -> Option<String> {
        self.keep(&[("base", base), ("ours", ours), ("theirs", theirs)]);
        match self.say(&["merge-tree", "--write-tree", "refs/heads/ours", "refs/heads/theirs"]) {
            (Some(0), tree) => Some(tree),
            (Some(1), _) => None,
            other => panic!("git merge-tree: {other:?}"),
        }
    }

    /// What it calls this tree.
    fn name(&self, tree: &Tree) -> String {
        self.keep(&[("merged", tree)]);
        self.say(&["rev-parse", "refs/heads/merged^{tree}"]).1
    }
}

fn tagged(path: &Path, bytes: &[u8]) -> Vec<u8> {
    let tag = |line: &[u8]| [quoted(path).as_bytes(), b" ", line].concat();
    bytes.split_inclusive(|byte| *byte == b'\n').flat_map(tag).collect()
}

/// As git reads bytes that are no plain text.
fn quoted(path: &Path) -> String {
    let byte = |byte: &u8| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(*byte)),
        b' '..=b'~' => char::from(*byte).to_string(),
        _ => format!("\\{byte:03o}"),
    };
    format!("\"{}\"", path.as_os_str().as_bytes().iter().map(byte).collect::<String>())
}

/// What an agent might do. Numbers are places, of whatever there is.
#[derive(Debug, Clone)]
enum Edit {
    Line {
        file: usize,
        line: usize,
        how: Line,
    },
    Become {
        file: usize,
        thing: Thing,
    },
    Add {
        path: PathBuf,
        thing: Thing,
    },
    Remove {
        file: usize,
    },
    RemoveFolder {
        file: usize,
    },
    Rename {
        file: usize,
        to: PathBuf,
    },
    Executable {
        file: usize,
    },
    /// A file becomes a folder with that file in it.
    Unfold {
        file: usize,
    },
    /// The folder that holds it becomes a file.
    Fold {
        file: usize,
    },
}

#[derive(Debug, Clone, Copy)]
enum Line {
    Out,
    To(char),
    After(char),
    WithoutEnd,
}

fn edit(tree: &mut Tree, edit: &Edit) {
    let place = |file: usize| tree.keys().nth(file % tree.len().max(1)).cloned();
    match edit.clone() {
        Edit::Add { path, thing } => set(tree, &path, thing),
        Edit::Line { file, line, how } => {
            if let Some(Thing::File(text) | Thing::Executable(text)) = place(file).and_then(|path| tree.get_mut(&path))
            {
                *text = edited(text, line, how);
            }
        }
        Edit::Become { file, thing } => {
            if let Some(path) = place(file) {
                set(tree, &path, thing);
            }
        }
        Edit::Remove { file } => {
            if let Some(path) = place(file) {
                tree.remove(&path);
            }
        }
        Edit::RemoveFolder { file } => {
            if let Some(folder) = place(file).as_deref().and_then(folder_of) {
                tree.retain(|path, _| !path.starts_with(folder));
            }
        }
        Edit::Rename { file, to } => {
            if let Some(thing) = place(file).and_then(|path| tree.remove(&path)) {
                set(tree, &to, thing);
            }
        }
        Edit::Executable { file } => {
            let Some(thing) = place(file).and_then(|path| tree.get_mut(&path)) else { return };
            *thing = match std::mem::replace(thing, Thing::Folder) {
                Thing::File(bytes) => Thing::Executable(bytes),
                Thing::Executable(bytes) => Thing::File(bytes),
                other => other,
            };
        }
        Edit::Unfold { file } => {
            let Some(path) = place(file) else { return };
            if let Some(thing) = tree.remove(&path) {
                set(tree, &path.join("inner"), thing);
            }
        }
        Edit::Fold { file } => {
            if let Some(folder) = place(file).as_deref().and_then(folder_of) {
                set(tree, folder, Thing::File(b"was a folder\n".to_vec()));
            }
        }
    }
}

fn folder_of(path: &Path) -> Option<&Path> {
    path.parent().filter(|folder| !folder.as_os_str().is_empty())
}

fn edited(text: &[u8], line: usize, how: Line) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> = text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    let Some(place) = line.checked_rem(lines.len()) else { return text.to_vec() };
    // Named for its place, so that no line is there twice.
    let new = |letter: char| format!("{letter}{place}\n").into_bytes();
    match how {
        Line::Out => drop(lines.remove(place)),
        Line::To(letter) => lines[place] = new(letter),
        Line::After(letter) => lines.insert(place + 1, new(letter)),
        Line::WithoutEnd => {
            lines.truncate(place + 1);
            lines[place].retain(|byte| *byte != b'\n');
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    lines.retain(|line| seen.insert(line.clone()));
    lines.concat()
}

/// Few, so that the two often meet; some are folders of others.
fn paths() -> impl Strategy<Value = PathBuf> {
    let names: Vec<&[u8]> = vec![
        b"p",
        b"q",
        b"d",
        b"d/r",
        b"d/s",
        b"d/e/t",
        b"d/e/u",
        b"caf\xe9",
        b"caf\xe9/\xff\xfe",
        b"new\nline \"quoted\\ ",
        b"d.r",
        b"d0",
    ];
    prop::sample::select(names).prop_map(|name| PathBuf::from(OsStr::from_bytes(name)))
}

fn things() -> impl Strategy<Value = Thing> {
    let text = |end: &'static str| {
        (1..9_usize).prop_map(move |lines| (0..lines).map(|line| format!("line {line}{end}")).collect::<String>())
    };
    let bytes = prop_oneof![
        5 => text("\n").prop_map(String::into_bytes),
        2 => text("\r\n").prop_map(String::into_bytes),
        1 => Just(Vec::new()),
        1 => Just(b"one line without an end".to_vec()),
        1 => (0..4_u8).prop_map(|byte| vec![0, byte, b'\n', 0xff]),
    ];
    let target = prop::sample::select(vec![&b"p"[..], b"../away", b"caf\xe9"]);
    let target = target.prop_map(|target| PathBuf::from(std::ffi::OsString::from_vec(target.to_vec())));
    prop_oneof![
        6 => bytes.clone().prop_map(Thing::File),
        2 => bytes.prop_map(Thing::Executable),
        1 => target.prop_map(Thing::Symlink),
    ]
}

fn trees() -> impl Strategy<Value = Tree> {
    prop::collection::vec((paths(), things()), 0..8).prop_map(|entries| {
        let mut tree = Tree::new();
        entries.into_iter().for_each(|(path, thing)| set(&mut tree, &path, thing));
        tree
    })
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let file = 0..12_usize;
    let how = prop_oneof![
        Just(Line::Out),
        prop::sample::select(vec!['x', 'y']).prop_map(Line::To),
        prop::sample::select(vec!['x', 'y']).prop_map(Line::After),
        Just(Line::WithoutEnd),
    ];
    let edit = prop_oneof![
        6 => (file.clone(), 0..9_usize, how).prop_map(|(file, line, how)| Edit::Line { file, line, how }),
        1 => (file.clone(), things()).prop_map(|(file, thing)| Edit::Become { file, thing }),
        2 => (paths(), things()).prop_map(|(path, thing)| Edit::Add { path, thing }),
        2 => file.clone().prop_map(|file| Edit::Remove { file }),
        1 => file.clone().prop_map(|file| Edit::RemoveFolder { file }),
        1 => (file.clone(), paths()).prop_map(|(file, to)| Edit::Rename { file, to }),
        1 => file.clone().prop_map(|file| Edit::Executable { file }),
        1 => file.clone().prop_map(|file| Edit::Unfold { file }),
        1 => file.prop_map(|file| Edit::Fold { file }),
    ];
    prop::collection::vec(edit, 0..5)
}

fn three() -> impl Strategy<Value = [Tree; 3]> {
    (trees(), edits(), edits()).prop_map(|(base, ours, theirs)| {
        let changed = |edits: &[Edit]| {
            let mut tree = base.clone();
            edits.iter().for_each(|change| edit(&mut tree, change));
            tree
        };
        [base.clone(), changed(&ours), changed(&theirs)]
    })
}

/// All that a tree has under a name; nothing where it has none.
fn under(tree: &Tree, path: &Path) -> Tree {
    tree.iter()
        .filter(|(known, _)| known.starts_with(path))
        .map(|(known, thing)| (known.clone(), thing.clone()))
        .collect()
}

/// A folder for one, no folder for another, and otherwise in each of the three.
fn is_contested(versions: [&Tree; 3], path: &Path) -> bool {
    let [base, ours, theirs] = versions.map(|tree| under(tree, path));
    let is_folder = |tree: &Tree| !tree.is_empty() && !tree.contains_key(path);
    let kinds = [&base, &ours, &theirs].map(|tree| (!tree.is_empty()).then(|| is_folder(tree)));
    let differ = kinds.contains(&Some(true)) && kinds.contains(&Some(false));
    differ && base != ours && base != theirs && ours != theirs
}

/// Both added it, and one of them with nothing in it.
fn is_added_empty([base, ours, theirs]: [&Tree; 3], path: &Path) -> bool {
    let is_empty = |tree: &Tree| match tree.get(path) {
        Some(Thing::File(bytes) | Thing::Executable(bytes)) => bytes.is_empty(),
        _ => false,
    };
    let is_there = |tree: &Tree| tree.contains_key(path);
    !is_there(base) && is_there(ours) && is_there(theirs) && is_empty(ours) != is_empty(theirs)
}

/// As paths are told.
fn told(path: &Path) -> String {
    match path.to_str() {
        Some(text) => text.replace('\n', "\\n"),
        None => path.as_os_str().as_bytes().escape_ascii().to_string(),
    }
}

/// Every name in any of them, folders too.
fn names(versions: [&Tree; 3]) -> Vec<PathBuf> {
    let paths = versions.into_iter().flat_map(BTreeMap::keys);
    paths.flat_map(|path| path.ancestors().map(Path::to_owned)).collect()
}

#[derive(Default)]
struct Seen {
    clean: Cell<usize>,
    conflicts: Cell<usize>,
}

fn count(cell: &Cell<usize>) {
    cell.set(cell.get() + 1);
}

#[test]
fn git_finds_the_same_tree_or_a_conflict_too() {
    let (ours, git, seen) = (Ours::new(), Git::new(Moves::Unseen), Seen::default());
    let config = ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() };
    let compared = TestRunner::new(config).run(&three(), |[base, one, other]| {
        let versions = [&base, &one, &other];
        let (we, git_finds) = (ours.merge(versions), git.merge(versions));
        match (we, git_finds) {
            (Ok(merged), Some(tree)) => {
                count(&seen.clean);
                prop_assert_eq!(git.name(&merged), tree, "we found {:?}", merged);
            }
            (Ok(merged), None) => prop_assert!(false, "git found a conflict where we found {merged:?}"),
            (Err(_), None) => count(&seen.conflicts),
            (Err(conflicts), Some(tree)) => {
                let strict = |path: &PathBuf| is_contested(versions, path) || is_added_empty(versions, path);
                let strict: Vec<String> =
                    names(versions).iter().filter(|path| strict(path)).map(|path| told(path)).collect();
                let is_on_purpose = |conflict: &Conflict| strict.contains(&conflict.path);
                prop_assert!(conflicts.iter().all(is_on_purpose), "git found {tree} where we found {conflicts:?}");
            }
        }
        Ok(())
    });
    if let Err(failed) = compared {
        panic!("{failed}");
    }
    let (clean, conflicts) = (seen.clean.get(), seen.conflicts.get());
    assert!(clean > 20 && conflicts > 20, "{clean} merges and {conflicts} conflicts prove little");
}

fn tree(files: &[(&str, &str)]) -> Tree {
    files.iter().map(|(path, text)| (path.into(), Thing::File(text.as_bytes().to_vec()))).collect()
}

/// In each of these git finds a tree, and somebody who looks at it may well wonder where something went.
#[test]
fn where_git_goes_on_and_we_ask() {
    let (ours, folders, moves) = (Ours::new(), Git::new(Moves::Unseen), Git::new(Moves::Seen));
    let check = |git: &Git, versions: [&[(&str, &str)]; 3], kind: Disagreement| {
        let [base, one, other] = versions.map(tree);
        let versions = [&base, &one, &other];
        assert!(git.merge(versions).is_some(), "git finds a conflict too in {versions:?}");
        assert_eq!(ours.merge(versions), Err(vec![Conflict { path: "d".to_owned(), kind }]));
    };
    let (folder, file, gone) = ([("d/x", "1\n"), ("d/y", "1\n"), ("k", "")], [("d", "1\n"), ("k", "")], [("k", "")]);
    // A folder becomes a file, while in it something is removed: whoever removed it went on to work with the rest.
    check(&folders, [&folder, &[("d", "2\n"), ("k", "")], &[("d/x", "1\n"), ("k", "")]], Disagreement::Kind);
    // It becomes a file for one, and is gone for the other.
    check(&folders, [&folder, &[("d", "2\n"), ("k", "")], &gone], Disagreement::ChangedAndRemoved);
    // A file becomes a folder for one, and is gone for the other.
    check(&folders, [&file, &[("d/x", "2\n"), ("k", "")], &gone], Disagreement::ChangedAndRemoved);
    // It becomes a folder for both, with different things in it.
    check(&folders, [&file, &[("d/x", "2\n"), ("k", "")], &[("d/y", "2\n"), ("k", "")]], Disagreement::Kind);
    // Both add it, one of them empty.
    check(&folders, [&gone, &[("d", ""), ("k", "")], &file], Disagreement::BothAdded);
    // A file moves for one, and is changed by the other.
    let (moved, edited) = ([("e", "1\n2\n3\n")], [("d", "1\n2\n3\n4\n")]);
    check(&moves, [&[("d", "1\n2\n3\n")], &moved, &edited], Disagreement::ChangedAndRemoved);
}
