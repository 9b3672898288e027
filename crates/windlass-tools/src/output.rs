//! Cutting a result to what the model's window can take (seed 000 §8.6): the beginning is shown, and the whole is put
//! where the agent can read it page by page.

use std::path::Path;

use windlass_domain::Digest;
use windlass_workspace::{Error, Root, WorkspacePath};

/// What follows the part that is shown.
const CUT: &str = "\n\n[OUTPUT TRUNCATED —";
/// More than any result has.
const LARGEST: u64 = 256 << 20;

/// A result as the model sees it, and the whole of it where that is more.
pub(crate) struct Fitted {
    pub content: String,
    pub full: Option<Vec<u8>>,
}

/// `path` is where the whole goes.
pub(crate) fn fit(text: String, most_bytes: usize, path: &WorkspacePath, root: &Root) -> Fitted {
    if text.len() <= most_bytes {
        return Fitted { content: text, full: None };
    }
    let shown = &text[..text.floor_char_boundary(most_bytes)];
    let content = match put(root, path, text.as_bytes()) {
        Ok(()) => format!("{shown}{CUT} full output saved to {}. Use read tool to access.]", path.absolute()),
        Err(error) => {
            format!("{shown}{CUT} the full output could not be saved: {error}.]")
        }
    };
    Fitted { content, full: Some(text.into_bytes()) }
}

/// A result that is a file now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// Below the workspace.
    pub path: String,
    /// As the agent names it.
    pub shown: String,
}

/// What was cut when it was new is there already, and whole. Whatever else has come to stand there stays, and this result gets a
/// file beside it.
pub(crate) fn save(content: &str, path: &WorkspacePath, root: &Root) -> Option<Saved> {
    let path = match root.metadata(path).is_ok() && !holds(root, path, content) {
        true => beside(path, content)?,
        false => path.clone(),
    };
    if root.metadata(&path).is_err() {
        put(root, &path, content.as_bytes()).ok()?;
    }
    Some(Saved { path: path.to_record(), shown: path.absolute() })
}

/// Where its name says, and nowhere else: the label that it gets is that name's.
fn put(root: &Root, path: &WorkspacePath, bytes: &[u8]) -> Result<(), Error> {
    let folder = WorkspacePath::parse(path.as_path().parent().unwrap_or(Path::new("")))?;
    match root.real_path(&folder) {
        Ok(real) if real != folder => {
            let reason = "its folder is a symlink; remove the link to have results saved";
            Err(Error::BadPath { path: path.to_string(), reason })
        }
        _ => root.write(path, bytes),
    }
}

fn beside(path: &WorkspacePath, content: &str) -> Option<WorkspacePath> {
    let digest = Digest::of(content.as_bytes()).to_string();
    let record = path.to_record();
    let stem = record.strip_suffix(".txt").unwrap_or(&record);
    WorkspacePath::parse(format!("{stem}-{}.txt", &digest[..16])).ok()
}

/// Whether a file is this result, or the whole of which this is the beginning.
fn holds(root: &Root, path: &WorkspacePath, content: &str) -> bool {
    let shown = content.rsplit_once(CUT).map_or(content, |(shown, _)| shown);
    root.read(path, LARGEST).is_ok_and(|bytes| bytes.starts_with(shown.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_never_taken_for_something_else_that_stands_in_its_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Root::open(folder.path()).expect("a root");
        let path = |name: &str| WorkspacePath::parse(name).expect("a path");
        let read = |saved: &Saved| std::fs::read_to_string(folder.path().join(&saved.path)).expect("it is there");
        let mine = save("mine", &path("a.txt"), &root).expect("saved");
        let theirs = save("theirs", &path("a.txt"), &root).expect("saved");
        assert_eq!((read(&mine).as_str(), read(&theirs).as_str()), ("mine", "theirs"));
        assert_eq!(save("mine", &path("a.txt"), &root), Some(mine), "nothing is saved twice");
        let fitted = fit("a long text".to_owned(), 6, &path("b.txt"), &root);
        let whole = save(&fitted.content, &path("b.txt"), &root).expect("saved");
        assert_eq!(read(&whole), "a long text", "what was cut is there whole");
    }

    /// The attack: a repository whose scratch folder is a link, so that what is written there stands under another name.
    #[test]
    fn nothing_is_saved_through_a_folder_that_is_a_link() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Root::open(folder.path()).expect("a root");
        std::fs::create_dir(folder.path().join("docs")).expect("a folder");
        std::os::unix::fs::symlink("docs", folder.path().join(".scratch")).expect("a link");
        let path = |name: &str| WorkspacePath::parse(name).expect("a path");
        let fitted = fit("a long text".to_owned(), 6, &path(".scratch/a.txt"), &root);
        assert!(fitted.content.contains("its folder is a symlink"), "{}", fitted.content);
        assert_eq!(save("mine", &path(".scratch/b.txt"), &root), None);
        assert_eq!(std::fs::read_dir(folder.path().join("docs")).expect("a folder").count(), 0);
        assert!(save("mine", &path("docs/b.txt"), &root).is_some(), "the twin");
    }
}
