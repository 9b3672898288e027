//! What is answered where something cannot be done: problem+json, one word for programs, a sentence and what to do about it. What
//! went wrong with the server itself is for its operator; whoever asked is told no more than that it did.

use std::collections::BTreeMap;

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use utoipa::IntoResponses;
use utoipa::openapi::RefOr;
use windlass_api::{PROBLEM_JSON, Problem, Scope};
use windlass_domain::Tenant;
use windlass_domain::monitor::MonitorRejected;
use windlass_engine::Error;

use crate::auth::Foreign;

/// After an outage.
const RETRY_AFTER_SECONDS: u64 = 5;

/// In the document: what every route behind a token may answer. `answers` adds what follows from what a route takes.
pub struct Problems;

impl IntoResponses for Problems {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        [401, 403, 429, 500, 503, 507]
            .into_iter()
            .map(|status| (status.to_string(), Self::answer(status).into()))
            .collect()
    }
}

/// In the document: what is shown of the operator's configuration may not be there to show.
pub struct Unfit;

impl IntoResponses for Unfit {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        BTreeMap::from([("422".to_owned(), Problems::answer(422).into())])
    }
}

/// In the document: the store may not answer.
pub struct Gone;

impl IntoResponses for Gone {
    fn responses() -> BTreeMap<String, RefOr<utoipa::openapi::Response>> {
        BTreeMap::from([("503".to_owned(), Problems::answer(503).into())])
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub status: StatusCode,
    pub code: &'static str,
    pub detail: String,
    pub hint: Option<String>,
    pub retry_after_seconds: Option<u64>,
    /// What was asked for may have been done all the same.
    pub is_perhaps_done: bool,
}

/// Of a response: what was asked for may have been done, whatever is answered, so that nobody asks for it again unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PerhapsDone;

impl Refusal {
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), hint: None, retry_after_seconds: None, is_perhaps_done: false }
    }

    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    #[must_use]
    pub fn perhaps_done(self) -> Self {
        Self { is_perhaps_done: true, ..self }
    }

    /// Nobody that is known here.
    pub fn nobody() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "this needs a token")
            .hint("send `Authorization: Bearer TOKEN`; the token is in the file `token` of the data directory, or `windlass token add` makes one")
    }

    pub fn beyond(scope: Scope) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", format!("this needs a token with the scope `{scope}`"))
    }

    /// What is about everybody here, or at everybody's cost, and so nobody's but the operator's.
    pub fn operators() -> Self {
        let local = Tenant::local();
        let detail = format!("this is the operator's, and needs a token of their own tenant, `{local}`");
        Self::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    pub(crate) fn foreign(foreign: Foreign) -> Self {
        match foreign {
            Foreign::Host => Self::new(StatusCode::FORBIDDEN, "foreign_host", "this server does not go by that name")
                .hint("list the name in `[server] hosts` of windlass.toml"),
            Foreign::Page => {
                Self::new(StatusCode::FORBIDDEN, "foreign_origin", "pages of other servers are not heard here")
            }
        }
    }

    pub fn nothing_there() -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", "there is nothing at this address")
            .hint("/openapi.json describes everything there is")
    }

    pub fn wrong_method() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            "this cannot be done with what is at this address",
        )
        .hint("/openapi.json describes everything there is")
    }

    /// What was asked for cannot be had so.
    pub fn unfit(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "unfit", detail)
    }

    pub fn broken() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "something broke here")
            .hint("the server's log says what")
    }

    /// Whoever works here says so in the log, once, and waits for it.
    pub fn store_gone() -> Self {
        let detail = "the store does not answer";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "store_gone", detail)
            .hint("ask again in a while; nothing is lost")
            .after(RETRY_AFTER_SECONDS)
    }

    /// No `503`: whoever gets one asks again by itself, and room is made by a person.
    fn no_room(error: &Error) -> Self {
        let detail = match error {
            Error::NoRoom(_) => error.to_string(),
            // Where its data lies is the operator's to know.
            _ => "the server's disk is full; nothing was lost".to_owned(),
        };
        Self::new(StatusCode::INSUFFICIENT_STORAGE, "no_room", detail)
            .hint("the operator of the server sees to that; what is under way can be looked at, answered and ended")
    }

    fn after(self, seconds: u64) -> Self {
        Self { retry_after_seconds: Some(seconds), ..self }
    }

    pub(crate) fn body(&self) -> String {
        serde_json::to_string(&self.problem()).unwrap_or_default()
    }

    fn problem(&self) -> Problem {
        let title = self.status.canonical_reason().unwrap_or("Problem");
        let problem = Problem::new(self.status.as_u16(), title, self.code, self.detail.clone());
        Problem { hint: self.hint.clone(), ..problem }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status, self.body()).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM_JSON));
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = self.retry_after_seconds {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        if self.is_perhaps_done {
            response.extensions_mut().insert(PerhapsDone);
        }
        response
    }
}

