//! A `.git` is never kept, never obeyed and never makes a folder vanish; one that an agent has made is told.

use std::fs;

use windlass_domain::{Candidate, TreeId};
use windlass_workspace::Snapshots;

use crate::support::{Unhurried, Yard};

fn project() -> (Yard, Snapshots, TreeId) {
    let yard = Yard::new();
    yard.put(".gitignore", "/target\n.*\n!.gitignore\n");
    yard.put(".git/HEAD", "ref: refs/heads/main");
    yard.put("vendor/lib/.git/HEAD", "a clone in the project");
    yard.put("vendor/lib/code.c", "code");
    yard.put("vendor/sub/.git", "gitdir: ../../.git/modules/sub");
    yard.put("vendor/sub/code.c", "code");
    yard.put("src/main.c", "code");
    let snapshots = yard.snapshots();
    let baseline = snapshots.capture().unwrap();
    (yard, snapshots, baseline)
}

const PROJECT: [&str; 4] = [".gitignore", "src/main.c", "vendor/lib/code.c", "vendor/sub/code.c"];

#[test]
fn those_that_were_there_are_neither_kept_nor_told() {
    let (yard, snapshots, baseline) = project();
    assert_eq!(yard.files_of(&snapshots, baseline), PROJECT);
    yard.put("vendor/lib/.git/config", "[core]\n\tfsmonitor = evil\n");
    let candidate = snapshots.candidate(baseline).unwrap();
    assert_eq!(candidate, Candidate { tree: baseline, new_repositories: Vec::new() });
    fs::remove_dir_all(yard.inside("vendor/lib/.git")).unwrap();
    assert_eq!(snapshots.candidate(baseline).unwrap(), candidate);
}

#[test]
fn one_that_the_agent_makes_is_left_out_and_told_and_its_folder_stays() {
    let (yard, snapshots, baseline) = project();
    yard.put("src/.git/HEAD", "ref: refs/heads/main");
    yard.put("src/.git/hooks/post-checkout", "#!/bin/sh");
    yard.put("src/.git/info/exclude", "*\n");
    yard.put("link/code.c", "code");
    yard.link("/", "link/.git");
    yard.put("file/code.c", "code");
    yard.put("file/.git", "gitdir: /elsewhere");
    // With nothing in it, it is what a sandbox puts there to hold the name.
    fs::create_dir_all(yard.inside("only/.git")).unwrap();
    yard.put("new\nline/.git/HEAD", "odd");
    let candidate = snapshots.candidate(baseline).unwrap();
    let expected = ["file/.git", "link/.git", "new\\nline/.git", "src/.git"];
    assert_eq!(candidate.new_repositories, expected);
    let mut files = yard.files_of(&snapshots, candidate.tree);
    assert!(files.iter().all(|path| !path.contains(".git/") && !path.ends_with("/.git")));
    files.retain(|path| !PROJECT.contains(&path.as_str()));
    assert_eq!(files, ["file/code.c", "link/code.c"]);
}

#[test]
fn one_at_the_top_of_a_folder_that_had_none_is_told() {
    let yard = Yard::new();
    yard.put("a", "a");
    let snapshots = yard.snapshots();
    let baseline = snapshots.capture().unwrap();
    yard.put(".git/info/exclude", "a\n");
    let expected = Candidate { tree: baseline, new_repositories: vec![".git".to_owned()] };
    assert_eq!(snapshots.candidate(baseline).unwrap(), expected);
}

#[test]
fn ignored_folders_are_not_searched_for_them() {
    let (yard, snapshots, baseline) = project();
    yard.put("target/.git/HEAD", "unseen, as all of this folder is");
    assert_eq!(snapshots.candidate(baseline).unwrap().new_repositories, Vec::<String>::new());
}
