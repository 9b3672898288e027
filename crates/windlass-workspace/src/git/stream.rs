//! What `git fast-import` is told: a commit, and the files in which it differs from the one before. Pure but for the content
//! that is poured through.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use windlass_domain::{Digest, Wall};

use crate::diff::Difference;
use crate::error::Error;
use crate::materialise::read_tree;
use crate::objects::Objects;
use crate::stream::ShouldStop;
use crate::tree::{Mode, Node};

const WHAT: &str = "git";

pub(super) struct Stream<'a, Out: Write> {
    pub objects: &'a Objects,
    pub out: Out,
    pub should_stop: ShouldStop<'a>,
    /// Paths of the parent that stay what they are, whatever a tree has there.
    pub staying: BTreeSet<PathBuf>,
}

impl<Out: Write> Stream<'_, Out> {
    pub fn commit(&mut self, reference: &str, parent: Option<&str>, message: &str, at: Wall) -> Result<(), Error> {
        let seconds = at.as_millis() / 1_000;
        let mut head = format!("commit {reference}\ncommitter Windlass <windlass@localhost> {seconds} +0000\n");
        head.push_str(&format!("data {}\n{message}\n", message.len()));
        if let Some(parent) = parent {
            head.push_str(&format!("from {parent}\n"));
        }
        self.write(head.as_bytes())
    }

    /// Everything in a tree, and nothing else.
    pub fn whole(&mut self, tree: Digest) -> Result<(), Error> {
        self.write(b"deleteall\n")?;
        self.below(tree, Path::new(""))
    }

    /// Everything in a tree, and of what the parent has whatever is not `gone`.
    pub fn onto_parent(&mut self, tree: Digest, gone: &[PathBuf]) -> Result<(), Error> {
        gone.iter().try_for_each(|path| self.remove(path))?;
        self.below(tree, Path::new(""))
    }

    fn remove(&mut self, path: &Path) -> Result<(), Error> {
        self.write(&[b"D ", quoted(path).as_slice(), b"\n"].concat())
    }

    fn below(&mut self, tree: Digest, path: &Path) -> Result<(), Error> {
        for node in read_tree(self.objects, tree)? {
            let path = path.join(&node.name);
            if self.staying.contains(&path) {
                continue;
            }
            match node.mode {
                Mode::Folder => self.below(node.digest, &path)?,
                _ => self.file(&node, &path)?,
            }
        }
        Ok(())
    }

    pub fn difference(&mut self, Difference { path, before, after }: &Difference) -> Result<(), Error> {
        let is_leaf = |node: &&Node| node.mode != Mode::Folder;
        match after.as_ref().filter(is_leaf) {
            Some(node) => self.file(node, path),
            None if before.as_ref().is_some_and(|node| is_leaf(&node)) => self.remove(path),
            None => Ok(()),
        }
    }

    pub fn done(mut self) -> Result<Out, Error> {
        self.write(b"done\n")?;
        self.out.flush().map_err(failed)?;
        Ok(self.out)
    }

    fn file(&mut self, node: &Node, path: &Path) -> Result<(), Error> {
        self.should_stop.heed()?;
        let mode: &[u8] = match node.mode {
            Mode::Executable => b"100755",
            Mode::Symlink => b"120000",
            Mode::File | Mode::Folder => b"100644",
        };
        let content = self.objects.read(node.digest)?;
        let line = [b"M ", mode, b" inline ", quoted(path).as_slice(), b"\n"].concat();
        self.write(&line)?;
        self.write(format!("data {}\n", content.len()).as_bytes())?;
        self.write(&content)?;
        self.write(b"\n")
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.out.write_all(bytes).map_err(failed)
    }
}

fn failed(error: io::Error) -> Error {
    Error::ours(WHAT, error)
}

/// As git quotes names: whatever bytes are in it, it stays on one line and ends where it should.
fn quoted(path: &Path) -> Vec<u8> {
    let mut text = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => text.extend([b'\\', *byte]),
            b'\n' => text.extend(b"\\n"),
            other => text.push(*other),
        }
    }
    text.push(b'"');
    text
}
