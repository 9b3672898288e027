//! `/v1/monitors`: having a task's agent look at something from time to time, until it is there or the time for it is over.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use windlass_api::{Heard, Monitor, MonitorList, MonitorRequest, TimeoutWord};
use windlass_domain::monitor::{MonitoringSchedule, TimeoutAction};
use windlass_domain::{TaskId, Wall};
use windlass_engine::{Scheduled, ScheduledKind};

use super::goals::place;
use crate::ask::{Asked, InPath, PageQuery, Place, Sent, listed, named};
use crate::auth::Caller;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

#[utoipa::path(
    get,
    path = "/v1/monitors",
    tag = "monitors",
    operation_id = "list_monitors",
    security(("bearer" = ["read"])),
    params(PageQuery),
    responses((status = 200, description = "Those there are, the next that is due first.", body = MonitorList), Problems)
)]
pub async fn list(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<MonitorList>, Refusal> {
    let page = query.read::<Place>()?;
    let all = service.engine(&caller).monitors().await.map_err(|error| service.refuse(error))?;
    let placed = all.into_iter().filter_map(|scheduled| Some((place(&scheduled), told(scheduled)?)));
    let (monitors, next) = listed(placed, &page);
    Ok(Json(MonitorList { monitors, next }))
}

fn told(Scheduled { due, kind }: Scheduled) -> Option<Monitor> {
    match kind {
        ScheduledKind::Monitor { task, schedule, looks } => Some(monitor(task, schedule, looks, due)),
        _ => None,
    }
}

pub(super) fn monitor(task: TaskId, schedule: MonitoringSchedule, looks: u32, due: Option<Wall>) -> Monitor {
    Monitor {
        task_id: task.to_string(),
        interval_seconds: schedule.interval_seconds,
        check_prompt: schedule.check_prompt,
        timeout_at: schedule.timeout_at.to_rfc3339(),
        timeout_action: match schedule.timeout_action {
            TimeoutAction::Complete => TimeoutWord::Complete,
            TimeoutAction::Fail => TimeoutWord::Fail,
        },
        looks: looks.into(),
        due: due.map(Wall::to_rfc3339),
    }
}

/// It takes the place of one that the task has already. An agent can bring the end of that nearer and not put it off; whoever asks here can.
#[utoipa::path(
    post,
    path = "/v1/tasks/{task}/monitor",
    tag = "monitors",
    operation_id = "add_monitor",
    security(("bearer" = ["write"])),
    params(("task" = String, Path, description = "Its id.")),
    request_body = MonitorRequest,
    responses((status = 202, description = "Its agent is told from time to time.", body = Heard), Problems)
)]
pub async fn add(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(task): InPath<String>,
    Sent(request): Sent<MonitorRequest>,
) -> Result<(StatusCode, Json<Heard>), Refusal> {
    let task: TaskId = named("task", &task)?;
    let timeout_at = Wall::from_rfc3339(&request.timeout_at)
        .map_err(|_| Refusal::unfit("`timeout_at` is no moment").hint("say it as 2026-12-01T18:00:00+01:00"))?;
    let timeout_action = match request.timeout_action {
        TimeoutWord::Complete => TimeoutAction::Complete,
        TimeoutWord::Fail => TimeoutAction::Fail,
    };
    let MonitorRequest { interval_seconds, check_prompt, .. } = request;
    let schedule = MonitoringSchedule { interval_seconds, check_prompt, timeout_at, timeout_action };
    service.engine(&caller).add_monitor(task, &schedule).await.map_err(|error| service.refuse(error))?;
    Ok((StatusCode::ACCEPTED, Json(Heard { task_id: task.to_string() })))
}

/// An agent that waits for it goes on.
#[utoipa::path(
    delete,
    path = "/v1/tasks/{task}/monitor",
    tag = "monitors",
    operation_id = "end_monitor",
    security(("bearer" = ["write"])),
    params(("task" = String, Path, description = "Its id.")),
    responses((status = 200, description = "Its agent is told no more.", body = Heard), Problems)
)]
pub async fn end(
    State(service): State<Arc<Service>>,
    caller: Caller,
    InPath(task): InPath<String>,
) -> Result<Json<Heard>, Refusal> {
    let task: TaskId = named("task", &task)?;
    service.engine(&caller).remove_monitor(task).await.map_err(|error| service.refuse(error))?;
    Ok(Json(Heard { task_id: task.to_string() }))
}