impl Refusal {
    /// What an error of the engine's is to whoever asked; none where they can do nothing about it.
    pub fn of(error: &Error) -> Option<Self> {
        if error.is_full() {
            return Some(Self::no_room(error));
        }
        let (status, code) = match error {
            Error::NoSuchTask(_) => (StatusCode::NOT_FOUND, "no_such_task"),
            Error::NoSuchQuestion { .. } | Error::Question(windlass_domain::QuestionRejected::NotAsked) => {
                (StatusCode::NOT_FOUND, "no_such_question")
            }
            Error::NoSuchExecution(_) => (StatusCode::NOT_FOUND, "no_such_execution"),
            Error::OfNoTask(_) | Error::CannotFork { .. } => (StatusCode::CONFLICT, "execution"),
            Error::NoSuchGoal(_) => (StatusCode::NOT_FOUND, "no_such_goal"),
            Error::NoSuchMemory(_) => (StatusCode::NOT_FOUND, "no_such_memory"),
            Error::Card(windlass_domain::approval::Rejected::NotRequested) => (StatusCode::NOT_FOUND, "no_such_card"),
            Error::Card(_) => (StatusCode::CONFLICT, "card"),
            Error::Question(_) => (StatusCode::CONFLICT, "question"),
            Error::HeldElsewhere { .. }
            | Error::Elsewhere { .. }
            | Error::GoalElsewhere(_)
            | Error::KeysElsewhere(_) => (StatusCode::CONFLICT, "elsewhere"),
            Error::Overtaken(_) | Error::LeaseLost(_) => (StatusCode::CONFLICT, "overtaken"),
            Error::Over(_) | Error::TooLate(_) => (StatusCode::CONFLICT, "over"),
            Error::NobodyHears(_) | Error::NothingUnderWay(_) => (StatusCode::CONFLICT, "nobody_hears"),
            Error::TaskKnown(_) => (StatusCode::CONFLICT, "task_known"),
            Error::NoSuchRequest(_) => (StatusCode::NOT_FOUND, "no_such_request"),
            Error::TooManySessions(_) => (StatusCode::TOO_MANY_REQUESTS, "too_many"),
            Error::NotAligned(_) | Error::GoalKnown(_) | Error::Goal(_) | Error::CannotCorrect(_) => {
                (StatusCode::CONFLICT, "not_now")
            }
            Error::Monitor(MonitorRejected::Absent) => (StatusCode::NOT_FOUND, "no_such_monitor"),
            Error::Monitor(MonitorRejected::Unfit(_)) | Error::LateDeadline(_) => {
                (StatusCode::UNPROCESSABLE_ENTITY, "unfit")
            }
            Error::Monitor(_) | Error::NothingToMonitor(_) => (StatusCode::CONFLICT, "not_now"),
            Error::SeveralQuestions { .. } => (StatusCode::CONFLICT, "several_questions"),
            Error::SecretInCheck
            | Error::Compaction(_)
            | Error::NotAnImage(_)
            | Error::NoEarlierPlan(_)
            | Error::UnfitPlan(_)
            | Error::NotAGoal(_)
            | Error::EmptyMessage
            | Error::MessageTooLong { .. }
            | Error::NoPlanFromOutside
            | Error::Workspace(_)
            | Error::Blocked(_) => (StatusCode::UNPROCESSABLE_ENTITY, "unfit"),
            Error::TooManyFromOutside { .. } => (StatusCode::TOO_MANY_REQUESTS, "too_many"),
            too_new if too_new.is_too_new() => (StatusCode::CONFLICT, "too_new"),
            _ => return None,
        };
        Some(Self::new(status, code, error.to_string()))
    }
}
