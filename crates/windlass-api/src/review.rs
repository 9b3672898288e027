//! What people are asked: cards, which want a signed yes or no, and questions, which want words.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A card of contracts §3, with whose it is: `card_id, intent, risk_level, rationale, consequence_label, affected_items, details`
/// and more, and besides them these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Approval {
    pub task_id: Option<String>,
    /// open, decided, refused, issued, expired or withdrawn.
    pub standing: String,
    pub asked_at: Option<String>,
    pub expires_at: Option<String>,
    pub card: Value,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ApprovalList {
    pub approvals: Vec<Approval>,
    /// Where the next page begins; none after the last.
    pub next: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ApproveRequest {
    /// The second step: cards of high and irreversible risk want it.
    pub confirmed: bool,
    #[schema(max_items = 50)]
    pub conditions: Vec<String>,
    #[schema(max_length = 10000)]
    pub note: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RefuseRequest {
    #[schema(max_length = 10000)]
    pub note: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApprovalAnswered {
    pub card_id: String,
    pub task_id: String,
    /// approved, declined, edit_requested or conditional.
    pub verdict: String,
}

/// A HITLRequest of seed 000, with whose it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Question {
    pub request_id: String,
    pub task_id: String,
    pub asked_at: String,
    pub asked: Value,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QuestionList {
    pub questions: Vec<Question>,
    /// Where the next page begins; none after the last.
    pub next: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AnswerRequest {
    #[schema(max_length = 65536)]
    pub answer: String,
}
