//! What an agent writes into ignore rules changes nothing about what a check sees. Every attack here is also tried on a
//! capture that obeys the rules as they are, and works there: the rules of the baseline are what stops it.

#![expect(clippy::disallowed_methods, reason = "a new process is what is tested, and it is told by the environment")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;
use windlass_domain::{Digest, TreeId};
use windlass_workspace::{Change, ChangeKind, Error, SnapshotSetup, Snapshots};

use crate::capture::{Opened, everything};
use crate::support::{Unhurried, Yard, put};

/// A project as it is before an agent comes, with rules of every kind.
fn project() -> Yard {
    let yard = Yard::new();
    yard.put(".gitignore", "/target\n*.log\n!keep.log\n");
    yard.put(".git/info/exclude", "/private\n");
    yard.put("src/.gitignore", "generated.py\n");
    // As Python makes them: rules that hide the file they stand in.
    yard.put("venv/.gitignore", "*\n");
    for path in ["target/app", "a.log", "keep.log", "private", "src/generated.py", "src/lib.py", "venv/bin/python"] {
        yard.put(path, path);
    }
    yard
}

const PROJECT: [&str; 4] = [".gitignore", "keep.log", "src/.gitignore", "src/lib.py"];

/// What a check sees after `attack`, under the baseline's rules and under those that the attack left.
fn after(attack: impl Fn(&Yard)) -> (Vec<String>, Vec<String>) {
    let yard = project();
    let snapshots = yard.snapshots();
    let baseline = snapshots.capture().unwrap();
    assert_eq!(yard.files_of(&snapshots, baseline), PROJECT);
    attack(&yard);
    let candidate = snapshots.candidate(baseline).unwrap();
    let obedient = snapshots.capture().unwrap();
    (yard.files_of(&snapshots, candidate.tree), yard.files_of(&snapshots, obedient))
}

fn and(more: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = PROJECT.iter().chain(more).map(ToString::to_string).collect();
    all.sort();
    all
}

fn without(less: &str) -> Vec<String> {
    PROJECT.iter().filter(|path| **path != less).map(ToString::to_string).collect()
}

#[test]
fn a_gitignore_that_the_agent_edits_hides_nothing() {
    let (seen, obedient) = after(|yard| {
        yard.put("src/cheat.py", "cheat");
        yard.put(".gitignore", "/target\n*.log\n!keep.log\ncheat.py\nlib.py\n");
    });
    assert_eq!(seen, and(&["src/cheat.py"]));
    assert_eq!(obedient, without("src/lib.py"), "control");
}

#[test]
fn a_gitignore_that_the_agent_adds_hides_nothing_not_even_itself() {
    let (seen, obedient) = after(|yard| {
        yard.put("tests/.gitignore", "*\n");
        yard.put("tests/test_all.py", "skip");
    });
    assert_eq!(seen, and(&["tests/.gitignore", "tests/test_all.py"]));
    assert_eq!(obedient, and(&[]), "control");
}

#[test]
fn a_gitignore_that_the_agent_empties_or_removes_still_holds() {
    for attack in [
        |yard: &Yard| yard.put(".gitignore", ""),
        |yard: &Yard| {
            fs::remove_file(yard.inside(".gitignore")).unwrap();
        },
    ] {
        let (mut seen, obedient) = after(attack);
        seen.retain(|path| path != ".gitignore");
        assert_eq!(seen, without(".gitignore"));
        assert!(obedient.contains(&"target/app".to_owned()) && obedient.contains(&"a.log".to_owned()), "control");
    }
}

#[test]
fn negations_of_the_baseline_hold_and_those_of_the_agent_do_not() {
    let (seen, obedient) = after(|yard| {
        yard.put(".gitignore", "!/target\n!*.log\nkeep.log\n");
        yard.put("src/.gitignore", "!generated.py\n");
        yard.put("new/keep.log", "kept");
        yard.put("new/other.log", "not kept");
    });
    assert_eq!(seen, and(&["new/keep.log"]));
    assert!(obedient.contains(&"target/app".to_owned()) && !obedient.contains(&"keep.log".to_owned()), "control");
}

