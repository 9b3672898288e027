//! `windlass store backup`, and what comes of a copy.

use std::fs;
use std::path::Path;

use super::scripts::HELLO;
use crate::support::{Home, collect};

/// The standing of each task.
fn standings(home: &Home) -> Vec<String> {
    let told = home.windlass(&["status", "--json"]).run().expect(0).objects();
    told.iter().filter_map(|told| Some(told["standing"].as_str()?.to_owned())).collect()
}

/// Files below a folder, by their paths.
fn files(folder: &Path) -> Vec<String> {
    let mut files = Default::default();
    collect(folder, folder, &mut files);
    files.into_keys().collect()
}

#[test]
fn a_copy_of_the_data_directory_s_database_is_restored_with_its_audit() {
    let home = Home::playing(HELLO);
    home.run(&[]).run().expect(0);
    home.run(&["--detach"]).run().expect(0);
    let copy = home.path().join("copy");
    let folder = copy.to_str().expect("a plain path");
    home.windlass(&["store", "backup", folder]).run().expect(0);
    assert!(files(&copy).iter().any(|name| name == "windlass.db"), "{:?}", files(&copy));
    home.windlass(&["store", "backup", folder]).run().expect(2);
    // Lost, but for the keys, which are kept elsewhere.
    for name in ["windlass.db", "windlass.db-wal", "windlass.db-shm", "blobs", "objects", "heads"] {
        let path = home.data().join(name);
        let _may_be_absent = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
    }
    let restored = std::process::Command::new("cp").arg("-a").arg(copy.join(".")).arg(home.data()).status();
    assert!(restored.expect("cp runs").success());
    home.windlass(&["audit", "verify"]).run().expect(0);
    home.windlass(&["worker", "--until-idle"]).run().expect(0);
    let mut told = standings(&home);
    told.dedup();
    assert_eq!(told, ["completed"]);
}
