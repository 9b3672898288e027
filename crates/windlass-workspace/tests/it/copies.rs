//! Copies of a folder are alike, and carried paths bring no `.git` that nobody named.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use windlass_workspace::{Error, Kind, SnapshotLimits, copy_some};

use crate::capture::everything;
use crate::support::{SECRET, Unhurried, Yard, copy_folder, never, pipe, put};

#[test]
fn a_copy_is_as_the_folder_is_times_and_links_included() {
    let yard = Yard::new();
    let from = yard.empty("candidate");
    put(&from.join("src/main.rs"), "code");
    put(&from.join("run.sh"), "#!/bin/sh");
    put(&from.join(".git/HEAD"), "named by the operator");
    put(&from.join(".gitignore"), "*\n");
    fs::create_dir(from.join("empty")).unwrap();
    fs::set_permissions(from.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("nowhere", from.join("broken")).unwrap();
    symlink(yard.outside(""), from.join("out")).unwrap();
    let long_ago = std::time::UNIX_EPOCH + std::time::Duration::new(1_000_000_000, 7);
    fs::File::options().write(true).open(from.join("src/main.rs")).unwrap().set_modified(long_ago).unwrap();
    let expected = everything(&from);
    for name in ["one", "two"] {
        let copy = yard.path(name);
        copy_folder(&from, &copy).unwrap();
        assert_eq!(everything(&copy), expected);
        assert_eq!(fs::metadata(copy.join("src/main.rs")).unwrap().modified().unwrap(), long_ago);
        // Nothing that a check does to its copy reaches the next one.
        put(&copy.join("src/main.rs"), "changed by a check");
        put(&copy.join("new"), "made by a check");
    }
    assert_eq!(everything(&from), expected);
    assert_eq!(fs::read_to_string(yard.outside("secret")).unwrap(), SECRET);
}

#[test]
fn a_copy_goes_into_an_empty_folder_only_and_pipes_do_not_hold_it_up() {
    let yard = Yard::new();
    let from = yard.empty("candidate");
    put(&from.join("a"), "a");
    pipe(&from.join("pipe"));
    put(&yard.path("full/a"), "another");
    assert!(matches!(copy_folder(&from, &yard.path("full")), Err(Error::NotEmpty)));
    copy_folder(&from, &yard.path("copy")).unwrap();
    assert_eq!(everything(&yard.path("copy")).into_keys().collect::<Vec<_>>(), [Path::new("a")]);
    assert!(matches!(copy_folder(&yard.path("missing"), &yard.path("other")), Err(Error::Io { .. })));
}

#[test]
fn of_some_files_nothing_else_comes_along_and_no_more_than_is_allowed() {
    let yard = Yard::new();
    let from = yard.empty("home");
    for file in ["kept/a", "kept/b", "kept/.git/config", "kept/deep/c", "other/d"] {
        put(&from.join(file), "12345");
    }
    symlink(yard.outside("secret"), from.join("kept/link")).unwrap();
    pipe(&from.join("kept/pipe"));
    let copy = |name: &str, bytes: u64, should_stop: &dyn Fn() -> bool| {
        let takes = |path: &Path, _: Kind| path.starts_with("kept");
        let limits = SnapshotLimits { bytes, ..SnapshotLimits::default() };
        copy_some(&from, &yard.path(name), &takes, limits, should_stop)
    };
    copy("copy", 15, &never).unwrap();
    let copied: Vec<_> = everything(&yard.path("copy")).into_keys().collect();
    assert_eq!(copied, ["kept", "kept/a", "kept/b", "kept/deep", "kept/deep/c"].map(Path::new));
    assert!(matches!(copy("more", 14, &never), Err(Error::TooMuch { .. })));
    assert!(matches!(copy("stopped", 15, &|| true), Err(Error::Stopped)));
}

#[test]
fn copies_made_before_the_live_paths_change_do_not_change_with_them() {
    let yard = Yard::new();
    yard.put(".gitignore", "target\n");
    yard.put("target/app", "as it was verified");
    let snapshots = yard.snapshots_carrying(&["target", "output"]);
    yard.put("output/report", "as it was verified");
    let candidate = yard.empty("candidate");
    snapshots.lay(snapshots.capture().unwrap(), &candidate).unwrap();
    yard.put("target/app", "changed since");
    yard.put("output/report", "changed since");
    copy_folder(&candidate, &yard.path("check")).unwrap();
    for path in ["target/app", "output/report"] {
        assert_eq!(fs::read_to_string(yard.path("check").join(path)).unwrap(), "as it was verified");
    }
}

#[test]
fn a_git_comes_along_only_when_it_is_named() {
    let yard = Yard::new();
    yard.put("output/report", "report");
    yard.put("output/.git/config", "made by the agent");
    yard.put("output/deep/.git", "gitdir: elsewhere");
    yard.put("output/deep/b", "b");
    yard.put(".git/HEAD", "ref: refs/heads/main");
    let carried = |carry: &[&str], into: &str| {
        let snapshots = yard.snapshots_carrying(carry);
        snapshots.lay(snapshots.capture().unwrap(), &yard.path(into)).unwrap();
        everything(&yard.path(into)).into_keys().map(|path| path.to_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(carried(&["output"], "one"), ["output", "output/deep", "output/deep/b", "output/report"]);
    assert_eq!(carried(&[".git"], "two"), [".git", ".git/HEAD"]);
    assert_eq!(carried(&[".git/HEAD"], "three"), [".git", ".git/HEAD"]);
}

/// As docs/checks.md tells it.
#[test]
fn a_built_archive_in_an_ignored_folder_needs_to_be_carried() {
    let yard = Yard::new();
    yard.put(".gitignore", "/dist\n");
    let baseline = yard.snapshots().capture().unwrap();
    yard.put("dist/app.tar.gz", "built by the agent");
    let seen = |carry: &[&str]| {
        let snapshots = yard.snapshots_carrying(carry);
        yard.files_of(&snapshots, snapshots.candidate(baseline).unwrap().tree)
    };
    assert_eq!(seen(&[]), [".gitignore"]);
    assert_eq!(seen(&["dist"]), [".gitignore", "dist/app.tar.gz"]);
    assert_eq!(seen(&["*.tar.gz"]), [".gitignore"], "a pattern is no path");
}
