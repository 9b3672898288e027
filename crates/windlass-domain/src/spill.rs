//! Where a result that is too long for the model is put whole (seed 000 §8.6): the file's name follows from the call, so that
//! whoever writes it and whoever labels it mean the same one.

use crate::digest::Digest;
use crate::message::CallId;

const FOLDER: &str = ".scratch";
const LONGEST: usize = 80;

/// Below the workspace. A call's id comes from a model or its provider, hence is made harmless before it becomes a file's
/// name; two ids that look alike afterwards still get a file each.
pub fn spill_path(call_id: &CallId) -> String {
    let id = &call_id.0;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let name = if id.chars().all(plain) && (1..=LONGEST).contains(&id.len()) {
        id.clone()
    } else {
        let kept: String = id.chars().take(LONGEST).map(|c| if plain(c) { c } else { '_' }).collect();
        let digest = Digest::of(id.as_bytes()).to_string();
        format!("{kept}-{}", &digest[..8])
    };
    format!("{FOLDER}/tool-output-{name}.txt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_id_cannot_choose_where_its_output_goes() {
        let path = |id: &str| spill_path(&CallId(id.to_owned()));
        assert_eq!(path("call_1"), ".scratch/tool-output-call_1.txt");
        assert_eq!(path("../../etc/passwd"), ".scratch/tool-output-______etc_passwd-3754d6cb.txt");
        assert_ne!(path("a/b"), path("a:b"));
        assert!(path(&"x".repeat(10_000)).len() < 150);
        assert!(path("").starts_with(".scratch/tool-output--"));
    }
}
