//! `save_memo` (seed 000 §7.2): a note in `.memo/`, which survives whatever the conversation is shortened to. A file like any
//! other, so that recovery and taint are those of `write`.

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_domain::{BoxFuture, Digest, Permit, Prepared, Reach, ToolSpec};
use windlass_workspace::{Error, MEMO_FOLDER, Root, WorkspacePath};

use crate::change;
use crate::context::Context;
use crate::tool::{Output, Running, Tool, arguments, spec, typed};

const DESCRIPTION: &str = "\
Save a note to your durable memo storage. Use this for:
- Important findings you might need later
- Decisions and their reasoning
- Key information that should survive context summarization
Notes are saved to /workspace/.memo/ and can be searched with search_memo.";

/// One that is larger is no note.
const LARGEST: u64 = 1024 * 1024;
const LONGEST_NAME: usize = 100;

#[derive(Debug, Clone, Copy)]
pub struct SaveMemo;

#[derive(Deserialize)]
struct Arguments {
    filename: String,
    content: String,
    #[serde(default)]
    append: bool,
}

impl Tool for SaveMemo {
    fn spec(&self) -> ToolSpec {
        spec(
            "save_memo",
            DESCRIPTION,
            json!({
                "type": "object",
                "properties": {
                    "filename": {
                        "type": "string",
                        "minLength": 1,
                        "description": "Name for the memo file (e.g., \"api-findings.md\")",
                    },
                    "content": { "type": "string", "description": "Content to save" },
                    "append": {
                        "type": "boolean",
                        "default": false,
                        "description": "Append to existing file instead of overwriting",
                    },
                },
                "required": ["filename", "content"],
            }),
        )
    }

    fn prepare(&self, arguments: &Value, context: &Context) -> Result<Prepared, String> {
        let arguments: Arguments = typed(arguments)?;
        let path = path(&arguments.filename)?;
        context.root.check_write(&path).map_err(|error| error.to_string())?;
        let found = found(&context.root, &path)?;
        let before = found.as_deref().map(Digest::of);
        let after = arguments.applied_to(found)?;
        let did = match (before, arguments.append) {
            (None, _) => "Saved",
            (Some(_), false) => "Replaced",
            (Some(_), true) => "Added to",
        };
        let result = format!("{did} {path} ({} bytes).", after.len());
        Ok(Prepared::new(change::intend(&path, before, &after, result), Reach::Context))
    }

    fn run<'a>(&'a self, permit: Permit, context: &'a Context, _: Running<'a>) -> BoxFuture<'a, Output> {
        let root = context.root.clone();
        Box::pin(context.runtime.blocking(move || {
            let known = arguments(&permit.call().call)
                .and_then(|arguments: Arguments| Ok((path(&arguments.filename)?, arguments)));
            match known {
                Ok((path, arguments)) => {
                    change::perform(permit, &root, &path, LARGEST, |found| arguments.applied_to(found))
                }
                Err(reason) => Output::error(reason),
            }
        }))
    }
}

impl Arguments {
    /// The whole file as it will be. What is added begins on a line of its own.
    fn applied_to(&self, found: Option<Vec<u8>>) -> Result<Vec<u8>, String> {
        let mut bytes = found.filter(|_| self.append).unwrap_or_default();
        if bytes.last().is_some_and(|last| *last != b'\n') {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(self.content.as_bytes());
        if bytes.len() as u64 > LARGEST {
            return Err(format!(
                "a memo may have {LARGEST} bytes, and this one would have {}; save less of it, or use another file",
                bytes.len()
            ));
        }
        Ok(bytes)
    }
}

fn found(root: &Root, path: &WorkspacePath) -> Result<Option<Vec<u8>>, String> {
    match root.read(path, LARGEST) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// One plain name below `.memo/`; `.md` unless it says otherwise.
fn path(filename: &str) -> Result<WorkspacePath, String> {
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | ' ' | '+');
    if filename.len() > LONGEST_NAME || filename.starts_with(['.', ' ']) || !filename.chars().all(is_plain) {
        return Err(format!(
            "`filename` must be one plain name without folders, such as \"api-findings.md\", of at most {LONGEST_NAME} \
             letters, digits, dots and dashes; it is kept in {MEMO_FOLDER}/"
        ));
    }
    let extension = if filename.contains('.') { "" } else { ".md" };
    WorkspacePath::parse(format!("{MEMO_FOLDER}/{filename}{extension}")).map_err(|error| error.to_string())
}
