//! Files that a repository tracks although its own rules ignore them: whoever committed them means them to be there, hence they are
//! part of a snapshot. What else is in an ignored folder that holds one stays out of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tracked(BTreeSet<PathBuf>);

impl Tracked {
    /// Whether a file is one of them, or a folder holds one.
    pub fn keeps(&self, path: &Path) -> bool {
        self.0.range(path.to_owned()..).next().is_some_and(|next| next.starts_with(path))
    }

    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(PathBuf::as_path)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<PathBuf> for Tracked {
    fn from_iter<Paths: IntoIterator<Item = PathBuf>>(paths: Paths) -> Self {
        Self(paths.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_the_folders_above_it_and_nothing_beside_it() {
        let tracked: Tracked = ["dist/app/main.js", "dist-old"].map(PathBuf::from).into_iter().collect();
        for kept in ["dist", "dist/app", "dist/app/main.js", "dist-old"] {
            assert!(tracked.keeps(Path::new(kept)), "{kept}");
        }
        for other in ["dis", "dist/ap", "dist/app/main.js.map", "dist/app/other", "dist-new", "main.js"] {
            assert!(!tracked.keeps(Path::new(other)), "{other}");
        }
        assert!(!Tracked::default().keeps(Path::new("dist")));
    }
}
