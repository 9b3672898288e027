//! `/v1/schedules`: all that is due some time, and the goals among it, which are looked at again and again and mended where they do not hold.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use windlass_api::{GoalAdded, GoalChanged, GoalLook, GoalRequest, Schedule as Listed, ScheduleList};
use windlass_domain::goal::{GoalState, GoalStatus, Look};
use windlass_domain::plan::Schedule;
use windlass_domain::{GoalId, Wall};
use windlass_engine::{Scheduled, ScheduledKind};

use crate::ask::{Asked, InPath, PageQuery, Place, Sent, listed};
use crate::auth::Caller;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

#[utoipa::path(
    get,
    path = "/v1/schedules",
    tag = "schedules",
    operation_id = "list_schedules",
    security(("bearer" = ["read"])),
    params(PageQuery),
    responses((status = 200, description = "Goals, and the deadlines and monitors of tasks.", body = ScheduleList), Problems)
)]
pub async fn list(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<ScheduleList>, Refusal> {
    let page = query.read::<Place>()?;
    let all = service.engine(&caller).schedules().await.map_err(|error| service.refuse(error))?;
    let (schedules, next) = listed(all.into_iter().map(|scheduled| (place(&scheduled), told(scheduled))), &page);
    Ok(Json(ScheduleList { schedules, next }))
}

/// What rests comes last.
pub(super) fn place(scheduled: &Scheduled) -> Place {
    let name = match &scheduled.kind {
        ScheduledKind::Deadline { task, .. } => format!("deadline-{task}"),
        ScheduledKind::Monitor { task, .. } => format!("monitor-{task}"),
        ScheduledKind::Goal { goal, .. } => format!("goal-{goal}"),
    };
    Place { millis: scheduled.due.map_or(u64::MAX, Wall::as_millis), name }
}

fn told(scheduled: Scheduled) -> Listed {
    let due = scheduled.due.map(Wall::to_rfc3339);
    match scheduled.kind {
        ScheduledKind::Deadline { task, deadline } => Listed::Deadline {
            task_id: task.to_string(),
            deadline: deadline.at.to_rfc3339(),
            deadline_action: deadline.action.as_str().to_owned(),
            due,
        },
        ScheduledKind::Monitor { task, schedule, looks } => {
            Listed::Monitor(super::monitors::monitor(task, schedule, looks, scheduled.due))
        }
        ScheduledKind::Goal { goal, state } => goal_told(goal, &state, due),
    }
}

fn goal_told(goal: GoalId, state: &GoalState, due: Option<String>) -> Listed {
    let added = state.added.as_ref();
    let root = added.map(|added| &added.plan.0);
    Listed::Goal {
        goal: state.name().map(str::to_owned),
        title: root.map(|root| root.title.clone()).unwrap_or_default(),
        workspace: added.map(|added| added.template.workspace.clone()).unwrap_or_default(),
        checks: root.map(|root| root.verify.0.iter().map(|check| check.probe.in_words()).collect()).unwrap_or_default(),
        what_to_do: root.map(|root| root.briefing.what_to_do.trim().to_owned()).unwrap_or_default(),
        goal_id: goal.to_string(),
        status: if state.status == GoalStatus::Paused { "paused" } else { "active" }.to_owned(),
        schedule: match state.schedule() {
            Schedule::AlwaysOn => "always_on".to_owned(),
            Schedule::Cron(cron) => cron.to_string(),
        },
        due,
        being_looked_at: state.open.is_some(),
        looks: state.firings.into(),
        fixes: state.fixes.into(),
        last: state.last.as_ref().map(look_told),
        fix: state.fix.as_ref().map(|(task, _)| task.to_string()),
        card_id: added.map(|added| added.card.to_string()),
    }
}

fn look_told(look: &Look) -> GoalLook {
    match look {
        Look::Holds => GoalLook::Holds,
        Look::Broken(failed, fix) => GoalLook::Broken { failed: failed.clone(), task_id: fix.to_string() },
        Look::Skipped(fix) => GoalLook::Skipped { task_id: fix.to_string() },
        Look::Troubled(error) => GoalLook::Troubled { message: error.message.clone() },
    }
}

#[utoipa::path(
    post,
    path = "/v1/schedules",
    tag = "schedules",
    operation_id = "add_schedule",
    security(("bearer" = ["approve"])),
    request_body = GoalRequest,
    responses((status = 201, description = "It is looked at from now on, and mended unasked once its card is approved.", body = GoalAdded), Problems)
)]
pub async fn add(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Sent(request): Sent<GoalRequest>,
) -> Result<(StatusCode, Json<GoalAdded>), Refusal> {
    let order = service.house.goal(&caller.tenant, request).await?;
    let goal = order.plan.0.id.to_string();
    let added = Box::pin(service.engine(&caller).add_goal(order)).await;
    let (id, card) = added.map_err(|error| service.refuse(error))?;
    let told = GoalAdded { goal, goal_id: id.to_string(), card_id: card.to_string() };
    Ok((StatusCode::CREATED, Json(told)))
}

