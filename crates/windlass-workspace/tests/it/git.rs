//! The work drawn into the user's repository: what git finds there, and everything that is not touched.

#![expect(clippy::disallowed_methods, reason = "git is asked what it sees")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use windlass_domain::TreeId;
use windlass_workspace::{Drawn, GitReference, Step};

use crate::support::{MADE, Yard, never};

fn git(yard: &Yard, words: &[&str]) -> String {
    let ended = Command::new("git")
        .current_dir(yard.inside(""))
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"])
        .args(words)
        .output()
        .expect("git");
    assert!(ended.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap().trim().to_owned()
}

fn reference() -> GitReference {
    GitReference::new(&["0199f1c2", "api"]).unwrap()
}

fn draw(yard: &Yard, tree: TreeId, after: Option<TreeId>) -> Drawn {
    let step = Step { tree, after, message: "api: done\n\nby an agent", at: MADE };
    yard.snapshots().draw(&reference(), step, &never).unwrap()
}

/// Mode and path of each file.
fn listed(yard: &Yard) -> Vec<String> {
    let listed = git(yard, &["ls-tree", "-r", "-z", reference().as_str()]);
    let line = |line: &str| {
        let (facts, path) = line.split_once('\t').unwrap();
        format!("{} {path}", &facts[..6])
    };
    listed.split('\0').filter(|line| !line.is_empty()).map(line).collect()
}

/// What must be as it was, whatever is drawn: branches, index, files, configuration.
fn untouched(yard: &Yard) -> String {
    let index = fs::read(yard.inside(".git/index")).unwrap_or_default();
    let facts = [
        git(yard, &["for-each-ref", "refs/heads", "refs/tags", "refs/stash"]),
        fs::read_to_string(yard.inside(".git/HEAD")).unwrap(),
        fs::read_to_string(yard.inside(".git/config")).unwrap(),
        git(yard, &["status", "--porcelain", "--untracked-files=all"]),
    ];
    format!("{}{}", facts.join("\n"), windlass_domain::Digest::of(&index))
}

/// A repository with a commit, an edit, something staged and something new.
fn used() -> Yard {
    let yard = Yard::new();
    git(&yard, &["init", "-q", "-b", "main"]);
    yard.put("a", "1\n");
    yard.put("b/c", "1\n");
    git(&yard, &["add", "-A"]);
    git(&yard, &["commit", "-q", "-m", "first"]);
    yard.put("a", "edited\n");
    yard.put("staged", "s\n");
    git(&yard, &["add", "staged"]);
    yard.put("new", "n\n");
    yard
}

#[test]
fn a_step_and_the_next_and_nothing_else() {
    let yard = used();
    let before = untouched(&yard);
    let first = yard.snapshots().capture().unwrap();
    assert!(matches!(draw(&yard, first, None), Drawn::Yes { .. }));
    assert_eq!(listed(&yard), ["100644 a", "100644 b/c", "100644 new", "100644 staged"]);
    assert_eq!(git(&yard, &["show", &format!("{}:a", reference().as_str())]), "edited");
    assert_eq!(git(&yard, &["rev-parse", &format!("{}^", reference().as_str())]), git(&yard, &["rev-parse", "HEAD"]));
    assert_eq!(untouched(&yard), before);

    // What an agent made of it, elsewhere.
    let saved: Vec<(&str, Option<&str>)> =
        vec![("a", Some("2\n")), ("b/c", None), ("b", Some("a file\n")), ("new", None)];
    let other = Yard::new();
    for path in ["a", "staged"] {
        other.put(path, fs::read(yard.inside(path)).unwrap());
    }
    for (path, text) in saved {
        if let Some(text) = text {
            other.put(path, text);
        }
    }
    other.put("tool", "t");
    fs::set_permissions(other.inside("tool"), PermissionsExt::from_mode(0o755)).unwrap();
    other.link("tool", "link");
    let setup = windlass_workspace::SnapshotSetup::new(other.inside(""), yard.path("data"), vec![]);
    let second = windlass_workspace::Snapshots::open(setup).unwrap().capture().unwrap();
    assert!(matches!(draw(&yard, second, Some(first)), Drawn::Yes { .. }));
    assert_eq!(listed(&yard), ["100644 a", "100644 b", "120000 link", "100644 staged", "100755 tool"]);
    assert_eq!(
        git(&yard, &["log", "--format=%s|%an|%at", "-2", reference().as_str()]),
        "api: done||1900000000\napi: done||1900000000".replace("||", "|Windlass|")
    );
    git(&yard, &["fsck", "--strict"]);
    assert_eq!(untouched(&yard), before);
}

#[test]
fn the_same_step_again_is_a_step_without_a_difference() {
    let yard = used();
    let tree = yard.snapshots().capture().unwrap();
    draw(&yard, tree, None);
    draw(&yard, tree, Some(tree));
    assert_eq!(git(&yard, &["diff", "--stat", &format!("{0}^..{0}", reference().as_str())]), "");
}

#[test]
fn a_reference_that_somebody_removed_is_begun_again() {
    let yard = used();
    let tree = yard.snapshots().capture().unwrap();
    draw(&yard, tree, None);
    git(&yard, &["update-ref", "-d", reference().as_str()]);
    draw(&yard, tree, Some(tree));
    assert_eq!(listed(&yard).len(), 4);
}

#[test]
fn names_are_kept_whatever_is_in_them() {
    let yard = Yard::new();
    git(&yard, &["init", "-q"]);
    let names = ["plain", " spaces ", "quo\"te", "back\\slash", "li\nne", "ümlaut", "-dash", "tab\t"];
    names.iter().for_each(|name| yard.put(name, "x"));
    let tree = yard.snapshots().capture().unwrap();
    assert!(matches!(draw(&yard, tree, None), Drawn::Yes { .. }), "there is no commit yet");
    let mut expected: Vec<String> = names.iter().map(|name| format!("100644 {name}")).collect();
    expected.sort();
    let mut found = listed(&yard);
    found.sort();
    assert_eq!(found, expected);
}

/// The attack: a repository whose hooks, filters and settings run a program. The control: git as it is runs it.
#[test]
fn nothing_of_the_repository_is_run() {
    let yard = used();
    let mark = yard.path("ran");
    let hook = yard.inside(".git/hooks/reference-transaction");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, format!("#!/bin/sh\ntouch '{}'\n", mark.display())).unwrap();
    fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    git(&yard, &["config", "core.fsmonitor", &format!("touch '{}'; false", mark.display())]);
    git(&yard, &["config", "filter.evil.clean", &format!("touch '{}'; cat", mark.display())]);
    yard.put(".gitattributes", "* filter=evil\n");
    let _ = fs::remove_file(&mark);
    let tree = yard.snapshots().capture().unwrap();
    draw(&yard, tree, None);
    assert!(!mark.exists(), "something was run");
    git(&yard, &["update-ref", "refs/windlass/control", "HEAD"]);
    assert!(mark.exists(), "git as it is would have run it");
}

