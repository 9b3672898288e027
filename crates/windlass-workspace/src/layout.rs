//! What lies where in a workspace (seed 000 §7.1), and which of it is the runtime's: those files are never part of a
//! snapshot, a patch or a check.

use std::ffi::OsStr;

use crate::stat::Kind;

/// Where the agent sees its workspace.
pub const INSIDE: &str = "/workspace";

pub const PLAN_FILE: &str = ".plan.md";
pub const MEMO_FOLDER: &str = ".memo";
pub const SCRATCH_FOLDER: &str = ".scratch";
pub const TRACE_FOLDER: &str = ".trace";
/// Deliverables; copied to artifacts before an attempt's tree is taken.
pub const OUTPUT_FOLDER: &str = "output";

/// What an item of a plan is given of others' deliverables: to be read, and never part of its work.
pub const INPUTS_FOLDER: &str = ".inputs";

/// All of them, at the top of the workspace.
pub const RUNTIME_FILES: [&str; 6] =
    [PLAN_FILE, MEMO_FOLDER, SCRATCH_FOLDER, TRACE_FOLDER, INPUTS_FOLDER, OUTPUT_FOLDER];

/// Folders that hold skills, the first one first.
pub const SKILL_FOLDERS: [&str; 3] = [".windlass/skills", ".agents/skills", ".claude/skills"];

pub(crate) const GIT_FOLDER: &str = ".git";

/// A file being written, until it is renamed. A crash can leave one behind; nothing may take it for the agent's.
pub(crate) const TEMPORARY_PREFIX: &str = ".windlass-tmp-";

/// How many hexadecimal digits follow.
pub(crate) const TEMPORARY_DIGITS: usize = 16;

/// Whether this is what a crash in the middle of writing a file leaves behind. Nothing more than that is passed over by
/// its name: whatever is, a check does not see.
pub(crate) fn is_leftover(name: &OsStr, kind: Kind) -> bool {
    let digits = name.as_encoded_bytes().strip_prefix(TEMPORARY_PREFIX.as_bytes());
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    kind == Kind::File && digits.is_some_and(|digits| digits.len() == TEMPORARY_DIGITS && digits.iter().all(is_digit))
}
