//! The operator's law: `gates.yaml` and `risk.toml` in the data directory. What is missing changes nothing; what is broken is
//! told with its place, and nothing runs. Scripts of `gates.yaml` stand in the folder `gates` beside it and nowhere else in the
//! data directory, since a script sees the whole folder it is in.

use std::path::{Path, PathBuf};

use windlass_engine::Unsigned;
use windlass_policy::gate::{BadGates, Gate, read_gates};
use windlass_policy::risk::Table;

use crate::equipment::BUBBLEWRAP;
use crate::exit::WrongUse;
use crate::place::overlap;
use crate::text_file::{read_optional_text, read_text};

const GATES: &str = "gates.yaml";
const RISK: &str = "risk.toml";
const SCRIPTS: &str = "gates";

#[derive(Debug, Clone)]
pub struct Law {
    /// The operator's, in the order of their file; the shipped one is not among them.
    pub gates: Vec<Gate>,
    pub table: Table,
}

impl Law {
    pub fn read(data_dir: &Path) -> Result<Self, WrongUse> {
        for path in [data_dir.to_owned(), data_dir.join(GATES), data_dir.join(RISK), data_dir.join(SCRIPTS)] {
            only_mine_to_write(&path)?;
        }
        let gates = match read_optional_text(&data_dir.join(GATES))? {
            Some(text) => gates(&data_dir.join(GATES), &text)?,
            None => Vec::new(),
        };
        Ok(Self { gates, table: table(&data_dir.join(RISK))? })
    }

    /// As the engine holds every call and message against it.
    pub fn for_engine(self, data_dir: &Path) -> Result<windlass_engine::Law, WrongUse> {
        let Self { gates, table } = self;
        let scripts = scripts(&data_dir.join(GATES), data_dir)?;
        let sandbox = BUBBLEWRAP.to_owned();
        let unsigned = Unsigned::Refused;
        Ok(windlass_engine::Law { gates, unsigned, scripts, sandbox, ..windlass_engine::Law::new(table) })
    }

    /// Without an operator.
    pub fn shipped() -> Self {
        Self { gates: Vec::new(), table: Table::shipped() }
    }
}

/// Whoever can write the law, or the folder it stands in, makes it. What is not there is nobody's.
fn only_mine_to_write(path: &Path) -> Result<(), WrongUse> {
    use std::os::unix::fs::MetadataExt as _;
    const BY_OTHERS: u32 = 0o022;
    match path.metadata() {
        // A pipe in its place would never end.
        Ok(found) if !found.is_file() && !found.is_dir() => {
            Err(WrongUse::new(format!("{}: this is not a file", path.display())).hint("move it away"))
        }
        Ok(found) if found.mode() & BY_OTHERS != 0 => {
            Err(WrongUse::new(format!("{}: others can write it (mode {:o})", path.display(), found.mode() & 0o7777))
                .hint(format!("shut it with: chmod go-w {}", path.display())))
        }
        _ => Ok(()),
    }
}

/// The gates of any file.
pub fn read_gate_file(path: &Path) -> Result<Vec<Gate>, WrongUse> {
    let text = read_text(path).map_err(|error| {
        WrongUse::new(format!("{}: {error}", path.display())).hint("name a gate file; docs/gates.md shows one")
    })?;
    gates(path, &text)
}

fn gates(path: &Path, text: &str) -> Result<Vec<Gate>, WrongUse> {
    read_gates(text).map_err(|BadGates(problems)| {
        let told =
            problems.iter().map(|bad| format!("{}:{}:{}: {}", path.display(), bad.line, bad.column, bad.message));
        WrongUse::new(told.collect::<Vec<_>>().join("\n")).hint("docs/gates.md has every field")
    })
}

fn table(path: &Path) -> Result<Table, WrongUse> {
    let Some(text) = read_optional_text(path)? else { return Ok(Table::shipped()) };
    Table::shipped().changed_by(&text).map_err(|bad| {
        WrongUse::new(format!("{}:{}:{}: {}", path.display(), bad.line, bad.column, bad.message))
            .hint("docs/gates.md shows how risks are changed")
    })
}

/// The folder that the scripts of a gate file see: the one it stands in, and for the operator's own file `gates`.
pub fn scripts(file: &Path, data_dir: &Path) -> Result<Option<PathBuf>, WrongUse> {
    let resolved = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (file, data_dir) = (resolved(file), resolved(data_dir));
    let folder = file.parent().unwrap_or(&file);
    let own = data_dir.join(SCRIPTS);
    if folder == data_dir || folder == own {
        return Ok(own.is_dir().then_some(own));
    }
    if overlap(folder, &data_dir) {
        return Err(WrongUse::new(format!(
            "{} would show the data directory to the scripts of its gates",
            folder.display()
        ))
        .hint("put the gate file and its scripts into a folder of their own"));
    }
    Ok(Some(folder.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_see_their_own_folder_and_never_the_data_directory() {
        let home = tempfile::tempdir().expect("a folder");
        let (data, other) = (home.path().join("data"), home.path().join("other"));
        for folder in [&data, &other] {
            std::fs::create_dir(folder).expect("a folder");
        }
        let seen = |file: &Path| scripts(file, &data).map_err(|error| error.message);
        assert_eq!(seen(&data.join("gates.yaml")), Ok(None), "there are none yet");
        std::fs::create_dir(data.join("gates")).expect("a folder");
        let own = data.join("gates").canonicalize().expect("it is there");
        assert_eq!(seen(&data.join("gates.yaml")), Ok(Some(own.clone())));
        assert_eq!(seen(&data.join("gates/more.yaml")), Ok(Some(own)));
        assert_eq!(seen(&other.join("gates.yaml")), Ok(Some(other.canonicalize().expect("it is there"))));
        assert!(seen(&home.path().join("gates.yaml")).is_err(), "it contains the data directory");
        assert!(seen(&data.join("keys/gates.yaml")).is_err(), "it lies in it");
    }
}