/// The attack: a partial clone whose missing commit is to be had from a remote that is a program. The control: git runs it, also where
/// no protocol is allowed, since the repository's word on a single one goes before.
#[test]
fn nothing_of_the_repository_is_run_to_fetch_what_is_missing() {
    for [key, value] in [["url", "ext::PROGRAM"], ["vcs", "ext"], ["uploadpack", "PROGRAM"]] {
        let yard = used();
        let (mark, program) = (yard.path("ran"), yard.path("program"));
        fs::write(&program, format!("#!/bin/sh\ntouch '{}'\n", mark.display())).unwrap();
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
        let head = git(&yard, &["rev-parse", "HEAD"]);
        let program = program.to_str().unwrap();
        let url = if key == "uploadpack" { ".".to_owned() } else { format!("ext::{program}") };
        for [key, value] in [
            ["core.repositoryFormatVersion", "1"],
            ["extensions.partialClone", "o"],
            ["remote.o.promisor", "true"],
            ["remote.o.url", &url],
            ["protocol.ext.allow", "always"],
            ["protocol.file.allow", "always"],
            [&format!("remote.o.{key}"), &value.replace("PROGRAM", program)],
        ] {
            git(&yard, &["config", key, value]);
        }
        fs::remove_file(yard.inside(&format!(".git/objects/{}/{}", &head[..2], &head[2..]))).unwrap();
        let tree = yard.snapshots().capture().unwrap();
        let step = Step { tree, after: None, message: "m", at: MADE };
        let _ = yard.snapshots().draw(&reference(), step, &never);
        assert!(!mark.exists(), "{key}: something was run");
        let control = ["-c", "protocol.allow=never", "rev-parse", "--verify", "HEAD^{commit}"];
        Command::new("git").current_dir(yard.inside("")).args(control).output().unwrap();
        assert!(mark.exists(), "{key}: git as it is would have run it");
    }
}

#[test]
fn a_folder_without_a_repository_is_told_so() {
    let yard = Yard::new();
    yard.put("a", "1");
    let tree = yard.snapshots().capture().unwrap();
    assert_eq!(draw(&yard, tree, None), Drawn::NoRepository);
}

#[test]
fn a_worktree_of_a_repository_is_one_too() {
    let yard = used();
    let beside = yard.path("beside");
    git(&yard, &["worktree", "add", "-q", beside.to_str().unwrap()]);
    fs::write(beside.join("only-here"), "x").unwrap();
    let setup = windlass_workspace::SnapshotSetup::new(&beside, yard.path("data"), vec![]);
    let snapshots = windlass_workspace::Snapshots::open(setup).unwrap();
    let tree = snapshots.capture().unwrap();
    let step = Step { tree, after: None, message: "m", at: MADE };
    assert!(matches!(snapshots.draw(&reference(), step, &never).unwrap(), Drawn::Yes { .. }));
    assert!(listed(&yard).contains(&"100644 only-here".to_owned()));
}

/// Whoever wrote the file could name any repository.
#[test]
fn a_file_that_names_the_repository_of_others_is_not_believed() {
    let (others, yard) = (used(), Yard::new());
    yard.put("a", "1");
    yard.put(".git", format!("gitdir: {}\n", others.inside(".git").display()));
    let before = git(&others, &["for-each-ref"]);
    let tree = yard.snapshots().capture().unwrap();
    assert_eq!(draw(&yard, tree, None), Drawn::NoRepository);
    assert_eq!(git(&others, &["for-each-ref"]), before);
}

#[test]
fn a_repository_that_git_cannot_use_is_an_error_in_its_words() {
    let yard = Yard::new();
    yard.put("a", "1");
    fs::create_dir(yard.inside(".git")).unwrap();
    let tree = yard.snapshots().capture().unwrap();
    let step = Step { tree, after: None, message: "m", at: MADE };
    let told = yard.snapshots().draw(&reference(), step, &never).unwrap_err().to_string();
    assert!(told.contains("not a git repository"), "{told}");
}

#[test]
fn a_reference_is_made_of_plain_words() {
    assert_eq!(reference().as_str(), "refs/windlass/0199f1c2/api");
    for bad in [&[][..], &[""], &[".."], &["a/b"], &["a", "b.lock"], &["A"], &["a b"]] {
        assert_eq!(GitReference::new(bad), None, "{bad:?}");
    }
}
