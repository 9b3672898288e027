//! A path as the agent writes it: relative to its workspace, or absolute below `/workspace`. Parsing only reads the
//! text; whether the path stays inside is decided by the kernel when it is opened, because symlinks and `..` can only
//! be judged there.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::error::Error;
use crate::layout::INSIDE;

/// Relative, without `.`; empty for the workspace itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkspacePath(PathBuf);

impl WorkspacePath {
    pub fn parse(text: impl AsRef<OsStr>) -> Result<Self, Error> {
        let text = Path::new(text.as_ref());
        if text.as_os_str().as_bytes().contains(&0) {
            return Err(Error::BadPath { path: shown(text), reason: "it contains a zero byte" });
        }
        // Component by component, so that `/workspace-evil` is not taken for something below `/workspace`.
        let relative = if text.is_absolute() {
            text.strip_prefix(INSIDE).map_err(|_| Error::Outside { path: shown(text) })?
        } else {
            text
        };
        Ok(Self(relative.components().filter(|part| *part != Component::CurDir).collect()))
    }

    /// The workspace itself.
    pub fn top() -> Self {
        Self(PathBuf::new())
    }

    pub fn as_path(&self) -> &Path {
        &self.0
    }

    pub fn is_top(&self) -> bool {
        self.0.as_os_str().is_empty()
    }

    /// For a record that will be parsed again; `Display`, which escapes, is for people and models.
    pub fn to_record(&self) -> String {
        self.0.to_string_lossy().into_owned()
    }

    /// Whether it lies in this folder, or is it.
    pub fn is_below(&self, folder: &str) -> bool {
        self.0.starts_with(folder)
    }

    /// As the agent sees it from anywhere.
    pub fn absolute(&self) -> String {
        if self.is_top() { INSIDE.to_owned() } else { format!("{INSIDE}/{self}") }
    }

    pub(crate) fn from_relative(path: &Path) -> Self {
        Self(path.to_owned())
    }
}

impl fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&if self.is_top() { ".".to_owned() } else { shown(&self.0) })
    }
}

/// A path on one line, whatever bytes are in it. Names that would forge a line or hide something are written with
/// escapes.
pub(crate) fn shown(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    let Ok(text) = std::str::from_utf8(bytes) else {
        return bytes.escape_ascii().to_string();
    };
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
    };
    if text.contains(hidden) {
        text.chars().map(|c| if hidden(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_as_the_agent_means_them() {
        let check = |text: &str, expected: &str| {
            assert_eq!(WorkspacePath::parse(text).unwrap().to_string(), expected);
        };
        check("src/main.rs", "src/main.rs");
        check("./src//./main.rs", "src/main.rs");
        check("/workspace/src/main.rs", "src/main.rs");
        check("/workspace", ".");
        check("/workspace/", ".");
        check("", ".");
        check("workspace/a", "workspace/a");
        check("a\nb", "a\\nb");
        check("a\u{202e}b", "a\\u{202e}b");
    }

    #[test]
    fn a_recorded_path_is_the_same_path_again() {
        for text in ["a/b", "a\nb", "a\\nb", "\u{202e}x", "", "a/../b"] {
            let path = WorkspacePath::parse(text).unwrap();
            assert_eq!(WorkspacePath::parse(path.to_record()).unwrap(), path, "{text:?}");
        }
    }

    #[test]
    fn absolute_paths_elsewhere_are_outside_even_when_they_look_alike() {
        for text in ["/", "/etc/passwd", "/workspace-evil/x", "/workspacex", "//workspace-evil"] {
            assert!(matches!(WorkspacePath::parse(text), Err(Error::Outside { .. })), "{text}");
        }
        assert!(matches!(WorkspacePath::parse("a\0b"), Err(Error::BadPath { .. })));
    }
}
