//! The first thing that happens to a request. What has no token is told so whatever it asks for, so that nobody finds out by
//! asking what there is.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::Method;

use super::caller::Caller;
use super::token::{as_it_is_now, bearer};
use crate::console::is_page;
use crate::http::ForAnybody;
use crate::openapi::DOCUMENT;
use crate::problems::Refusal;
use crate::routes::{HEALTH, hooked};
use crate::service::Service;

/// What anybody may see, besides the console's pages.
const OPEN: [&str; 2] = [HEALTH, DOCUMENT];

pub async fn admit(State(service): State<Arc<Service>>, mut request: Request, next: Next) -> Response {
    let is_page = is_page(request.method(), request.uri().path());
    // A link of others may lead to a page: there is nothing in it.
    let is_link = is_page && service.names.is_followed_link(request.headers());
    if !is_link && let Err(foreign) = service.names.judge(request.uri(), request.headers()) {
        return Refusal::foreign(foreign).into_response();
    }
    let is_open = OPEN.contains(&request.uri().path()) && [Method::GET, Method::HEAD].contains(request.method());
    if is_open || is_page {
        let mut answer = next.run(request).await;
        answer.extensions_mut().insert(ForAnybody);
        return answer;
    }
    let (tokens, now) = (service.tokens.tokens(), service.runtime.wall());
    let hook = hooked(request.uri().path()).and_then(|path| service.house.hook(path));
    let by_hook = hook.as_ref().map(|hook| Caller::hooked(hook, request.uri().path()));
    if let Some(hook) = hook {
        request.extensions_mut().insert(hook);
    }
    let by_ticket = || as_it_is_now(&service.tickets.spend(&request, service.runtime.now())?, &tokens, now);
    let caller = bearer(request.headers(), &tokens, now).or_else(by_ticket).or(by_hook);
    let Some(caller) = caller else { return Refusal::nobody().into_response() };
    request.extensions_mut().insert(caller);
    next.run(request).await
}
