//! What went wrong, as RFC 9457 has it told (`application/problem+json`). `code` is one word that a program can go by, and
//! `hint` says what to do about it.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub const PROBLEM_JSON: &str = "application/problem+json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// Always `about:blank`: the status says what kind of problem it is, and `code` which.
    #[serde(rename = "type")]
    pub kind: String,
    /// The status in words.
    pub title: String,
    pub status: u16,
    /// This very problem, as a sentence.
    pub detail: String,
    /// One word for programs, such as `no_such_task`.
    pub code: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Problem {
    pub fn new(status: u16, title: impl Into<String>, code: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank".to_owned(),
            title: title.into(),
            status,
            detail: detail.into(),
            code: code.into(),
            hint: None,
        }
    }
}
