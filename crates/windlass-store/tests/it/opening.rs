//! Opening what is not as it should be: each is a clear error, and the bytes on disk are as they were.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use windlass_domain::{Taint, Tenant, Wall};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{Commit, Error, Store as _, blob};

use crate::executor::Executor;
use crate::promise::{Promise, kept};
use crate::scratch::scratch;

/// A data directory with some commits in it; with `log`, as a crash leaves it: the newest of them only in the log.
fn filled(folder: &Path, log: Log) {
    let executor = Executor::new();
    let store = SqliteStore::open(Options::new(folder), executor.runtime()).expect("a store");
    for index in 0..8 {
        executor.run(store.commit(Promise { worker: 0, index }.commit())).expect("a store that works");
    }
    match log {
        Log::Moved => drop(store),
        Log::LeftBehind => {
            let saved = bytes(folder);
            drop(store);
            for (name, content) in saved {
                std::fs::write(folder.join(name), content).expect("writable");
            }
            assert!(folder.join("windlass.db-wal").metadata().expect("a log").len() > 0);
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Log {
    Moved,
    LeftBehind,
}

/// Database and log, without the log's index, which is only a cache. An empty log is as good as none.
fn bytes(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    ["windlass.db", "windlass.db-wal"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), std::fs::read(folder.join(name)).ok()?)))
        .filter(|(name, content)| name == "windlass.db" || !content.is_empty())
        .collect()
}

fn open(folder: &Path) -> Result<SqliteStore, Error> {
    SqliteStore::open(Options::new(folder), Executor::new().runtime())
}

/// Opens a damaged directory, expects `Corrupt`, and expects that nothing was touched.
fn assert_refused_untouched(folder: &Path, what: &str) {
    let before = bytes(folder);
    let error = open(folder).err().unwrap_or_else(|| panic!("{what}: it was opened"));
    assert!(matches!(error, Error::Corrupt { .. }), "{what}: {error}");
    assert!(error.to_string().contains("windlass.db"), "{what}: {error}");
    assert!(bytes(folder) == before, "{what}: refused, but written to");
}