#[test]
fn the_repositorys_own_exclude_is_that_of_the_baseline() {
    let (seen, obedient) = after(|yard| yard.put(".git/info/exclude", "lib.py\n"));
    assert_eq!(seen, and(&[]));
    assert!(obedient.contains(&"private".to_owned()) && !obedient.contains(&"src/lib.py".to_owned()), "control");
    let (seen, _) = after(|yard| fs::remove_dir_all(yard.inside(".git")).unwrap());
    assert_eq!(seen, and(&[]));
}

#[test]
fn rules_that_hid_themselves_are_kept_too() {
    let (seen, obedient) = after(|yard| fs::remove_file(yard.inside("venv/.gitignore")).unwrap());
    assert_eq!(seen, and(&[]));
    assert_eq!(obedient, and(&["venv/bin/python"]), "control");
}

#[test]
fn a_gitignore_swapped_for_a_link_or_a_folder_is_what_it_was_and_the_link_is_seen_as_one() {
    let (seen, obedient) = after(|yard| {
        yard.put("everything", "*\n");
        fs::remove_file(yard.inside(".gitignore")).unwrap();
        yard.link("everything", ".gitignore");
        fs::remove_file(yard.inside("src/.gitignore")).unwrap();
        yard.put("src/.gitignore/rules", "*\n");
    });
    let expected: Vec<String> = and(&["everything", "src/.gitignore/rules"]);
    assert_eq!(seen, expected.into_iter().filter(|path| path != "src/.gitignore").collect::<Vec<_>>());
    assert!(obedient.contains(&"target/app".to_owned()), "control");
}

#[test]
fn a_link_is_no_rule_in_a_baseline_either() {
    let yard = Yard::new();
    yard.put("everything", "*\n");
    yard.link("everything", ".gitignore");
    yard.put("a", "a");
    let snapshots = yard.snapshots();
    let baseline = snapshots.capture().unwrap();
    assert_eq!(yard.files_of(&snapshots, baseline), [".gitignore", "a", "everything"]);
    // What the link leads to is the agent's to change, and means nothing still.
    yard.put("everything", "a\n");
    assert_eq!(yard.files_of(&snapshots, snapshots.candidate(baseline).unwrap().tree).len(), 3);
}

#[test]
fn without_git_and_without_rules_nothing_the_agent_writes_becomes_one() {
    let yard = Yard::new();
    yard.put("src/lib.py", "code");
    let snapshots = yard.snapshots();
    let baseline = snapshots.capture().unwrap();
    yard.put(".gitignore", "*\n");
    yard.put("src/.gitignore", "lib.py\n");
    yard.put(".git/info/exclude", "*\n");
    yard.put("src/.git/info/exclude", "*\n");
    let candidate = snapshots.candidate(baseline).unwrap();
    assert_eq!(yard.files_of(&snapshots, candidate.tree), [".gitignore", "src/.gitignore", "src/lib.py"]);
    let obedient = snapshots.capture().unwrap();
    assert_eq!(yard.files_of(&snapshots, obedient), Vec::<String>::new(), "control");
}

#[test]
fn a_changed_gitignore_is_a_changed_file() {
    let yard = project();
    let snapshots = yard.snapshots();
    let baseline = snapshots.capture().unwrap();
    assert_eq!(snapshots.candidate(baseline).unwrap().tree, baseline, "nothing was done");
    yard.put(".gitignore", "/target\n*.log\n!keep.log\nlib.py\n");
    yard.put("new/.gitignore", "*\n");
    let candidate = snapshots.candidate(baseline).unwrap();
    let changed = |path: &str, kind| Change { path: path.to_owned(), kind };
    let expected = [changed(".gitignore", ChangeKind::Modified), changed("new/.gitignore", ChangeKind::Added)];
    assert_eq!(snapshots.changes(baseline, candidate.tree).unwrap(), expected);
    fs::remove_dir_all(yard.inside("new")).unwrap();
    yard.put(".gitignore", "/target\n*.log\n!keep.log\n");
    assert_eq!(snapshots.candidate(baseline).unwrap().tree, baseline, "undone");
}

