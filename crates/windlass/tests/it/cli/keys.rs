//! `windlass keys`: the owner's keys as files. Whatever is not in order is refused with what to do about it, and is left as
//! it was.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::assert_shown;
use super::scripts::HELLO;
use crate::support::{Ended, Home};

fn owner(home: &Home) -> PathBuf {
    home.data().join("keys/owner")
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("it is there").mode() & 0o7777
}

fn keys(home: &Home) -> Vec<Value> {
    let mut listed = home.windlass(&["keys", "list", "--json"]).run().expect(0).objects();
    let result = listed.pop().expect("a result");
    assert_eq!(result["keys"], listed.len());
    listed
}

fn begun() -> Home {
    let home = Home::playing(HELLO);
    home.windlass(&["keys", "init"]).run().expect(0);
    home
}

#[test]
fn a_key_is_made_once_and_its_private_half_is_nobody_s_but_the_owner_s() {
    let home = begun();
    assert_eq!((mode(&owner(&home)), mode(&home.data().join("keys"))), (0o600, 0o700));
    let private = fs::read_to_string(owner(&home)).expect("a key");
    assert_eq!(private.trim().len(), 64);
    assert_shown!(home, home.windlass(&["keys", "init"]).run(), @"
    exit code 2
    --- stderr
    error: there is a key already
    hint: `windlass keys rotate` makes another in its place
    ");
    assert_eq!(fs::read_to_string(owner(&home)).expect("a key"), private, "it stays");
    let everything =
        format!("{:?}{}", keys(&home), fs::read_to_string(home.data().join("keys/public.json")).expect("a list"));
    assert!(!everything.contains(private.trim()), "the private half is shown nowhere");
}

#[test]
fn a_rotation_keeps_the_public_half_of_the_key_before() {
    let home = begun();
    let first = keys(&home).remove(0);
    assert_eq!(first["retired_at"], Value::Null);
    home.windlass(&["keys", "rotate"]).run().expect(0);
    let after = keys(&home);
    assert_eq!(after.len(), 2);
    assert_eq!((&after[0]["key_id"], &after[0]["public"]), (&first["key_id"], &first["public"]));
    assert!(after[0]["retired_at"].is_string() && after[1]["retired_at"].is_null(), "{after:?}");
    assert_ne!(after[1]["public"], first["public"]);
}

#[test]
fn what_a_key_signed_counts_up_to_its_retirement() {
    let home = begun();
    home.run(&[]).run().expect(0);
    home.windlass(&["keys", "rotate"]).run().expect(0);
    home.run(&[]).run().expect(0);
    home.windlass(&["audit", "verify"]).run().expect(0);
    // As if the first key had been retired before it signed.
    let path = home.data().join("keys/public.json");
    let mut list: Vec<Value> = serde_json::from_slice(&fs::read(&path).expect("a list")).expect("JSON");
    list[0]["retired_at"] = list[0]["created_at"].clone();
    fs::write(&path, serde_json::to_vec(&list).expect("JSON")).expect("written");
    let ended = home.windlass(&["audit", "verify"]).run().expect(1);
    let shown = format!("{}{}", ended.stdout, ended.stderr);
    assert!(shown.contains("had been retired when it was signed"), "{shown}");
}

#[test]
fn without_a_key_there_is_nothing_to_rotate_and_the_list_says_so() {
    let home = Home::new();
    assert_shown!(home, home.windlass(&["keys", "rotate"]).run(), @"
    exit code 2
    --- stderr
    error: there is no key to put another in the place of
    hint: `windlass keys init` makes the first one
    ");
    assert_shown!(home, home.windlass(&["keys", "list"]).run(), @"
    exit code 0
    --- stdout
    No keys yet.  `windlass keys init` makes one; so does the first use.
    ");
}

#[test]
fn a_run_makes_the_key_that_it_needs_and_uses_the_one_there_is() {
    let home = Home::playing(HELLO);
    home.run(&[]).run().expect(0);
    let made = keys(&home);
    assert_eq!(made.len(), 1);
    home.run(&[]).run().expect(0);
    assert_eq!(keys(&home), made);
}

/// Nothing is done with a key that is not in order: no run, no rotation, and no mending.
fn refused(home: &Home) -> Ended {
    for words in [&["keys", "init"][..], &["keys", "rotate"]] {
        let ended = home.windlass(words).run().expect(2);
        assert!(ended.stderr.contains("hint: "), "{}", ended.stderr);
    }
    let ended = home.run(&[]).run().expect(2);
    assert!(home.files().is_empty(), "nothing was done");
    assert_eq!(home.windlass(&["status", "--json"]).run().expect(0).stdout, "", "no task was made");
    ended
}

#[test]
fn a_private_half_that_others_can_read_is_refused() {
    let home = begun();
    fs::set_permissions(owner(&home), Permissions::from_mode(0o640)).expect("a mode");
    assert_shown!(home, refused(&home), @"
    exit code 2
    --- stderr
    error: [HOME]/data/keys/owner: others can get at it (mode 640)
    hint: shut it with: chmod 600 [HOME]/data/keys/owner
    ");
    fs::set_permissions(owner(&home), Permissions::from_mode(0o600)).expect("a mode");
    home.run(&[]).run().expect(0);
}

#[test]
fn a_folder_that_others_can_write_is_refused() {
    let home = begun();
    let folder = home.data().join("keys");
    fs::set_permissions(&folder, Permissions::from_mode(0o770)).expect("a mode");
    let ended = refused(&home);
    assert!(ended.stderr.contains("chmod 700"), "{}", ended.stderr);
    home.windlass(&["keys", "list"]).run().expect(2);
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).expect("a mode");
    home.run(&[]).run().expect(0);
}

#[test]
fn a_link_in_the_place_of_a_key_or_its_folder_is_refused() {
    let home = begun();
    let elsewhere = home.path().join("elsewhere");
    for place in [owner(&home), home.data().join("keys/public.json"), home.data().join("keys")] {
        fs::rename(&place, &elsewhere).expect("moved");
        symlink(&elsewhere, &place).expect("a link");
        let ended = refused(&home);
        assert!(ended.stderr.contains("it is a symbolic link"), "{}", ended.stderr);
        fs::remove_file(&place).expect("the link");
        fs::rename(&elsewhere, &place).expect("moved back");
    }
    home.run(&[]).run().expect(0);
}

#[test]
fn what_is_no_key_is_refused_and_left_alone() {
    let home = begun();
    let good = fs::read(owner(&home)).expect("a key");
    for broken in [&b""[..], b"0123", b"\xff\xfe", &[b'z'; 64], &good[..63]] {
        fs::write(owner(&home), broken).expect("written");
        let ended = refused(&home);
        assert!(ended.stderr.contains("it holds no private key (64 hex digits)"), "{}", ended.stderr);
        assert_eq!(fs::read(owner(&home)).expect("a file"), broken, "nothing was mended by guessing");
    }
    fs::remove_file(owner(&home)).expect("removed");
    fs::create_dir(owner(&home)).expect("a folder in its place");
    assert!(refused(&home).stderr.contains("it is not a regular file"));
}

#[test]
fn a_list_of_public_halves_that_was_changed_is_refused() {
    let home = begun();
    let path = home.data().join("keys/public.json");
    let good = fs::read_to_string(&path).expect("a list");
    let id = keys(&home).remove(0)["key_id"].as_str().expect("an id").to_owned();
    let forged_id = good.replace(&id, &"0".repeat(32));
    let unknown_field = good.replace("\"created_at\"", "\"creator\"");
    for broken in ["", "[", "{}", "[1]", &forged_id, &unknown_field] {
        fs::write(&path, broken).expect("written");
        let ended = refused(&home);
        assert!(ended.stderr.contains("public.json: "), "{}", ended.stderr);
        home.windlass(&["keys", "list"]).run().expect(2);
    }
    fs::write(&path, good).expect("written");
    home.run(&[]).run().expect(0);
}

#[test]
fn a_key_that_the_list_does_not_know_gets_into_it_when_it_is_used() {
    let home = begun();
    let before = keys(&home);
    // As after a crash between the two files.
    fs::write(home.data().join("keys/public.json"), "[]").expect("written");
    home.run(&[]).run().expect(0);
    assert_eq!(keys(&home)[0]["key_id"], before[0]["key_id"]);
}

#[test]
fn of_many_who_make_the_first_key_at_once_one_does() {
    let home = Home::new();
    let racers: Vec<_> = (0..8).map(|_| home.windlass(&["keys", "init"]).start()).collect();
    let codes: Vec<i32> = racers.into_iter().map(|racer| racer.end().code()).collect();
    assert_eq!(codes.iter().filter(|code| **code == 0).count(), 1, "{codes:?}");
    assert!(codes.iter().all(|code| [0, 2].contains(code)), "{codes:?}");
    assert_eq!(keys(&home).len(), 1);
}
