//! Cutting a result to what the model's window can take (seed 000 §8.6): the beginning is shown, and the whole is put
//! where the agent can read it page by page.

use windlass_domain::{CallId, spill_path};
use windlass_workspace::{Root, WorkspacePath};

/// A result as the model sees it, and the whole of it where that is more.
pub(crate) struct Fitted {
    pub content: String,
    pub full: Option<Vec<u8>>,
}

pub(crate) fn fit(text: String, most_bytes: usize, call_id: &CallId, root: &Root) -> Fitted {
    if text.len() <= most_bytes {
        return Fitted { content: text, full: None };
    }
    let shown = &text[..text.floor_char_boundary(most_bytes)];
    let path = path(call_id);
    let content = match root.write(&path, text.as_bytes()) {
        Ok(()) => format!(
            "{shown}\n\n[OUTPUT TRUNCATED — full output saved to {}. Use read tool to access.]",
            path.absolute()
        ),
        Err(error) => {
            format!("{shown}\n\n[OUTPUT TRUNCATED — the full output could not be saved: {error}.]")
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

/// What was cut when it was new is there already, and whole.
pub(crate) fn save(call_id: &CallId, content: &str, root: &Root) -> Option<Saved> {
    let path = path(call_id);
    if root.metadata(&path).is_err() {
        root.write(&path, content.as_bytes()).ok()?;
    }
    Some(Saved { path: path.to_record(), shown: path.absolute() })
}

fn path(call_id: &CallId) -> WorkspacePath {
    WorkspacePath::parse(spill_path(call_id)).expect("a plain name is a path")
}
