//! What each route asks of a token, read from the document that describes the routes: what is written there is what is enforced. A
//! route that says nothing wants an operator's token.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::Method;
use serde_json::Value;
use utoipa::openapi::OpenApi;
use windlass_api::Scope;

use super::caller::Caller;
use crate::openapi::{BEARER, HOOK};
use crate::problems::Refusal;

#[derive(Debug, Clone, Default)]
pub struct Scopes(BTreeMap<(String, String), Asked>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Nothing,
    Scope(Scope),
}

impl Scopes {
    pub fn of(document: &OpenApi) -> Self {
        let document = serde_json::to_value(document).unwrap_or_default();
        let paths = document["paths"].as_object().into_iter().flatten();
        let operations = paths.flat_map(|(path, item)| {
            item.as_object().into_iter().flatten().map(move |(method, operation)| (path, method, operation))
        });
        Self(
            operations
                .map(|(path, method, operation)| ((method.to_uppercase(), path.clone()), asked(operation)))
                .collect(),
        )
    }

    fn asked(&self, method: &Method, path: &str) -> Asked {
        // What one may look at one may look at the head of.
        let method = if method == Method::HEAD { Method::GET } else { method.clone() };
        self.0.get(&(method.to_string(), path.to_owned())).copied().unwrap_or(Asked::Scope(Scope::Admin))
    }
}

fn asked(operation: &Value) -> Asked {
    let scope = |words: &Value| words[BEARER][0].as_str()?.parse().ok();
    match operation["security"].as_array().map(Vec::as_slice) {
        // An empty requirement is the document's word for none.
        Some([only]) if only.as_object().is_some_and(serde_json::Map::is_empty) => Asked::Nothing,
        // Who is known by a path has come in by it, and what stands there asks for no more.
        Some([only]) if only.get(HOOK).is_some() => Asked::Nothing,
        Some([only]) => Asked::Scope(scope(only).unwrap_or(Scope::Admin)),
        _ => Asked::Scope(Scope::Admin),
    }
}

pub async fn hold_to_scope(State(scopes): State<Arc<Scopes>>, request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let caller = request.extensions().get::<Caller>();
    match (scopes.asked(request.method(), path), caller) {
        (Asked::Nothing, _) => next.run(request).await,
        (Asked::Scope(_), None) => Refusal::nobody().into_response(),
        (Asked::Scope(scope), Some(caller)) if caller.may(scope) => next.run(request).await,
        (Asked::Scope(scope), Some(_)) => Refusal::beyond(scope).into_response(),
    }
}
