//! A rehearsal's file, read and parsed before anything is done with it.

use std::path::Path;

use windlass_llm::Script;

use crate::exit::WrongUse;
use crate::text_file::read_text;

/// The text and what it says.
pub fn read_script(path: &Path) -> Result<(String, Script), WrongUse> {
    let named = path.display();
    let text = read_text(path).map_err(|error| {
        WrongUse::new(format!("{named}: {error}")).hint("name the file of a script; docs/rehearsals.md shows one")
    })?;
    let script = Script::parse(&text).map_err(|problems| WrongUse::new(format!("{named}:\n{problems}")))?;
    Ok((text, script))
}
