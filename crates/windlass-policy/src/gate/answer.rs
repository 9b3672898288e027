//! What the engine carries out for a gate, and how its answer is read. Whatever is not exactly an answer is a failure.

use serde::Deserialize;
use serde_json::Value;

use super::Decision;

const MAX_ANSWER_BYTES: usize = 1024 * 1024;

#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Run in a sandbox of its own without network, `stdin` given and closed.
    Script { gate: String, argv: Vec<String>, stdin: String, timeout_seconds: u64 },
    /// Ask a model, as an execution of its own, for `{"score": 0..1, "reason": …}`.
    Score { gate: String, criteria: String, input: String, timeout_seconds: u64 },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The script ended by itself.
    Ran {
        exit_code: i32,
        stdout: String,
    },
    /// The model's words.
    Said(String),
    TimedOut,
    /// It could not be asked, in words.
    Failed(String),
}

/// A script's verdict.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Verdict {
    pub decision: Decision,
    #[serde(default)]
    pub reason: String,
    #[serde(default)]
    pub rewrite: Option<RewriteAsked>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RewriteAsked {
    pub message: Option<String>,
    pub response: Option<String>,
    pub tool_args: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Score {
    pub score: f64,
    #[serde(default)]
    pub reason: String,
}

impl Answer {
    pub(super) fn verdict(self) -> Result<Verdict, String> {
        match self {
            Self::Ran { exit_code: 0, stdout } => parsed(&stdout),
            Self::Ran { exit_code, .. } => Err(format!("the script failed with exit code {exit_code}")),
            Self::Said(_) => Err("a script was asked and a model answered".to_owned()),
            Self::TimedOut => Err("the script did not answer in time".to_owned()),
            Self::Failed(reason) => Err(reason),
        }
    }

    pub(super) fn score(self) -> Result<Score, String> {
        let score: Score = match self {
            Self::Said(text) => parsed(&text)?,
            Self::Ran { .. } => return Err("a model was asked and a script answered".to_owned()),
            Self::TimedOut => return Err("the model did not answer in time".to_owned()),
            Self::Failed(reason) => return Err(reason),
        };
        match (0.0..=1.0).contains(&score.score) {
            true => Ok(score),
            false => Err(format!("the score {} is not between 0 and 1", score.score)),
        }
    }
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    if text.len() > MAX_ANSWER_BYTES {
        return Err("the answer is too long".to_owned());
    }
    serde_json::from_str(text.trim()).map_err(|error| format!("the answer cannot be read: {error}"))
}
