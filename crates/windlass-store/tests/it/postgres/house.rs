//! A server with empty databases, and stores on them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use windlass_postgres_server::Server;
use windlass_store::postgres::{Address, Options, PostgresStore};

use crate::executor::Executor;

pub struct House {
    pub server: Server,
    pub executor: Executor,
    databases: AtomicUsize,
}

impl House {
    pub fn new() -> Self {
        Self { server: Server::start(), executor: Executor::new(), databases: AtomicUsize::new(0) }
    }

    /// Of an empty database.
    pub fn url(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::SeqCst);
        self.server.database(&format!("test_{number}"))
    }

    pub fn open(&self, url: &str) -> Arc<PostgresStore> {
        let opened = self.executor.run(PostgresStore::open(options(url), self.executor.runtime()));
        Arc::new(opened.expect("a store"))
    }
}

pub fn options(url: &str) -> Options {
    Options::new(Address::parse(url).expect("an address"))
}
