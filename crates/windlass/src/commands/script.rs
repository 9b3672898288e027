//! A rehearsal's file: read whole, but never more than a script can sensibly be.

use std::io::Read as _;
use std::path::Path;

use windlass_llm::Script;

use crate::exit::WrongUse;

const MOST_BYTES: u64 = 16 << 20;

/// The text and what it says.
pub fn read_script(path: &Path) -> Result<(String, Script), WrongUse> {
    let named = path.display();
    let text = read(path).map_err(|error| {
        WrongUse::new(format!("{named}: {error}")).hint("name the file of a script; docs/rehearsals.md shows one")
    })?;
    let script = Script::parse(&text).map_err(|problems| WrongUse::new(format!("{named}:\n{problems}")))?;
    Ok((text, script))
}

fn read(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let bytes = std::fs::File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if bytes as u64 > MOST_BYTES {
        return Err(std::io::Error::other("it is longer than the 16 MiB that a script may have"));
    }
    Ok(text)
}
