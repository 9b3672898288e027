//! `/v1/questions`: what agents ask people, and the answers.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde_json::json;
use windlass_api::{AnswerRequest, MessageSent, Question, QuestionAnswer, QuestionList};
use windlass_domain::RequestId;
use windlass_engine::{Message, OpenQuestion, QuestionTold, Sent as Became};

use super::whose::Askers;

use crate::ask::{Asked, InPath, MayBe as _, PageQuery, Place, Sent, listed, named};
use crate::auth::Caller;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

#[utoipa::path(
    get,
    path = "/v1/questions",
    tag = "questions",
    operation_id = "list_questions",
    security(("bearer" = ["read"])),
    params(PageQuery),
    responses((status = 200, description = "The open questions, oldest first.", body = QuestionList), Problems)
)]
pub async fn list(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<QuestionList>, Refusal> {
    let page = query.read::<Place>()?;
    let engine = service.engine(&caller);
    let open = engine.questions().await.map_err(|error| service.refuse(error))?;
    let place = |open: &OpenQuestion| Place { millis: open.at.as_millis(), name: open.asked.request_id.to_string() };
    let (open, next) = listed(open.into_iter().map(|open| (place(&open), open)), &page);
    let (mut questions, mut askers) = (Vec::with_capacity(open.len()), Askers::default());
    for OpenQuestion { asked, at } in open {
        let whose = askers.whose(&engine, asked.task_id).await.map_err(|error| service.refuse(error))?;
        questions.push(Question {
            request_id: asked.request_id.to_string(),
            task_id: asked.task_id.to_string(),
            standing: "open".to_owned(),
            asked_at: at.to_rfc3339(),
            whose,
            answered: None,
            asked: json!(asked.asked),
        });
    }
    Ok(Json(QuestionList { questions, next }))
}

#[utoipa::path(
    get,
    path = "/v1/questions/{question}",
    tag = "questions",
    operation_id = "get_question",
    security(("bearer" = ["read"])),
    params(("question" = String, Path, description = "Its request_id.")),
    responses((status = 200, description = "The question, and what became of it.", body = Question), Problems)
)]
pub async fn get(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
) -> Result<Json<Question>, Refusal> {
    let question: RequestId = named("question", &name)?;
    let engine = service.engine(&caller);
    let told = engine.question_told(question).await.map_err(|error| service.refuse(error))?;
    let QuestionTold { asked, at, answered, is_withdrawn } = told.or_nothing("question", &name)?;
    let standing = match (&answered, is_withdrawn) {
        (Some(_), _) => "answered",
        (None, true) => "withdrawn",
        (None, false) => "open",
    };
    let whose = Askers::default().whose(&engine, asked.task_id).await.map_err(|error| service.refuse(error))?;
    Ok(Json(Question {
        request_id: asked.request_id.to_string(),
        task_id: asked.task_id.to_string(),
        standing: standing.to_owned(),
        asked_at: at.to_rfc3339(),
        whose,
        answered: answered.map(|(said, at)| QuestionAnswer {
            answer: said.answer,
            by: said.by,
            answered_at: at.to_rfc3339(),
        }),
        asked: json!(asked.asked),
    }))
}

#[utoipa::path(
    post,
    path = "/v1/questions/{question}/answer",
    tag = "questions",
    operation_id = "answer_question",
    security(("bearer" = ["write"])),
    params(("question" = String, Path, description = "Its request_id.")),
    request_body = AnswerRequest,
    responses((status = 202, description = "It is kept, and will be heard.", body = MessageSent), Problems)
)]
pub async fn answer(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
    Sent(request): Sent<AnswerRequest>,
) -> Result<(StatusCode, Json<MessageSent>), Refusal> {
    let question: RequestId = named("question", &name)?;
    let engine = service.engine(&caller);
    let state = engine.question(question).await.map_err(|error| service.refuse(error))?;
    let task = state.asked().map(|asked| asked.task_id).or_nothing("question", &name)?;
    let message = Message { text: request.answer, question: Some(question), by: caller.name.clone() };
    match Box::pin(engine.send(task, &message)).await.map_err(|error| service.refuse(error))? {
        Became::Answer(asked) => {
            let (task_id, request_id) = (task.to_string(), Some(asked.request_id.to_string()));
            let told = MessageSent { task_id, injection_type: "hitl_response".to_owned(), request_id, kind: None };
            Ok((StatusCode::ACCEPTED, Json(told)))
        }
        Became::Words | Became::TooLate(_) => Err(Refusal::new(
            StatusCode::CONFLICT,
            "question",
            "the question was answered before; this was heard as a message",
        )),
    }
}
