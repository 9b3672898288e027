//! The suite on SQLite, in a file, by its threads and by the caller's, and in memory.

use std::sync::Arc;

use windlass_store::conformance::CASES;
use windlass_store::sqlite::{Options, SqliteStore};

use crate::executor::Executor;

#[test]
fn sqlite_in_a_file_conforms() {
    for (name, case) in CASES {
        println!("{name}");
        let folder = tempfile::tempdir().expect("a folder");
        let executor = Executor::new();
        let store = SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("a store");
        executor.run(case(Arc::new(store), executor.runtime()));
    }
}

#[test]
fn sqlite_on_the_callers_thread_conforms() {
    for (name, case) in CASES {
        println!("{name}");
        let folder = tempfile::tempdir().expect("a folder");
        let executor = Executor::new();
        let options = Options::new(folder.path()).on_callers_thread();
        let store = SqliteStore::open(options, executor.runtime()).expect("a store");
        executor.run(case(Arc::new(store), executor.runtime()));
    }
}

#[test]
fn sqlite_in_memory_conforms() {
    for (name, case) in CASES {
        println!("{name}");
        let executor = Executor::new();
        let store = SqliteStore::in_memory(executor.runtime()).expect("a store");
        executor.run(case(Arc::new(store), executor.runtime()));
    }
}
