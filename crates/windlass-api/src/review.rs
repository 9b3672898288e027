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
    /// Whose work asks; none of a goal's card, which is no task's.
    pub whose: Option<Whose>,
    /// What a person said to it, where one has.
    pub decision: Option<Decision>,
    pub card: Value,
}

/// The task that somebody asked for, and the item of its plan, where that is what asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Whose {
    pub task_id: String,
    /// What was asked for.
    pub goal: String,
    pub item: Option<String>,
    pub item_title: Option<String>,
}

/// What a person said to a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Decision {
    /// approved, declined, edit_requested or conditional.
    pub verdict: String,
    /// Who, as the server knows them.
    pub by: String,
    pub decided_at: String,
    /// With the second step.
    pub confirmed: bool,
    pub conditions: Vec<String>,
    pub note: String,
}

/// A card that a person answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Decided {
    pub card_id: String,
    pub intent: String,
    /// low, medium, high or irreversible.
    pub risk_level: String,
    pub asked_at: String,
    pub decision: Decision,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DecisionList {
    pub decisions: Vec<Decided>,
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
    /// open, answered or withdrawn.
    pub standing: String,
    pub asked_at: String,
    /// Whose work asks.
    pub whose: Option<Whose>,
    pub answered: Option<QuestionAnswer>,
    pub asked: Value,
}

/// What a question was answered with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QuestionAnswer {
    pub answer: String,
    /// Who, as the server knows them.
    pub by: String,
    pub answered_at: String,
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
