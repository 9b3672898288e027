//! Checks: machine-evaluable statements about a result. Here are only the values: `windlass-plan` reads them and holds the
//! rule that judges what was seen, the engine runs them.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// How much of a check's output its result keeps; the whole is a blob.
pub const KEPT_OUTPUT_CHARS: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    pub name: String,
    pub probe: CheckProbe,
    pub timeout_seconds: u64,
    pub network: bool,
    /// Paths restored from the baseline before the check runs.
    pub protect: Vec<String>,
}

impl Check {
    /// The path to look at for the judgement, after any command has run.
    pub fn path(&self) -> Option<&str> {
        match &self.probe {
            CheckProbe::Run { expect: Expectation::FileExists(path), .. } | CheckProbe::File { path, .. } => Some(path),
            CheckProbe::Run { .. } => None,
        }
    }
}

/// What is looked at, and what is expected of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckProbe {
    /// A shell command line, and what its run must show.
    Run { run: String, expect: Expectation },
    /// A path in the workspace.
    File { path: String, expect: FileExpectation },
}

impl CheckProbe {
    /// What is looked at and what is expected of it, whole: whatever its writer calls the check.
    pub fn in_words(&self) -> String {
        match self {
            Self::Run { run, expect } => expect.of_run(run),
            Self::File { path, expect } => match expect {
                FileExpectation::Exists => format!("{path} exists"),
                FileExpectation::Absent => format!("{path} does not exist"),
                FileExpectation::NotEmpty => format!("{path} is not empty"),
            },
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expectation {
    ExitCode(i32),
    /// Any exit code but 0 (`not_command`).
    NonZero,
    /// Output equals this, white space at both ends aside.
    Equals(String),
    Contains(String),
    Regex(String),
    OutputLt(f64),
    OutputGt(f64),
    /// The command succeeds, and then this path is there.
    FileExists(String),
    NotEmpty,
}

impl Expectation {
    fn of_run(&self, run: &str) -> String {
        match self {
            Self::ExitCode(0) => run.to_owned(),
            Self::ExitCode(code) => format!("{run} exits with {code}"),
            Self::NonZero => format!("{run} fails"),
            Self::Equals(text) => format!("{run} prints {text:?}"),
            Self::Contains(text) => format!("{run} prints … {text:?}"),
            Self::Regex(pattern) => format!("{run} prints /{pattern}/"),
            Self::OutputLt(limit) => format!("{run} prints less than {limit}"),
            Self::OutputGt(limit) => format!("{run} prints more than {limit}"),
            Self::FileExists(path) => format!("{run} makes {path}"),
            Self::NotEmpty => format!("{run} prints something"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileExpectation {
    Exists,
    Absent,
    NotEmpty,
}

/// A base case: every check in it must pass. An empty one proves nothing, and a result then says `verified: false`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BaseCase(pub Vec<Check>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    pub name: String,
    pub passed: bool,
    /// In one sentence, why.
    pub reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// At most `KEPT_OUTPUT_CHARS` characters.
    pub output: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_output: Option<Digest>,
    /// Protected paths that were not as the baseline has them, and were restored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tampered: Vec<String>,
}
