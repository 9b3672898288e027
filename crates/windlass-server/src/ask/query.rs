//! What stands after the question mark.

use axum::extract::{FromRequestParts, Query};
use http::StatusCode;
use http::request::Parts;
use serde::de::DeserializeOwned;

use crate::problems::Refusal;

pub struct Asked<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let read = Query::<T>::from_request_parts(parts, state).await;
        read.map(|Query(asked)| Self(asked)).map_err(|rejected| {
            Refusal::new(StatusCode::BAD_REQUEST, "bad_query", rejected.body_text())
                .hint("/openapi.json describes what is wanted")
        })
    }
}
