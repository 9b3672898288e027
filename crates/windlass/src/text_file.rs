//! Files that people write: read whole, as text, but never more than one can sensibly be.

use std::io::Read as _;
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
