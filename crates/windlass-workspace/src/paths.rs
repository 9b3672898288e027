//! Path patterns as checks and operators write them (`protect`, `carry`). A plain path means itself and everything below
//! it; a glob means what it matches and everything below that, at any depth when it has no slash. A name that merely
//! looks like a glob, such as `pages/[id].tsx`, is also meant as it is written.

use std::path::{Component, Path};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::Error;
use crate::path::WorkspacePath;

#[derive(Debug, Clone)]
pub(crate) struct Paths(GlobSet);

impl Paths {
    pub fn parse(patterns: &[String]) -> Result<Self, Error> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let bad = |reason: String| Error::BadPattern { pattern: pattern.clone(), reason };
            for glob in globs(pattern)? {
                let glob = GlobBuilder::new(&glob).literal_separator(true).backslash_escape(true).build();
                set.add(glob.map_err(|error| bad(error.kind().to_string()))?);
            }
        }
        let built = set.build();
        built.map(Self).map_err(|error| Error::BadPattern { pattern: patterns.join(", "), reason: error.to_string() })
    }

    pub fn contain(&self, path: &Path) -> bool {
        self.0.is_match(path)
    }
}

fn globs(pattern: &str) -> Result<Vec<String>, Error> {
    let path = WorkspacePath::parse(pattern)?;
    if path.as_path().components().any(|part| part == Component::ParentDir) {
        return Err(Error::Outside { path: path.to_string() });
    }
    if path.is_top() {
        return Ok(vec!["**".to_owned()]);
    }
    let written = path.as_path().to_string_lossy().into_owned();
    let literal = globset::escape(&written);
    let mut globs = vec![format!("{literal}/**"), literal.clone()];
    if literal != written {
        let anywhere = if written.contains('/') { written } else { format!("**/{written}") };
        globs.extend([format!("{anywhere}/**"), anywhere]);
    }
    Ok(globs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_people_write() {
        let check = |pattern: &str, path: &str, expected: bool| {
            let paths = Paths::parse(&[pattern.to_owned()]).unwrap();
            assert_eq!(paths.contain(Path::new(path)), expected, "{pattern} on {path}");
        };
        check("tests", "tests", true);
        check("tests/", "tests/a/b.py", true);
        check("./tests", "tests/a", true);
        check("/workspace/tests", "tests/a", true);
        check("tests", "src/tests/a", false);
        check("tests", "tests-evil/a", false);
        check("tests/*.py", "tests/a.py", true);
        check("tests/*.py", "tests/deep/a.py", false);
        check("tests/**/*.py", "tests/deep/a.py", true);
        check("*.lock", "deep/Cargo.lock", true);
        check("pages/[id].tsx", "pages/[id].tsx", true);
        check("pages/[id].tsx", "pages/i.tsx", true);
        check(".", "anything/at/all", true);
    }

    #[test]
    fn patterns_that_leave_or_make_no_sense_are_refused() {
        for pattern in ["../x", "/etc/passwd", "a/../../b"] {
            assert!(matches!(Paths::parse(&[pattern.to_owned()]), Err(Error::Outside { .. })), "{pattern}");
        }
        assert!(matches!(Paths::parse(&["a{b".to_owned()]), Err(Error::BadPattern { .. })));
    }
}
