//! What this machine is called where machines are told apart: a name that stays when the host is called something else, and that no
//! other machine has by chance. Owners, their locks and the places of tasks go by it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

const FILE: &str = "machine";
/// What is drawn beside the host's own name.
const DRAWN: usize = 8;
const LONGEST_HOST: usize = 100;
const LONGEST: usize = LONGEST_HOST + 1 + DRAWN;

/// The name in the data directory, or a new one: the host's, and a few letters. Where there is work already that goes by the host's own
/// name, that is kept.
pub fn name(data_dir: &Path, host: &str, random: u128) -> io::Result<String> {
    let file = data_dir.join(FILE);
    if let Some(known) = known(&file)? {
        return Ok(known);
    }
    let is_used = fs::read_dir(data_dir)?.next().is_some();
    let drawn = format!("{random:032x}");
    let host: String =
        host.chars().take(LONGEST_HOST).map(|letter| if is_plain(letter) { letter } else { '-' }).collect();
    let name = if is_used { host } else { format!("{host}-{}", &drawn[..DRAWN]) };
    let beside = data_dir.join(format!(".{FILE}-{drawn}"));
    let mut written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    written.write_all(format!("{name}\n").as_bytes())?;
    written.sync_all()?;
    // Whoever is first names it for all.
    let named = fs::hard_link(&beside, &file);
    fs::remove_file(&beside)?;
    match named {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(known(&file)?.unwrap_or(name)),
    }
}

/// None where there is no file. What is no name of ours, nobody goes by.
fn known(file: &Path) -> io::Result<Option<String>> {
    let found = match fs::symlink_metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    let is_small = found.is_file() && found.len() <= LONGEST as u64 + 1;
    let text = if is_small { fs::read_to_string(file).unwrap_or_default() } else { String::new() };
    let name = text.trim();
    if name.is_empty() || !name.chars().all(is_plain) {
        let what = format!("{} is no name of a machine: move it away, and it gets another", file.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(Some(name.to_owned()))
}

const fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_')
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn it_keeps_its_name_whatever_the_host_is_called() {
        let folder = tempfile::tempdir().unwrap();
        let first = name(folder.path(), "laptop", 0xABCD_EF01 << 96).unwrap();
        assert_eq!(first, "laptop-abcdef01");
        assert_eq!(name(folder.path(), "laptop.guest.example", 7).unwrap(), first);
    }

    #[test]
    fn what_is_no_name_is_refused_and_the_file_is_named() {
        for text in ["", "a\nb", "../../x", "\u{1b}[2K", &"a".repeat(1_000)] {
            let folder = tempfile::tempdir().unwrap();
            std::fs::write(folder.path().join("machine"), text).unwrap();
            let refused = name(folder.path(), "laptop", 7).unwrap_err().to_string();
            assert!(refused.contains("machine is no name of a machine"), "{text:?}: {refused}");
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("machine")).unwrap();
        assert!(name(folder.path(), "laptop", 7).is_err());
    }

    #[test]
    fn two_machines_of_one_name_are_two() {
        let [one, other] = [1_u128, 2].map(|random| {
            let folder = tempfile::tempdir().unwrap();
            name(folder.path(), "worker", random << 100).unwrap()
        });
        assert_ne!(one, other);
    }

    /// Work of before goes by the host's name.
    #[test]
    fn where_there_is_work_already_the_hosts_own_name_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("windlass.db"), "").unwrap();
        assert_eq!(name(folder.path(), "laptop", 7).unwrap(), "laptop");
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 2, "the database and the name");
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a race needs racers")]
    fn whoever_comes_second_takes_the_name_of_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<String> = std::thread::scope(|scope| {
            let path = folder.path();
            let racers: Vec<_> =
                (1..=8_u128).map(|random| scope.spawn(move || name(path, "host", random << 96).unwrap())).collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        assert!(names.iter().all(|name| *name == names[0]), "{names:?}");
    }
}
