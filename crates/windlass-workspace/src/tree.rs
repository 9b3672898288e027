//! A folder as a value: one line for each name, in byte order, each with what it is and the digest of its content. A
//! folder's own content is such a text, so that a whole tree is named by one digest and equal parts of two trees are
//! the same object.
//!
//! Kept: bytes, names, the executable bit, symlinks as links, empty folders. Not kept: other permissions, owners, times.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use windlass_domain::Digest;

const HEADER: &[u8] = b"windlass tree 1\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mode {
    File,
    Executable,
    Symlink,
    Folder,
}

impl Mode {
    pub const fn letter(self) -> u8 {
        match self {
            Self::File => b'f',
            Self::Executable => b'x',
            Self::Symlink => b'l',
            Self::Folder => b'd',
        }
    }

    pub const fn from_letter(letter: u8) -> Option<Self> {
        match letter {
            b'f' => Some(Self::File),
            b'x' => Some(Self::Executable),
            b'l' => Some(Self::Symlink),
            b'd' => Some(Self::Folder),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub name: OsString,
    pub mode: Mode,
    pub digest: Digest,
}

/// `nodes` are in byte order of their names.
pub(crate) fn encode(nodes: &[Node]) -> Vec<u8> {
    let mut text = HEADER.to_vec();
    for node in nodes {
        text.push(node.mode.letter());
        text.push(b' ');
        text.extend_from_slice(node.digest.to_string().as_bytes());
        text.push(b' ');
        escape(node.name.as_bytes(), &mut text);
        text.push(b'\n');
    }
    text
}

/// `None` for anything `encode` would not have written: names that climb, repeat, or are out of order never get past.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<Node>> {
    let mut nodes: Vec<Node> = Vec::new();
    let mut rest = text.strip_prefix(HEADER)?;
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let node = decode_line(&rest[..end])?;
        if nodes.last().is_some_and(|last| last.name >= node.name) {
            return None;
        }
        nodes.push(node);
        rest = &rest[end + 1..];
    }
    Some(nodes)
}

fn decode_line(line: &[u8]) -> Option<Node> {
    let (head, name) = line.split_at_checked(67)?;
    if head[1] != b' ' || head[66] != b' ' {
        return None;
    }
    let mode = Mode::from_letter(head[0])?;
    let digest = std::str::from_utf8(&head[2..66]).ok()?.parse().ok()?;
    let name = OsString::from_vec(unescape(name)?);
    is_plain(&name).then_some(Node { name, mode, digest })
}

/// One name, and nothing that means another place.
fn is_plain(name: &OsStr) -> bool {
    !name.is_empty() && name != "." && name != ".." && !name.as_bytes().iter().any(|byte| matches!(byte, b'/' | 0))
}

pub(crate) fn escape(bytes: &[u8], text: &mut Vec<u8>) {
    for byte in bytes {
        match byte {
            b'\\' => text.extend_from_slice(b"\\\\"),
            b'\n' => text.extend_from_slice(b"\\n"),
            other => text.push(*other),
        }
    }
}

pub(crate) fn unescape(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next()? {
                b'\\' => b'\\',
                b'n' => b'\n',
                _ => return None,
            },
            other => *other,
        });
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &[u8], mode: Mode) -> Node {
        Node { name: OsString::from_vec(name.to_vec()), mode, digest: Digest::of(name) }
    }

    #[test]
    fn hard_names_survive() {
        let nodes = vec![
            node(b"\\n", Mode::File),
            node(b"a\nb", Mode::Executable),
            node(b"b\\", Mode::Symlink),
            node(b"\xff\xfe", Mode::Folder),
        ];
        assert_eq!(decode(&encode(&nodes)), Some(nodes));
    }

    #[test]
    fn what_encode_would_not_write_is_refused() {
        let line = |name: &str| [HEADER, format!("f {} {name}\n", Digest::of(b"")).as_bytes()].concat();
        assert!(decode(&line("a")).is_some());
        for name in ["", ".", "..", "a/b", "../b", "a\\x", "a\\"] {
            assert_eq!(decode(&line(name)), None, "{name}");
        }
        let unordered = encode(&[node(b"b", Mode::File), node(b"a", Mode::File)]);
        let repeated = encode(&[node(b"a", Mode::File), node(b"a", Mode::File)]);
        assert_eq!((decode(&unordered), decode(&repeated), decode(b"")), (None, None, None));
        let cut = encode(&[node(b"abc", Mode::File)]);
        assert_eq!(decode(&cut[..cut.len() - 1]), None);
    }
}
