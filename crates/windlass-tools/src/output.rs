//! Cutting a result to what the model's window can take (seed 000 §8.6): the beginning is shown, and the whole is put
//! where the agent can read it page by page.

use windlass_domain::CallId;
use windlass_workspace::{Root, SCRATCH_FOLDER, WorkspacePath};

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
    let path = spill_path(call_id);
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
    let path = spill_path(call_id);
    if root.metadata(&path).is_err() {
        root.write(&path, content.as_bytes()).ok()?;
    }
    Some(Saved { path: path.to_record(), shown: path.absolute() })
}

/// A call's id comes from a model or its provider, hence is made harmless before it becomes a file's name; two ids that
/// look alike afterwards still get a file each.
fn spill_path(call_id: &CallId) -> WorkspacePath {
    const LONGEST: usize = 80;
    let id = &call_id.0;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name = if id.chars().all(plain) && (1..=LONGEST).contains(&id.len()) {
        id.clone()
    } else {
        let kept: String = id.chars().take(LONGEST).map(|c| if plain(c) { c } else { '_' }).collect();
        let digest = windlass_domain::Digest::of(id.as_bytes()).to_string();
        format!("{kept}-{}", &digest[..8])
    };
    WorkspacePath::parse(format!("{SCRATCH_FOLDER}/tool-output-{name}.txt")).expect("a plain name is a path")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_id_cannot_choose_where_its_output_goes() {
        let path = |id: &str| spill_path(&CallId(id.to_owned())).to_string();
        assert_eq!(path("call_1"), ".scratch/tool-output-call_1.txt");
        assert_eq!(path("../../etc/passwd"), ".scratch/tool-output-______etc_passwd-3754d6cb.txt");
        assert_ne!(path("a/b"), path("a:b"));
        assert!(path(&"x".repeat(10_000)).len() < 150);
        assert!(path("").starts_with(".scratch/tool-output--"));
    }
}