#[test]
fn an_ignored_folder_is_not_even_opened_however_much_is_in_it() {
    let yard = project();
    for n in 0..20_000 {
        fs::write(yard.inside(&format!("target/{n}")), "").unwrap();
    }
    let snapshots = yard.snapshots();
    let baseline = snapshots.capture().unwrap();
    yard.put(".gitignore", "!target\n");
    yard.put("target/.gitignore", "!*\n");
    let opened = Opened::watch(&yard.inside(""));
    let candidate = snapshots.candidate(baseline).unwrap();
    let names = opened.names();
    assert!(names.contains(&"src".to_owned()), "the watch works");
    assert!(!names.contains(&"target".to_owned()), "it was looked into");
    assert_eq!(yard.files_of(&snapshots, candidate.tree), PROJECT);
}

#[test]
fn two_tasks_over_one_tree_keep_their_own_rules() {
    let yard = Yard::new();
    yard.put("a", "a");
    yard.put("b", "b");
    yard.put(".git/info/exclude", "/b\n/c\n");
    let snapshots = yard.snapshots();
    let first = snapshots.capture().unwrap();
    yard.put(".git/info/exclude", "/b\n");
    let second = snapshots.capture().unwrap();
    assert!(snapshots.changes(first, second).unwrap().is_empty(), "the files are the same");
    yard.put("c", "c");
    assert_eq!(yard.files_of(&snapshots, snapshots.candidate(first).unwrap().tree), ["a"]);
    assert_eq!(yard.files_of(&snapshots, snapshots.candidate(second).unwrap().tree), ["a", "c"]);
}

#[test]
fn rules_that_are_damaged_or_gone_are_an_error_and_not_none() {
    let yard = project();
    let baseline = yard.snapshots().capture().unwrap();
    let text = Digest::of(b"/target\n*.log\n!keep.log\n").to_string();
    // The rules file is also a file of the tree; the candidate must not heal it with what the agent left there.
    yard.put(".gitignore", "*\n");
    let object = yard.path("data/objects").join(&text[..2]).join(&text[2..]);
    fs::remove_file(object).unwrap();
    let result = yard.snapshots().candidate(baseline);
    assert!(matches!(result, Err(Error::Damaged { ref digest }) if *digest == text), "{result:?}");
    let unknown = yard.snapshots().candidate(TreeId(Digest::of(b"no such baseline")));
    assert!(matches!(unknown, Err(Error::Damaged { .. })), "{unknown:?}");
}

const WORKSPACE: &str = "WINDLASS_WORKSPACE_TEST_WORKSPACE";
const DATA: &str = "WINDLASS_WORKSPACE_TEST_DATA";
const BASELINE: &str = "WINDLASS_WORKSPACE_TEST_BASELINE";

/// The other side of the tests below; without its workspace it has nothing to do.
#[test]
fn as_a_new_process() {
    let (Ok(workspace), Ok(data), Ok(baseline)) =
        (std::env::var(WORKSPACE), std::env::var(DATA), std::env::var(BASELINE))
    else {
        return;
    };
    let snapshots = Snapshots::open(SnapshotSetup::new(workspace, data, Vec::new())).unwrap();
    let candidate = snapshots.candidate(TreeId(baseline.parse().unwrap())).unwrap();
    println!("captured {}", candidate.tree.0);
}

/// The candidate as a process that knows nothing but the baseline's id captures it.
fn captured_anew(yard: &Yard, baseline: TreeId, environment: &[(&str, PathBuf)]) -> TreeId {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "rules::as_a_new_process", "--nocapture", "--test-threads", "1"])
        .env(WORKSPACE, yard.inside(""))
        .env(DATA, yard.path("data"))
        .env(BASELINE, baseline.0.to_string())
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, rest) = text.split_once("captured ").unwrap_or_else(|| panic!("{text}"));
    TreeId(rest.lines().next().unwrap().parse().unwrap())
}