#[utoipa::path(
    post,
    path = "/v1/schedules/{goal}/pause",
    tag = "schedules",
    operation_id = "pause_schedule",
    security(("bearer" = ["write"])),
    params(("goal" = String, Path, description = "Its name.")),
    responses((status = 200, description = "It is not looked at until it is resumed.", body = GoalChanged), Problems)
)]
pub async fn pause(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
) -> Result<Json<GoalChanged>, Refusal> {
    let engine = service.engine(&caller);
    let goal = engine.goal_named(&name).await.map_err(|error| service.refuse(error))?;
    engine.pause_goal(goal.id).await.map_err(|error| service.refuse(error))?;
    Ok(changed(name, "paused"))
}

#[utoipa::path(
    post,
    path = "/v1/schedules/{goal}/resume",
    tag = "schedules",
    operation_id = "resume_schedule",
    security(("bearer" = ["write"])),
    params(("goal" = String, Path, description = "Its name.")),
    responses((status = 200, description = "It is looked at again.", body = GoalChanged), Problems)
)]
pub async fn resume(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
) -> Result<Json<GoalChanged>, Refusal> {
    let engine = service.engine(&caller);
    let goal = engine.goal_named(&name).await.map_err(|error| service.refuse(error))?;
    engine.resume_goal(goal.id).await.map_err(|error| service.refuse(error))?;
    Ok(changed(name, "resumed"))
}

/// Looks at once, whatever its schedule says. It is answered when its checks have run.
#[utoipa::path(
    post,
    path = "/v1/schedules/{goal}/run",
    tag = "schedules",
    operation_id = "run_schedule",
    security(("bearer" = ["write"])),
    params(("goal" = String, Path, description = "Its name.")),
    responses((status = 200, description = "What was found, and who mends it.", body = GoalLook), Problems)
)]
pub async fn run(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
) -> Result<Json<GoalLook>, Refusal> {
    let engine = service.engine(&caller);
    let goal = engine.goal_named(&name).await.map_err(|error| service.refuse(error))?;
    let look = Box::pin(engine.run_goal(goal.id)).await.map_err(|error| service.refuse(error))?;
    Ok(Json(look_told(&look)))
}

#[utoipa::path(
    delete,
    path = "/v1/schedules/{goal}",
    tag = "schedules",
    operation_id = "remove_schedule",
    security(("bearer" = ["write"])),
    params(("goal" = String, Path, description = "Its name.")),
    responses((status = 200, description = "It is looked at no more.", body = GoalChanged), Problems)
)]
pub async fn remove(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(name): InPath<String>,
) -> Result<Json<GoalChanged>, Refusal> {
    let engine = service.engine(&caller);
    let goal = engine.goal_named(&name).await.map_err(|error| service.refuse(error))?;
    engine.remove_goal(goal.id).await.map_err(|error| service.refuse(error))?;
    Ok(changed(name, "removed"))
}

fn changed(goal: String, status: &str) -> Json<GoalChanged> {
    Json(GoalChanged { goal, status: status.to_owned() })
}
