//! A tool call on its way from a model's wish to something done: what it would do (`Effect`), the host's answer
//! (`Verdict`), and the one-use leave to do it (`Permit`).

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::image::Image;
use crate::message::{CallId, ToolCall};
use crate::reach::Prepared;
use crate::taint::Taint;

/// What may be done about a call that a crash cut off. Declared by the tool, journaled before it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Changes nothing: may be run again.
    Read,
    /// Leaves one file in a state known beforehand, so that looking at the file tells whether it happened.
    Probe(Probe),
    /// Begins an agent with a journal of its own: run again, it finds that agent and goes on with it.
    Child,
    /// Never run again: a call in flight at a crash is answered `interrupted`.
    Once,
}

/// The intent of a `Probe` call. `result` is what the model is told once the file is as `after` says, so that a call
/// found done after a crash is answered in the same words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    pub path: String,
    /// `None`: there was no such file.
    pub before: Option<Digest>,
    pub after: Digest,
    pub result: String,
}

/// What to do about a call that was started and not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    RunAgain,
    /// It had happened; this is its result.
    Finished(String),
    Interrupted,
}

impl Effect {
    /// `found` is the digest of the probed file now; it is asked for only where there is one to look at.
    pub fn recover(&self, found: impl FnOnce(&str) -> Option<Digest>) -> Recovery {
        match self {
            Self::Read | Self::Child => Recovery::RunAgain,
            Self::Once => Recovery::Interrupted,
            Self::Probe(probe) => match found(&probe.path) {
                now if now == Some(probe.after) => Recovery::Finished(probe.result.clone()),
                now if now == probe.before => Recovery::RunAgain,
                _ => Recovery::Interrupted,
            },
        }
    }
}

/// What a runner puts to the host: the call is the one in the journal, so that what was asked for is what is judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Intent {
    pub call_id: CallId,
    pub prepared: Prepared,
}

/// A call as the journal has it, whose effect is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub call: ToolCall,
    pub effect: Effect,
}

/// The host's answer to one intent.
#[derive(Debug)]
pub enum Verdict {
    Granted(Permit),
    /// The host has recorded the refusal as the call's result.
    Denied,
    /// A gate has changed what the call is given: prepare it anew, and ask again.
    Rewritten,
    /// A person is asked; the call goes on once there is an answer.
    Waiting,
}

/// Leave to perform one call, once. Not `Clone`; whoever performs the call consumes it.
#[derive(Debug)]
pub struct Permit {
    call: Call,
}

impl Permit {
    /// For the engine alone (`clippy.toml` and `xtask tidy` hold the fence): a permit exists only after the commit that
    /// says so.
    pub const fn issue(call: Call) -> Self {
        Self { call }
    }

    pub const fn call(&self) -> &Call {
        &self.call
    }

    pub fn redeem(self) -> Call {
        self.call
    }
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    Ok,
    /// The tool says no: a wrong argument, a missing file, a command that failed.
    Error,
    /// The host says no.
    Denied,
    TimedOut,
    Cancelled,
    /// A crash or pause cut it off, and whether it happened is not known.
    Interrupted,
}

impl CallStatus {
    pub const fn is_error(self) -> bool {
        !matches!(self, Self::Ok)
    }
}

/// What came of a call, as whoever ran it saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallOutcome {
    pub call_id: CallId,
    pub status: CallStatus,
    pub content: String,
    /// The whole output, where `content` is a part of it.
    pub full_output: Option<Digest>,
    /// Pictures that belong to it, kept already.
    pub images: Vec<Image>,
    pub duration_ms: u64,
}

/// A finished call, as the journal keeps it and the model reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    pub call_id: CallId,
    pub tool: String,
    pub status: CallStatus,
    pub content: String,
    /// The whole output, where `content` is a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_output: Option<Digest>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    #[serde(default = "Taint::missing")]
    pub taint: Taint,
    pub duration_ms: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_looks_at_the_file_and_never_guesses() {
        let (old, new, other) = (Digest::of(b"old"), Digest::of(b"new"), Digest::of(b"other"));
        let probe = |before| Effect::Probe(Probe { path: "a".into(), before, after: new, result: "Wrote a".into() });
        let check = |effect: Effect, found, expected| {
            assert_eq!(effect.recover(|_| found), expected);
        };
        check(Effect::Read, None, Recovery::RunAgain);
        check(Effect::Child, None, Recovery::RunAgain);
        check(Effect::Once, None, Recovery::Interrupted);
        check(probe(Some(old)), Some(old), Recovery::RunAgain);
        check(probe(Some(old)), Some(new), Recovery::Finished("Wrote a".into()));
        check(probe(Some(old)), Some(other), Recovery::Interrupted);
        check(probe(Some(old)), None, Recovery::Interrupted);
        check(probe(None), None, Recovery::RunAgain);
        check(probe(Some(new)), Some(new), Recovery::Finished("Wrote a".into()));
    }
}
