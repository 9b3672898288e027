//! Names for things that last as long as a sandbox.

use std::{
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

/// Makes something new in the first of `places` that lets us. `create` must fail on what exists already, so that
/// nobody who guesses a name can put something of their own there.
pub(crate) fn create_unique(
    places: &[&str],
    prefix: &str,
    create: impl Fn(&Path) -> io::Result<()>,
) -> io::Result<PathBuf> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    const TRIES: usize = 1000;
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for place in places {
        for _ in 0..TRIES {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = Path::new(place).join(format!("{prefix}-{}-{number}", std::process::id()));
            match create(&path) {
                Ok(()) => return Ok(path),
                Err(error) => last = error,
            }
            if last.kind() != io::ErrorKind::AlreadyExists {
                break;
            }
        }
    }
    Err(last)
}
