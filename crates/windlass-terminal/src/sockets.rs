//! Where processes find each other's terminals: a folder of the user's own, with a socket for each that runs, called as it is called. A name
//! there is of somebody who listens, or of somebody who was killed; which of the two, connecting tells.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use tokio::net::{UnixListener, UnixStream};

const SUFFIX: &str = "sock";

/// The folder.
#[derive(Debug, Clone)]
pub struct Sockets(PathBuf);

/// A name in the folder, gone when it goes out of use.
#[derive(Debug)]
pub struct Bound {
    listener: UnixListener,
    sockets: Sockets,
    path: PathBuf,
    inode: u64,
}

impl Sockets {
    pub fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.{SUFFIX}"))
    }

    /// Whoever has the name runs what it names: what lies there under it was left behind.
    pub fn bind(&self, name: &str) -> io::Result<Bound> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        let folder = self.locked()?;
        let fresh = format!("{name}.new");
        let short = through(&folder, &fresh);
        match fs::remove_file(&short) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = StdListener::bind(&short)?;
        fs::set_permissions(&short, Permissions::from_mode(0o600))?;
        let inode = fs::symlink_metadata(&short)?.ino();
        // Whoever sees the name finds somebody who listens.
        let path = self.path(name);
        fs::rename(self.0.join(&fresh), &path)?;
        listener.set_nonblocking(true)?;
        Ok(Bound { listener: UnixListener::from_std(listener)?, sockets: self.clone(), path, inode })
    }

    /// Nothing where no such terminal is open. A name that somebody left behind goes.
    pub async fn connect(&self, name: &str) -> io::Result<Option<UnixStream>> {
        let folder = match self.locked() {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let file = format!("{name}.{SUFFIX}");
        match UnixStream::connect(through(&folder, &file)).await {
            Ok(stream) => Ok(Some(stream)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                fs::remove_file(self.path(name))?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// What lies there, whether anybody listens or not.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == SUFFIX)
                && let Some(name) = path.file_stem().and_then(|stem| stem.to_str())
            {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// While it is held nobody else makes a name, or takes one away that they thought left behind.
    fn locked(&self) -> io::Result<File> {
        let folder = File::open(&self.0)?;
        flock(&folder, FlockOperation::LockExclusive)?;
        Ok(folder)
    }
}

/// A path that is short however deep the folder is: a socket's may have no more than 107 bytes.
fn through(folder: &File, file: &str) -> PathBuf {
    Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(file)
}

impl Bound {
    /// Whoever comes next and is the same user. Nobody else gets into the folder; should they, they are not heard.
    pub async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            if stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw()) {
                return Ok(stream);
            }
        }
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        // Somebody else may have taken the name over meanwhile: theirs stays.
        let _lock = self.sockets.locked();
        if fs::symlink_metadata(&self.path).is_ok_and(|found| found.ino() == self.inode) {
            let _gone_already = fs::remove_file(&self.path);
        }
    }
}
