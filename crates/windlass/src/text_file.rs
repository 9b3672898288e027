//! Files that people write: read whole, as text, but never more than one can sensibly be. And those that are written for them, whole
//! or not at all.

use std::fs::OpenOptions;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::exit::WrongUse;

const MOST_BYTES: u64 = 16 << 20;

pub fn read_text(path: &Path) -> std::io::Result<String> {
    String::from_utf8(read_bytes(path)?).map_err(|_| std::io::Error::other("stream did not contain valid UTF-8"))
}

/// One that need not be text.
pub fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let length = std::fs::File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if length as u64 > MOST_BYTES {
        return Err(std::io::Error::other("it is longer than the 16 MiB that such a file may have"));
    }
    Ok(bytes)
}

/// One that need not be there.
pub fn read_optional_text(path: &Path) -> Result<Option<String>, WrongUse> {
    match read_text(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(WrongUse::new(format!("{} cannot be read: {error}", path.display()))
            .hint("give yourself leave to read it, or set WINDLASS_DATA_DIR to another folder")),
    }
}

/// For its owner alone: it has everything that was said. What stood there is replaced in one step. A link that somebody put
/// beside it is taken away and not followed.
pub fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".new");
    let _may_be_absent = std::fs::remove_file(&unfinished);
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?.write_all(bytes)?;
    std::fs::rename(&unfinished, path)
}