#[test]
fn the_rules_survive_a_restart() {
    let yard = project();
    let baseline = yard.snapshots().capture().unwrap();
    yard.put("src/cheat.py", "cheat");
    yard.put(".gitignore", "*\n");
    fs::remove_file(yard.inside("venv/.gitignore")).unwrap();
    yard.put(".git/info/exclude", "*\n");
    let tree = captured_anew(&yard, baseline, &[]);
    assert_eq!(yard.files_of(&yard.snapshots(), tree), and(&["src/cheat.py"]));
    // Nor do they depend on what a process remembers for speed.
    fs::remove_dir_all(yard.path("data/captures")).unwrap();
    assert_eq!(captured_anew(&yard, baseline, &[]), tree);
}

#[test]
fn what_the_host_user_ignores_everywhere_has_no_say() {
    let yard = project();
    put(&yard.path("home/.config/git/ignore"), "*\n");
    put(&yard.path("home/everything"), "*\n");
    let everything = yard.path("home/everything");
    let configuration = format!("[core]\n\texcludesFile = {}\n", everything.display());
    put(&yard.path("home/.gitconfig"), &configuration);
    yard.put(".git/config", &configuration);
    let environment = [
        ("HOME", yard.path("home")),
        ("XDG_CONFIG_HOME", yard.path("home/.config")),
        ("GIT_CONFIG_GLOBAL", yard.path("home/.gitconfig")),
    ];
    let baseline = yard.snapshots().capture().unwrap();
    yard.put("new", "new");
    let tree = captured_anew(&yard, baseline, &environment);
    assert_eq!(yard.files_of(&yard.snapshots(), tree), and(&["new"]));
}

fn rule() -> impl Strategy<Value = String> {
    let lines = ["*", "a", "/a", "a/", "b/*", "!a", "!b/c", "**/c", "*.gitignore", "[ab]", "#a", "\\!a", " ", "c*"];
    prop::collection::vec(prop::sample::select(lines.to_vec()), 0..4).prop_map(|lines| lines.join("\n"))
}

fn some_files() -> impl Strategy<Value = BTreeMap<PathBuf, String>> {
    let path = prop::collection::vec("[a-c]", 1..4).prop_map(|names| names.iter().collect::<PathBuf>());
    prop::collection::btree_map(path, "[a-c]", 0..12)
}

/// By number of the folder they are put into.
fn some_rules() -> impl Strategy<Value = Vec<(prop::sample::Index, String)>> {
    prop::collection::vec((any::<prop::sample::Index>(), rule()), 0..5)
}

fn put_rules(yard: &Yard, rules: &[(prop::sample::Index, String)]) {
    let mut folders = vec![yard.inside("")];
    let all = everything(&yard.inside("")).into_keys().map(|path| yard.inside("").join(path));
    folders.extend(all.filter(|path| path.is_dir()));
    for (folder, text) in rules {
        fs::write(folder.get(&folders).join(".gitignore"), text).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_rule_an_agent_writes_anywhere_changes_what_else_is_seen(
        files in some_files(), before in some_rules(), written in some_rules()
    ) {
        let yard = Yard::new();
        for (path, text) in &files {
            let path = yard.inside("").join(path);
            if fs::create_dir_all(path.parent().unwrap()).is_ok() && !path.exists() {
                fs::write(path, text).unwrap();
            }
        }
        put_rules(&yard, &before);
        let snapshots = yard.snapshots();
        let baseline = snapshots.capture().unwrap();
        prop_assert_eq!(snapshots.candidate(baseline).unwrap().tree, baseline);
        put_rules(&yard, &written);
        let candidate = snapshots.candidate(baseline).unwrap().tree;
        let others = |tree: TreeId| -> Vec<String> {
            yard.files_of(&snapshots, tree)
                .into_iter()
                .filter(|path| Path::new(path).file_name().is_some_and(|name| name != ".gitignore"))
                .collect()
        };
        prop_assert_eq!(others(candidate), others(baseline));
    }
}