#[test]
fn a_database_is_readable_by_its_owner_alone() {
    let folder = scratch();
    let data_dir = folder.path().join("deep/data");
    let executor = Executor::new();
    let store = SqliteStore::open(Options::new(&data_dir), executor.runtime()).expect("a store");
    executor.run(store.commit(Promise { worker: 0, index: 0 }.commit())).expect("a store that works");
    let large = vec![7; 100_000];
    executor.run(blob::put(&store, &Tenant::local(), large, Taint::Auth, Wall::default())).expect("put");
    let mut open_to_others = Vec::new();
    let mut folders = vec![data_dir];
    while let Some(folder) = folders.pop() {
        let mode = |path: &Path| path.metadata().expect("it is there").permissions().mode() & 0o777;
        if mode(&folder) != 0o700 {
            open_to_others.push(folder.clone());
        }
        for entry in std::fs::read_dir(&folder).expect("readable") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if mode(&path) != 0o600 {
                open_to_others.push(path);
            }
        }
    }
    assert_eq!(open_to_others, Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_database_of_a_newer_windlass_is_refused_untouched() {
    for log in [Log::Moved, Log::LeftBehind] {
        let folder = scratch();
        filled(folder.path(), log);
        let connection = rusqlite::Connection::open(folder.path().join("windlass.db")).expect("it opens");
        let keep_log = rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        connection.set_db_config(keep_log, true).expect("set");
        connection.pragma_update(None, "user_version", 9_999).expect("written");
        drop(connection);
        let before = bytes(folder.path());
        let refusal = open(folder.path()).err();
        assert_eq!(refusal, Some(Error::NewerSchema { found: 9_999, known: 4 }), "{log:?}");
        assert!(bytes(folder.path()) == before, "{log:?}: refused, but written to");
    }
}

#[test]
fn another_programs_database_is_refused_untouched() {
    let folder = scratch();
    let connection = rusqlite::Connection::open(folder.path().join("windlass.db")).expect("it opens");
    connection.execute_batch("CREATE TABLE streams (key INTEGER); INSERT INTO streams VALUES (1)").expect("written");
    drop(connection);
    assert_refused_untouched(folder.path(), "another program's");
}

#[test]
fn what_is_no_database_is_refused_untouched() {
    let contents: [(&str, Vec<u8>); 4] = [
        ("empty", Vec::new()),
        ("short", b"SQLite".to_vec()),
        ("text", b"these are not the bytes you are looking for\n".repeat(1_000)),
        ("zeros", vec![0; 64 * 1024]),
    ];
    for (what, content) in contents {
        let folder = scratch();
        std::fs::write(folder.path().join("windlass.db"), content).expect("writable");
        assert_refused_untouched(folder.path(), what);
    }
}

#[test]
fn a_log_without_its_database_is_refused_untouched() {
    let folder = scratch();
    filled(folder.path(), Log::LeftBehind);
    std::fs::remove_file(folder.path().join("windlass.db")).expect("removed");
    assert_refused_untouched(folder.path(), "a log alone");
}

#[test]
fn a_truncated_database_is_refused_untouched() {
    for divisor in [2, 3, 10] {
        let folder = scratch();
        filled(folder.path(), Log::Moved);
        let path = folder.path().join("windlass.db");
        let content = std::fs::read(&path).expect("readable");
        std::fs::write(&path, &content[..content.len() / divisor]).expect("writable");
        assert_refused_untouched(folder.path(), &format!("1/{divisor} of a database"));
    }
}

/// Bytes of the header and of the schema are met when opening; a byte elsewhere is met by whoever reads it, or by `verify`.
/// Whatever is flipped, the answer is an error or the truth, never a panic or a wrong record.
#[test]
fn flipped_bytes_are_an_error_or_harmless() {
    let original = scratch();
    filled(original.path(), Log::Moved);
    let content = std::fs::read(original.path().join("windlass.db")).expect("readable");
    let (mut refused, mut found_later) = (0, 0);
    for offset in (0..content.len()).step_by(509) {
        let folder = scratch();
        let mut damaged = content.clone();
        damaged[offset] ^= 0xFF;
        std::fs::write(folder.path().join("windlass.db"), &damaged).expect("writable");
        let executor = Executor::new();
        match SqliteStore::open(Options::new(folder.path()), executor.runtime()) {
            Err(Error::Corrupt { .. } | Error::NewerSchema { .. }) => {
                refused += 1;
                let after = std::fs::read(folder.path().join("windlass.db")).expect("readable");
                assert!(after == damaged, "byte {offset}: refused, but written to");
            }
            Err(other) => panic!("byte {offset}: {other}"),
            Ok(store) => match executor.run(store.verify()) {
                Err(Error::Corrupt { .. }) => found_later += 1,
                Err(other) => panic!("byte {offset}: {other}"),
                Ok(()) => {}
            },
        }
    }
    println!("{refused} refused, {found_later} found by verifying, of {}", content.len().div_ceil(509));
    assert!(refused > 0 && found_later > 0);
}

/// The page of nonces is overwritten while the database is closed. The first commit that needs it says so, and from then on
/// nothing is written.
#[test]
fn damage_met_while_writing_stops_all_writing() {
    let folder = scratch();
    filled(folder.path(), Log::Moved);
    let path = folder.path().join("windlass.db");
    let root: i64 = rusqlite::Connection::open(&path)
        .and_then(|connection| {
            connection.query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'nonces'", [], |row| row.get(0))
        })
        .expect("the table of nonces");
    let mut content = std::fs::read(&path).expect("readable");
    let start = (root as usize - 1) * 4_096;
    content[start..start + 4_096].fill(0xAA);
    std::fs::write(&path, &content).expect("writable");
    let executor = Executor::new();
    let store = SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("the damage is further in");
    for index in [8, 9] {
        let refusal = executor.run(store.commit(Promise { worker: 0, index }.commit()));
        assert!(matches!(refusal, Err(Error::Corrupt { .. })), "{refusal:?}");
    }
    // A commit that would not touch the damaged page at all.
    let harmless = Commit::unfenced(Tenant::local(), Wall::default());
    assert!(matches!(executor.run(store.commit(harmless)), Err(Error::Corrupt { .. })));
    drop(store);
    assert!(std::fs::read(&path).expect("readable") == content, "the damaged file was written to");
}

#[test]
fn a_crash_while_a_database_is_made_leaves_nothing_in_the_way() {
    let folder = scratch();
    std::fs::write(folder.path().join("windlass.db.new"), b"half of a databa").expect("writable");
    std::fs::write(folder.path().join("windlass.db.new-wal"), b"and its log").expect("writable");
    drop(open(folder.path()).expect("a store"));
    assert!(!folder.path().join("windlass.db.new").exists());
}

#[test]
fn what_a_crash_leaves_in_the_log_is_there_after_opening() {
    let folder = scratch();
    filled(folder.path(), Log::LeftBehind);
    let executor = Executor::new();
    let store = SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("a store");
    assert_eq!(executor.run(kept(&store, 1)).len(), 8);
}

#[test]
fn a_database_that_was_put_into_another_mode_is_put_back() {
    let folder = scratch();
    filled(folder.path(), Log::Moved);
    let path = folder.path().join("windlass.db");
    let mode = |wanted: &str| {
        let raw = rusqlite::Connection::open(&path).expect("it opens");
        let mut statement = raw.prepare(wanted).expect("a pragma");
        let modes = statement.query_map([], |row| row.get::<_, String>(0)).expect("asked");
        modes.map(|mode| mode.expect("a mode")).collect::<Vec<_>>()
    };
    assert_eq!(mode("PRAGMA journal_mode = delete"), ["delete"]);
    drop(open(folder.path()).expect("a store"));
    assert_eq!(mode("PRAGMA journal_mode"), ["wal"]);
}
