//! `/v1/activity`: what happened, from the newest on, and of that what somebody looks for. What happens from now on is told by `/v1/events`.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::Deserialize;
use utoipa::IntoParams;
use windlass_api::{Activity, PROBLEM_JSON, Problem, SurfaceWord};
use windlass_domain::TaskId;
use windlass_engine::{FeedEvent, Surface};

use super::records::looked_back;
use super::sessions::known;
use crate::ask::{Asked, PageQuery, named};
use crate::auth::Caller;
use crate::events::is_shown;
use crate::problems::{Problems, Refusal};
use crate::service::Service;

#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ActivityQuery {
    /// So many at most; 50 unless said.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<usize>,
    /// `next` of the page before.
    #[param(max_length = 200)]
    pub cursor: Option<String>,
    /// Only records of these kinds, with commas between them, as `user.said,turn.ended`.
    #[param(max_length = 4096)]
    pub kinds: Option<String>,
    /// Only records of what is about these, with commas between them, as `task,graph`.
    #[param(max_length = 256)]
    pub about: Option<String>,
    /// Only records in which each of these words stands, in capitals or not.
    #[param(max_length = 256)]
    pub words: Option<String>,
    /// Only what people see there.
    pub surface: Option<SurfaceWord>,
    /// Only what belongs to this conversation, to its tasks and to all who work for them.
    #[param(max_length = 64)]
    pub session: Option<String>,
    /// Only what belongs to this task and to all who work for it.
    #[param(max_length = 64)]
    pub task: Option<String>,
}

/// What happened, newest first. It looks through so many records for a page, so that one may be empty and not be the last.
#[utoipa::path(
    get,
    path = "/v1/activity",
    tag = "events",
    operation_id = "list_activity",
    security(("bearer" = ["read"])),
    params(ActivityQuery),
    responses(
        (status = 200, description = "Records, newest first.", body = Activity),
        (status = 404, description = "There is no such conversation or task.", content_type = PROBLEM_JSON, body = Problem),
        Problems
    )
)]
pub async fn list(
    State(service): State<Arc<Service>>,
    caller: Caller,
    Asked(query): Asked<ActivityQuery>,
) -> Result<Json<Activity>, Refusal> {
    let page = PageQuery { limit: query.limit, cursor: query.cursor.clone() }.read::<u64>()?;
    let engine = service.engine(&caller);
    let whole = match (&query.task, &query.session) {
        (None, None) => None,
        (None, Some(name)) => Some(known(&service, &caller, name).await?.0.to_string()),
        (Some(name), None) => {
            let task: TaskId = named("task", name)?;
            engine.task(task).await.map_err(|error| service.refuse(error))?;
            Some(task.to_string())
        }
        (Some(_), Some(_)) => {
            return Err(Refusal::new(StatusCode::BAD_REQUEST, "bad_query", "name a `task` or a `session`, not both"));
        }
    };
    let looked_for = LookedFor::new(&query);
    let found = engine.look_back(page.after, page.limit, whole.as_deref(), |event| looked_for.is_in(event)).await;
    Ok(Json(looked_back(found.map_err(|error| service.refuse(error))?)))
}

/// What somebody looks for; what they do not name may be anything.
struct LookedFor {
    kinds: Option<BTreeSet<String>>,
    about: Option<BTreeSet<String>>,
    words: Vec<String>,
    surface: Option<Surface>,
}

impl LookedFor {
    fn new(query: &ActivityQuery) -> Self {
        let listed = |names: &String| names.split(',').map(|name| name.trim().to_owned()).collect();
        let words = query.words.as_deref().unwrap_or_default().split_whitespace();
        let surface = |word: SurfaceWord| match word {
            SurfaceWord::Stream => Surface::Stream,
            SurfaceWord::Review => Surface::Review,
            SurfaceWord::Activity => Surface::Activity,
        };
        Self {
            kinds: query.kinds.as_ref().map(listed),
            about: query.about.as_ref().map(listed),
            words: words.map(str::to_lowercase).collect(),
            surface: query.surface.map(surface),
        }
    }

    fn is_in(&self, event: &FeedEvent) -> bool {
        let is_one = |names: &Option<BTreeSet<String>>, name| names.as_ref().is_none_or(|names| names.contains(name));
        is_shown(event)
            && is_one(&self.kinds, &event.kind)
            && is_one(&self.about, &event.about)
            && self.has_words(event)
            && self.surface.is_none_or(|surface| event.surfaces().contains(&surface))
    }

    fn has_words(&self, event: &FeedEvent) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let text = format!("{} {}/{} {}", event.kind, event.about, event.id, event.data).to_lowercase();
        self.words.iter().all(|word| text.contains(word))
    }
}
