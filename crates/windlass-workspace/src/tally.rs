//! How much there is, counted on the way, so that a folder that is hardly meant as a workspace is given up early. Sizes are
//! what a reader would have to read: holes are cheap to keep but not to hash. Whoever hears of it is told which folder it is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::path::shown;
use crate::snapshots::SnapshotLimits;

#[derive(Debug)]
pub(crate) struct Tally {
    limits: SnapshotLimits,
    total: Held,
    /// By the folder they are in.
    folders: BTreeMap<PathBuf, Held>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Held {
    files: u64,
    bytes: u64,
}

impl Tally {
    pub fn new(limits: SnapshotLimits) -> Self {
        Self { limits, total: Held::default(), folders: BTreeMap::new() }
    }

    pub const fn limits(&self) -> SnapshotLimits {
        self.limits
    }

    pub const fn files(&self) -> u64 {
        self.total.files
    }

    /// One more file, link or folder.
    pub fn count(&mut self, path: &Path, size: u64) -> Result<(), Error> {
        let folder = path.parent().unwrap_or(Path::new(""));
        if !self.folders.contains_key(folder) {
            self.folders.insert(folder.to_owned(), Held::default());
        }
        let here = self.folders.get_mut(folder).expect("just put there");
        for held in [here, &mut self.total] {
            held.files += 1;
            held.bytes = held.bytes.saturating_add(size);
        }
        if self.total.files > self.limits.files {
            return Err(self.too_much(format!("{} files", self.limits.files), |held| held.files));
        }
        if self.total.bytes > self.limits.bytes {
            return Err(self.too_much(bytes(self.limits.bytes), |held| held.bytes));
        }
        Ok(())
    }

    fn too_much(&self, most: String, amount: impl Fn(&Held) -> u64) -> Error {
        let folder = shown(&self.fullest(amount));
        Error::TooMuch { most, folder: if folder.is_empty() { ".".to_owned() } else { folder } }
    }

    /// The deepest folder that holds half of it all, what is below it counted in.
    fn fullest(&self, amount: impl Fn(&Held) -> u64) -> PathBuf {
        let mut below: BTreeMap<&Path, u64> = BTreeMap::new();
        for (folder, held) in &self.folders {
            for above in folder.ancestors() {
                *below.entry(above).or_default() += amount(held);
            }
        }
        let half = amount(&self.total) / 2;
        let full = below.into_iter().filter(|(_, amount)| *amount > half).map(|(folder, _)| folder);
        full.max_by_key(|folder| folder.components().count()).unwrap_or(Path::new("")).to_owned()
    }
}

fn bytes(count: u64) -> String {
    const GIB: u64 = 1 << 30;
    if count >= GIB && count.is_multiple_of(GIB) { format!("{} GiB", count / GIB) } else { format!("{count} bytes") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(files: u64, bytes: u64, found: &[(&str, u64)]) -> Option<String> {
        let mut tally = Tally::new(SnapshotLimits { files, bytes, ..SnapshotLimits::default() });
        found.iter().find_map(|(path, size)| tally.count(Path::new(path), *size).err()).map(|error| error.to_string())
    }

    #[test]
    fn the_folder_that_is_too_large_is_named() {
        let found = [("a", 1), ("src/b", 10), ("src/data/raw/c", 50), ("src/data/raw/d", 50), ("src/data/e", 10)];
        assert_eq!(told(5, 121, &found), None);
        let text = told(5, 120, &found).unwrap();
        assert!(text.contains("120 bytes") && text.contains("`src/data/raw`"), "{text}");
        let many = [("a", 1), ("b", 1), ("n/1", 0), ("n/2", 0), ("n/3", 0)];
        let text = told(4, 8 << 30, &many).unwrap();
        assert!(text.contains("4 files") && text.contains("`n`"), "{text}");
        let text = told(9, 8 << 30, &[("a", 4 << 30), ("b", 5 << 30)]).unwrap();
        assert!(text.contains("8 GiB"), "{text}");
    }
}
