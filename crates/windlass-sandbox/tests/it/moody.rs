//! A socket before the daemon's that fails so many starts of a container and hands everything else through.

use std::{
    io::{Read, Write},
    net::Shutdown,
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tempfile::TempDir;

pub struct Moody {
    folder: TempDir,
    starts: Arc<AtomicUsize>,
}

impl Moody {
    pub fn before(daemon: &Path, failures: usize) -> Self {
        let folder = TempDir::new().expect("a folder");
        let moody = Self { folder, starts: Arc::default() };
        let listener = UnixListener::bind(moody.socket()).expect("a socket");
        let (daemon, starts) = (daemon.to_owned(), Arc::clone(&moody.starts));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (daemon, starts) = (daemon.clone(), Arc::clone(&starts));
                std::thread::spawn(move || serve(client, &daemon, &starts, failures));
            }
        });
        moody
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("docker.sock")
    }

    /// How often a container was to be started.
    pub fn starts(&self) -> usize {
        self.starts.load(Ordering::Relaxed)
    }
}

/// One request a connection, as our client has it. Whoever leaves early ends it.
fn serve(mut client: UnixStream, daemon: &Path, starts: &AtomicUsize, failures: usize) {
    let mut begun = vec![0; 64 << 10];
    let Ok(length) = client.read(&mut begun) else { return };
    let begun = &begun[..length];
    let first_line = String::from_utf8_lossy(begun.split(|byte| *byte == b'\r').next().unwrap_or_default());
    if first_line.contains("/start ") && starts.fetch_add(1, Ordering::Relaxed) < failures {
        let _gone = client.write_all(b"HTTP/1.0 500 Internal Server Error\r\n\r\n{\"message\": \"not in the mood\"}");
        return;
    }
    let mut daemon = UnixStream::connect(daemon).expect("the daemon");
    let (mut from, mut to) = (client.try_clone().expect("a socket"), daemon.try_clone().expect("a socket"));
    to.write_all(begun).expect("the daemon listens");
    std::thread::spawn(move || {
        let _gone = std::io::copy(&mut from, &mut to);
        let _gone = to.shutdown(Shutdown::Write);
    });
    let _gone = std::io::copy(&mut daemon, &mut client);
    let _gone = client.shutdown(Shutdown::Both);
}
