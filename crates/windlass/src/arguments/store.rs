//! `windlass store`: what operators do with the store as a whole.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::Output;
use crate::retention::age;

#[derive(Debug, Subcommand)]
pub enum Store {
    /// Move everything from the data directory's database into an empty PostgreSQL database
    Migrate(StoreMigrate),
    /// Keep a copy of the data directory's database, of its blobs and snapshots, and of the signed heads of the audit
    Backup(StoreBackup),
    /// Take away what tasks left that ended long ago: traces, recordings, artifacts, blobs; what happened stays on record
    Prune(Prune),
}

#[derive(Debug, Args)]
pub struct StoreMigrate {
    /// Where it is now
    #[arg(long, value_name = "STORE", value_parser = ["sqlite"])]
    pub from: String,
    /// Where it goes, such as postgres://user@host/database; PGPASSWORD may hold the password
    #[arg(long, value_name = "URL")]
    pub to: String,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct StoreBackup {
    /// A folder that is not there yet
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
    #[command(flatten)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub struct Prune {
    /// How long ago, such as 30d or 12h [default: `[retention] days` in windlass.toml]
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub older_than: Option<Duration>,
    /// Only say what would go
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub output: Output,
}
