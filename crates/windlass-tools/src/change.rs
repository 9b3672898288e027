//! Changing one file as declared beforehand. `prepare` reads the file and says what it will be; `run` looks again and
//! writes exactly that, or nothing: what the journal holds as intent is what happens.

use windlass_domain::{Digest, Effect, Permit, Probe};
use windlass_workspace::{Root, WorkspacePath};

use crate::tool::Output;

pub(crate) fn intend(path: &WorkspacePath, before: Option<Digest>, after: &[u8], result: String) -> Effect {
    Effect::Probe(Probe { path: path.to_record(), before, after: Digest::of(after), result })
}

/// Redeems `permit`: `new_content` is called with the file as it was when the call was prepared.
pub(crate) fn perform(
    permit: Permit,
    root: &Root,
    path: &WorkspacePath,
    most_bytes: u64,
    new_content: impl FnOnce(Option<Vec<u8>>) -> Result<Vec<u8>, String>,
) -> Output {
    let Effect::Probe(probe) = permit.redeem().effect else {
        return Output::error("this call was prepared as something else");
    };
    Output::from_result(replace(&probe, root, path, most_bytes, new_content).map(|()| probe.result))
}

fn replace(
    probe: &Probe,
    root: &Root,
    path: &WorkspacePath,
    most_bytes: u64,
    new_content: impl FnOnce(Option<Vec<u8>>) -> Result<Vec<u8>, String>,
) -> Result<(), String> {
    let changed = || format!("{path} changed after this call was prepared; nothing was written. Read it and try again");
    let found = match root.read(path, most_bytes) {
        Ok(bytes) => Some(bytes),
        Err(windlass_workspace::Error::NotFound { .. }) => None,
        Err(error) => return Err(error.to_string()),
    };
    let now = found.as_deref().map(Digest::of);
    if now == Some(probe.after) {
        return Ok(());
    }
    if now != probe.before {
        return Err(changed());
    }
    let bytes = new_content(found)?;
    if Digest::of(&bytes) != probe.after {
        return Err(changed());
    }
    root.write(path, &bytes).map_err(|error| error.to_string())
}
