//! The data directory and the database file in it. A new database is built under another name and renamed when it is
//! complete and on disk, so a file called `windlass.db` is never half made: an empty or torn one is damage, and is said to
//! be. All this happens under a lock, since several processes may start at once.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use rustix::fs::{FlockOperation, flock};

use crate::error::Error;
use crate::providers::sqlite::connection::{Purpose, configure, open_raw, open_with};
use crate::providers::sqlite::failure::describe;
use crate::providers::sqlite::migrate::{Schema, inspect, migrate};
use crate::providers::sqlite::options::Options;

/// The connection that writes, to a database that is there and has this build's schema.
pub(super) fn open_or_create(options: &Options) -> Result<Connection, Error> {
    create_folder(&options.data_dir)?;
    let path = options.database();
    let _alone = lock(&options.data_dir.join("open.lock"))?;
    match std::fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => create(options, &path)?,
        Err(error) => return Err(Error::from_io(&path, &error)),
        Ok(found) if found.len() == 0 => {
            return Err(Error::Corrupt { path, detail: "the file is empty".to_owned() });
        }
        Ok(_) => {}
    }
    let mut connection = open_raw(options, &path)?;
    let schema = inspect(&connection, &path)?;
    let prepare = |connection: &mut Connection| {
        configure(connection, options.synchronous, Purpose::Write)?;
        match schema {
            Schema::Current => Ok(()),
            Schema::Older(from) => migrate(connection, from),
        }
    };
    prepare(&mut connection).map_err(|error| describe(&path, &error))?;
    ensure_log_mode(&connection, &path)?;
    Ok(connection)
}

fn create_folder(folder: &Path) -> Result<(), Error> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let attempt = || {
        if folder.is_dir() {
            return Ok(());
        }
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        parent.map_or(Ok(()), sync)
    };
    attempt().map_err(|error| Error::from_io(folder, &error))
}

/// Held until it is dropped. Others wait: creating and migrating end by themselves.
fn lock(path: &Path) -> Result<File, Error> {
    let attempt = || {
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path)?;
        flock(&file, FlockOperation::LockExclusive)?;
        Ok(file)
    };
    attempt().map_err(|error: io::Error| Error::from_io(path, &error))
}

fn create(options: &Options, path: &Path) -> Result<(), Error> {
    let log = beside(path, "-wal");
    // An empty one holds nothing; SQLite leaves such behind.
    if log.metadata().is_ok_and(|found| found.len() > 0) {
        let detail = format!("it is missing, but its log {} is there", log.display());
        return Err(Error::Corrupt { path: path.to_path_buf(), detail });
    }
    let unfinished = beside(path, ".new");
    build(options, &unfinished)?;
    let publish = || {
        sync(&unfinished)?;
        std::fs::rename(&unfinished, path)?;
        sync(&options.data_dir)
    };
    publish().map_err(|error| Error::from_io(path, &error))
}

fn build(options: &Options, path: &Path) -> Result<(), Error> {
    let start = || {
        for name in [path.to_path_buf(), beside(path, "-wal"), beside(path, "-shm"), beside(path, "-journal")] {
            match std::fs::remove_file(name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => removed?,
            }
        }
        OpenOptions::new().create_new(true).write(true).mode(0o600).open(path)
    };
    start().map_err(|error| Error::from_io(path, &error))?;
    let mut connection = open_with(options, path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    migrate(&mut connection, 0).map_err(|error| describe(path, &error))?;
    connection.close().map_err(|(_, error)| describe(path, &error))
}

/// The mode is kept in the file, so this is as a rule a question. It is asked to its end: SQLite names the new mode first and
/// writes it last.
fn ensure_log_mode(connection: &Connection, path: &Path) -> Result<(), Error> {
    let ask = || {
        let mut statement = connection.prepare("PRAGMA journal_mode = wal")?;
        let modes: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        Ok(modes)
    };
    match ask().map_err(|error: rusqlite::Error| describe(path, &error))?.as_slice() {
        [mode] if mode == "wal" => Ok(()),
        modes => {
            let detail = format!("the file system cannot share memory between processes (journal mode {modes:?})");
            Err(Error::Io { path: path.to_path_buf(), detail })
        }
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

pub(super) fn sync(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
