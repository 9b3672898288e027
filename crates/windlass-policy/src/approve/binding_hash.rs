//! What binds an approval to one tool call: the bytes that will run, where, with what around them, and for whom. The call
//! that runs is byte for byte the call that was shown.

use std::collections::BTreeMap;

use serde::Serialize;
use windlass_domain::{Digest, ExecutionId};

use super::canonical::{Unhashable, digest};

/// A call as it was shown. `argv` is what the program will be given; for a tool that starts no program, the tool's name
/// and the bytes of its arguments. Bytes need not be text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallSeen {
    pub tool: String,
    pub argv: Vec<Vec<u8>>,
    pub env: BTreeMap<Vec<u8>, Vec<u8>>,
    pub cwd: Vec<u8>,
    /// The files it names, as they were; none where there was no such file.
    pub files: BTreeMap<String, Option<Digest>>,
    /// The whole sandbox policy, hashed.
    pub sandbox_profile: Digest,
    pub execution: ExecutionId,
}

/// In hex, because argv may be anything and JSON only text.
#[derive(Serialize)]
struct Written<'a> {
    tool: &'a str,
    argv: Vec<String>,
    env: Vec<(String, String)>,
    cwd: String,
    files: &'a BTreeMap<String, Option<Digest>>,
    sandbox_profile: Digest,
    execution: ExecutionId,
}

pub fn binding_hash(call: &CallSeen) -> Result<Digest, Unhashable> {
    let written = Written {
        tool: &call.tool,
        argv: call.argv.iter().map(|word| hex(word)).collect(),
        env: call.env.iter().map(|(name, value)| (hex(name), hex(value))).collect(),
        cwd: hex(&call.cwd),
        files: &call.files,
        sandbox_profile: call.sandbox_profile,
        execution: call.execution,
    };
    digest("tool-call", &written)
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    digits.map(char::from).collect()
}
