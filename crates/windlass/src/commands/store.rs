//! `windlass store migrate | backup | prune`: the store as a whole.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use serde_json::json;
use windlass_domain::Runtime;
use windlass_runtime::TokioRuntime;
use windlass_store::moving::sqlite_to_postgres;
use windlass_store::postgres::{self, Address};
use windlass_store::sqlite;

use super::store_prune::store_prune;
use crate::arguments::{Store, StoreBackup, StoreMigrate};
use crate::config::Config;
use crate::exit::{Exit, WrongUse};
use crate::show::{Line, Screen, print_json};
use crate::stores::{StoreChoice, was_moved, with_password};
use crate::wiring::machine;

pub async fn store(arguments: Store) -> anyhow::Result<Exit> {
    match arguments {
        Store::Migrate(arguments) => migrate(arguments).await,
        Store::Backup(arguments) => backup(&arguments),
        Store::Prune(arguments) => store_prune(arguments).await,
    }
}

async fn migrate(arguments: StoreMigrate) -> anyhow::Result<Exit> {
    let config = Config::look()?;
    let address = Address::parse(&arguments.to).map_err(|bad| WrongUse::new(format!("--to: {bad}")))?;
    let (address, place) = (with_password(address.clone()), address.place().to_owned());
    let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::current());
    if !config.data_dir.is_dir() {
        return Err(WrongUse::new(format!("there is no data directory {}", config.data_dir.display())).into());
    }
    was_moved(&sqlite::Options::new(&config.data_dir)).map_or(Ok(()), Err)?;
    let locks = machine(&config.data_dir, runtime.random())?.locks.context("a data directory has locks")?;
    let moving = sqlite_to_postgres(&config.data_dir, &locks, postgres::Options::new(address), runtime);
    let moved = moving.await?;
    if arguments.output.json {
        let counts = json!({"events": moved.events, "messages": moved.messages, "blobs": moved.blobs});
        print_json(&json!({"type": "result", "to": place, "moved": counts}));
        return Ok(Exit::Completed);
    }
    let mut screen = Screen::new();
    let counts = format!("{} events, {} messages, {} blobs", moved.events, moved.messages, moved.blobs);
    screen.print_whole(&Line::new().plain(format!("moved to {place}: ")).plain(counts));
    let next =
        "set `[store] url` in windlass.toml, or WINDLASS_STORE_URL, to that database; the old one is windlass.db.moved";
    screen.print_whole(&Line::new().dim(next));
    Ok(Exit::Completed)
}

/// What is beside the database and belongs to it, in the order in which it is copied. Heads go before the database: each is of a
/// commit that the copy then has. Blobs and snapshots go after it: what a row names was there before the row was. Blobs go before it, too:
/// they are taken away while others work, but none that is younger than a day, so that what a row of the copy names was there the first time
/// or is there the second.
const BEFORE: [&str; 2] = ["heads", "blobs"];
const AFTER: [&str; 2] = ["blobs", "objects"];
const MACHINE: &str = "machine";

fn backup(arguments: &StoreBackup) -> anyhow::Result<Exit> {
    let config = Config::look()?;
    if let StoreChoice::Postgres(address) = &config.store {
        let what = format!("the store is {}, which PostgreSQL's own programs keep copies of", address.place());
        return Err(WrongUse::new(what).hint("pg_dump --format custom; docs/operations.md says more").into());
    }
    let options = sqlite::Options::new(&config.data_dir);
    was_moved(&options).map_or(Ok(()), Err)?;
    if !options.file().exists() {
        let what = format!("there is no database in {}", config.data_dir.display());
        return Err(WrongUse::new(what).hint("set WINDLASS_DATA_DIR").into());
    }
    let folder = &arguments.folder;
    make(folder).map_err(|error| {
        WrongUse::new(format!("{} cannot be made: {error}", folder.display())).hint("name a folder that is not there")
    })?;
    copy_around(&config.data_dir, folder, || Ok(sqlite::copy_database(&options, &folder.join("windlass.db"))?))?;
    match arguments.output.json {
        true => print_json(&json!({"type": "result", "folder": folder})),
        false => Screen::new().print_whole(&Line::new().plain(folder.display().to_string())),
    }
    Ok(Exit::Completed)
}

/// Everything, with the database in between.
fn copy_around(
    data_dir: &Path,
    folder: &Path,
    copy_database: impl FnOnce() -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let told = |error: io::Error| anyhow::anyhow!("{} cannot be written: {error}", folder.display());
    for name in BEFORE {
        copy_all(&data_dir.join(name), &folder.join(name)).map_err(told)?;
    }
    copy_database()?;
    // Whoever has the copy is that machine, and goes on with what it had.
    if let Err(error) = fs::copy(data_dir.join(MACHINE), folder.join(MACHINE))
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(told(error));
    }
    for name in AFTER {
        copy_all(&data_dir.join(name), &folder.join(name)).map_err(told)?;
    }
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(told)
}

fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(folder)
}

/// Files and folders that are not there yet; a file that others are writing under a temporary name, or take away, may be gone again, and is
/// not missed.
fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    if !to.is_dir() {
        make(to)?;
    }
    for entry in entries {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_all(&source, &target)?;
        } else if kind.is_file() && !target.exists() {
            match fs::copy(&source, &target) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                copied => {
                    copied?;
                    File::open(&target)?.sync_all()?;
                }
            }
        }
    }
    File::open(to)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression: blobs were copied after the database alone, and one that was pruned in between was missing though the copy names it.
    #[test]
    fn what_is_pruned_beside_a_backup_is_in_it() {
        let home = tempfile::tempdir().unwrap();
        let (data, copy) = (home.path().join("data"), home.path().join("copy"));
        let put = |name: &str| {
            let path = data.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, name).unwrap();
        };
        ["blobs/tenant/old", "objects/tree", "heads/first"].iter().for_each(|name| put(name));
        make(&copy).unwrap();
        copy_around(&data, &copy, || {
            // Somebody prunes what the copied database still names, and somebody puts what it names already.
            fs::remove_file(data.join("blobs/tenant/old")).unwrap();
            ["blobs/tenant/new", "heads/later"].iter().for_each(|name| put(name));
            Ok(())
        })
        .unwrap();
        let read = |name: &str| fs::read_to_string(copy.join(name)).ok();
        for name in ["blobs/tenant/old", "blobs/tenant/new", "objects/tree", "heads/first"] {
            assert_eq!(read(name).as_deref(), Some(name));
        }
        assert_eq!(read("heads/later"), None, "the copied database may not have its commit");
    }
}
