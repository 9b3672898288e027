//! Where an agent is let loose, and who may read what is kept about it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::assert_shown;
use super::scripts::HELLO;
use crate::support::{Ended, Home, collect};

/// A workspace that is refused before there is a task.
fn refused(home: &Home, folder: &Path) -> Ended {
    let ended = home.run(&["--workspace", folder.to_str().expect("a plain path")]).run().expect(2);
    assert_eq!(home.windlass(&["status", "--json"]).run().expect(0).stdout, "", "{}", folder.display());
    assert_eq!(ended.stdout, "");
    ended
}

/// Regression: an agent that worked in a home wrote `windlass.toml` into the data directory, and the next run obeyed it.
#[test]
fn never_around_in_or_at_the_data_directory() {
    let home = Home::playing(HELLO);
    home.windlass(&["status"]).run().expect(0);
    assert_shown!(home, refused(&home, home.path()), @"
    exit code 2
    --- stderr
    error: [HOME] contains the data directory of windlass: an agent may not work there
    hint: run it in a project folder, or name one with --workspace
    ");
    assert_shown!(home, refused(&home, &home.data()), @"
    exit code 2
    --- stderr
    error: [HOME]/data is in the data directory of windlass: an agent may not work there
    hint: run it in a project folder, or name one with --workspace
    ");
    let inside = home.data().join("objects/project");
    fs::create_dir_all(&inside).expect("a folder");
    refused(&home, &inside);
    // By another name.
    let link = home.workspace().join("link");
    std::os::unix::fs::symlink(home.data(), &link).expect("a link");
    refused(&home, &link);
    refused(&home, &link.join("objects"));
    let elsewhere = home.path().join("elsewhere");
    std::os::unix::fs::symlink(home.workspace(), &elsewhere).expect("a link");
    let run = home.run(&[]).env("WINDLASS_DATA_DIR", elsewhere.join("not/yet").to_str().expect("a plain path"));
    assert!(run.run().expect(2).stderr.contains("contains the data directory"));
    fs::remove_file(link).expect("the link goes");
    assert!(home.files().is_empty(), "nothing was done");
    home.run(&[]).run().expect(0);
}

#[test]
fn never_in_a_home_or_a_folder_of_the_system() {
    let (home, other) = (Home::playing(HELLO), Home::new());
    let elsewhere = other.data();
    let in_home = home.run(&["--workspace", ".."]).env("WINDLASS_DATA_DIR", elsewhere.to_str().expect("a plain path"));
    assert_shown!(home, in_home.run(), @"
    exit code 2
    --- stderr
    error: [HOME] is or contains your home folder: an agent may not work there
    hint: run it in a project folder, or name one with --workspace
    ");
    for folder in
        ["/", "/proc", "/proc/self", "/sys", "/dev", "/usr", "/usr/lib", "/bin", "/lib", "/etc", "/var", "/run"]
    {
        let said = refused(&home, Path::new(folder)).stderr;
        assert!(said.contains("belongs to the system") || said.contains("contains "), "{folder}: {said}");
    }
}

#[test]
fn never_where_a_path_cannot_be_kept_or_git_cannot_be_protected() {
    let home = Home::playing(HELLO);
    let odd = home.workspace().join(OsStr::from_bytes(b"odd-\xff"));
    fs::create_dir(&odd).expect("a folder");
    let said = home.run(&[]).inside(&odd).run().expect(2).stderr;
    assert!(said.contains("is not UTF-8"), "{said}");
    let linked = home.workspace().join("linked");
    fs::create_dir(&linked).expect("a folder");
    std::os::unix::fs::symlink("../elsewhere", linked.join(".git")).expect("a link");
    let said = refused(&home, &linked).stderr;
    assert!(said.contains(".git is a symbolic link"), "{said}");
}

#[test]
fn a_resumed_task_is_refused_a_place_like_a_new_one() {
    let home = Home::playing(HELLO);
    assert!(home.run(&[]).env("WINDLASS_CRASH_AT", "permitted:1").run().was_killed());
    let moved = home.workspace().join("data");
    fs::rename(home.data(), &moved).expect("the data directory moves into the workspace");
    let resume = home.windlass(&["resume"]).env("WINDLASS_DATA_DIR", moved.to_str().expect("a plain path"));
    let said = resume.run().expect(2).stderr;
    assert!(said.contains("contains the data directory"), "{said}");
}

#[test]
fn the_demo_takes_no_folder_that_is_not_its_own() {
    let home = Home::new();
    let mine = home.path().join("data-demo");
    fs::create_dir(&mine).expect("a folder");
    fs::write(mine.join("thesis.txt"), "years of work").expect("written");
    let said = home.windlass(&["demo"]).run().expect(2).stderr;
    assert!(said.contains("is not one of its own"), "{said}");
    assert_eq!(fs::read_to_string(mine.join("thesis.txt")).expect("it is still there"), "years of work");
    fs::remove_dir_all(&mine).expect("it goes");
    home.windlass(&["demo"]).run().expect(0);
    home.windlass(&["demo"]).run().expect(0);
    let mut files = Default::default();
    collect(&home.data(), &home.data(), &mut files);
    assert!(!files.keys().any(|name| name.contains("slug.sh")), "nothing of the demo is in the data directory");
}

#[test]
fn what_is_kept_is_for_its_owner_alone() {
    let home = Home::playing(HELLO);
    home.run(&[]).run().expect(0);
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&home.data()), 0o700);
    let traces = home.data().join("traces");
    assert_eq!(mode(&traces), 0o700);
    let trace = fs::read_dir(&traces).expect("traces").next().expect("one").expect("an entry").path();
    assert_eq!(mode(&trace), 0o600);
}
