//! Every route there is, in the order in which the document has them. What is not here cannot be asked.

use std::sync::Arc;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{
    activity, approvals, commands, decisions, deliverables, documents, events, executions, forks, goals, health, house,
    monitors, objectives, openapi, operating, questions, redirect, sessions, spending, start, task_control, task_story,
    tasks, terminals,
};
use crate::answers::describe;
use crate::openapi::cover;
use crate::service::Service;

pub fn routes() -> OpenApiRouter<Arc<Service>> {
    let mut all = OpenApiRouter::with_openapi(cover())
        .routes(routes!(health::health))
        .routes(routes!(openapi::openapi))
        .routes(routes!(house::whoami))
        .routes(routes!(tasks::list, tasks::create))
        .routes(routes!(tasks::get))
        .routes(routes!(task_control::pause))
        .routes(routes!(task_control::stop))
        .routes(routes!(task_control::resume))
        .routes(routes!(task_control::cancel))
        .routes(routes!(start::to_start, start::start))
        .routes(routes!(task_control::send))
        .routes(routes!(redirect::redirect))
        .routes(routes!(monitors::list))
        .routes(routes!(monitors::add, monitors::end))
        .routes(routes!(task_story::records))
        .routes(routes!(task_story::events))
        .routes(routes!(objectives::get))
        .routes(routes!(spending::get))
        .routes(routes!(task_story::graph))
        .routes(routes!(task_story::explanation))
        .routes(routes!(deliverables::list))
        .routes(routes!(deliverables::blob))
        .routes(routes!(sessions::open, sessions::list))
        .routes(routes!(sessions::get))
        .routes(routes!(sessions::say, sessions::messages))
        .routes(routes!(sessions::events))
        .routes(routes!(approvals::list))
        .routes(routes!(approvals::get))
        .routes(routes!(approvals::approve))
        .routes(routes!(approvals::decline))
        .routes(routes!(approvals::edit))
        .routes(routes!(decisions::list))
        .routes(routes!(questions::list))
        .routes(routes!(questions::get))
        .routes(routes!(questions::answer))
        .routes(routes!(executions::list))
        .routes(routes!(executions::get))
        .routes(routes!(executions::journal))
        .routes(routes!(executions::turns))
        .routes(routes!(forks::look, forks::fork))
        .routes(routes!(terminals::list))
        .routes(routes!(terminals::recordings))
        .routes(routes!(terminals::get))
        .routes(routes!(terminals::ticket))
        .routes(routes!(terminals::attach))
        .routes(routes!(terminals::recording))
        .routes(routes!(goals::list, goals::add))
        .routes(routes!(goals::pause))
        .routes(routes!(goals::resume))
        .routes(routes!(goals::run))
        .routes(routes!(goals::remove))
        .routes(routes!(house::agents))
        .routes(routes!(house::patterns))
        .routes(routes!(house::skills))
        .routes(routes!(house::gates))
        .routes(routes!(house::try_gates))
        .routes(routes!(house::settings))
        .routes(routes!(documents::check))
        .routes(routes!(commands::look))
        .routes(routes!(commands::ask))
        .routes(routes!(commands::decide))
        .routes(routes!(commands::operate))
        .routes(routes!(activity::list))
        .routes(routes!(events::watch))
        .routes(routes!(events::tell))
        .routes(routes!(events::tell_by_hook))
        .routes(routes!(operating::audit))
        .routes(routes!(operating::verify_audit))
        .routes(routes!(operating::dead_letters))
        .routes(routes!(operating::retry))
        .routes(routes!(operating::drop_letter))
        .routes(routes!(operating::metrics));
    describe(all.get_openapi_mut());
    all
}
