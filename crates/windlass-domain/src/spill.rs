//! Where a result that is too long for the model is put whole (seed 000 §8.6): the file's name follows from the execution and the
//! call, so that whoever writes it and whoever labels it mean the same one, and agents that share a folder, whose providers
//! number calls alike, each have their own.

use crate::digest::Digest;
use crate::id::ExecutionId;
use crate::message::CallId;

const FOLDER: &str = ".scratch";
const LONGEST: usize = 80;

/// Below the workspace. A call's id comes from a model or its provider, hence is made harmless before it becomes a file's
/// name; two ids that look alike afterwards still get a file each.
pub fn spill_path(execution: ExecutionId, call_id: &CallId) -> String {
    format!("{FOLDER}/tool-output-{}-{}.txt", execution.short(), harmless(call_id))
}

/// What it was before the execution was part of it: journals of then speak of such files.
pub(crate) fn former_spill_path(call_id: &CallId) -> String {
    format!("{FOLDER}/tool-output-{}.txt", harmless(call_id))
}

fn harmless(CallId(id): &CallId) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if id.chars().all(plain) && (1..=LONGEST).contains(&id.len()) {
        return id.clone();
    }
    let kept: String = id.chars().take(LONGEST).map(|c| if plain(c) { c } else { '_' }).collect();
    let digest = Digest::of(id.as_bytes()).to_string();
    format!("{kept}-{}", &digest[..8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Wall;

    fn execution(random: u128) -> ExecutionId {
        ExecutionId::new(Wall::default(), random)
    }

    #[test]
    fn a_call_id_cannot_choose_where_its_output_goes() {
        let path = |id: &str| spill_path(execution(0xabcd << 48), &CallId(id.to_owned()));
        assert_eq!(path("call_1"), ".scratch/tool-output-0000abcd-call_1.txt");
        assert_eq!(path("../../etc/passwd"), ".scratch/tool-output-0000abcd-______etc_passwd-3754d6cb.txt");
        assert_ne!(path("a/b"), path("a:b"));
        assert!(path(&"x".repeat(10_000)).len() < 150);
        assert!(path("").starts_with(".scratch/tool-output-0000abcd--"));
    }

    #[test]
    fn two_agents_whose_calls_are_numbered_alike_have_a_file_each() {
        let call = CallId("call_1".to_owned());
        assert_ne!(spill_path(execution(1 << 48), &call), spill_path(execution(2 << 48), &call));
    }
}
