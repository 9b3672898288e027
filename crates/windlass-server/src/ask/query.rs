//! What stands after the question mark, within the bounds that the document has for it.

use axum::extract::{FromRequestParts, Query};
use http::StatusCode;
use http::request::Parts;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use super::fits::stray;
use crate::problems::Refusal;

pub struct Asked<T>(pub T);

impl<T: DeserializeOwned + IntoParams, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let given: Vec<(String, String)> = read(parts, state).await?;
        match stray::<T>(&given) {
            None => read(parts, state).await.map(Self),
            Some(why) => Err(refused(why)),
        }
    }
}

async fn read<T: DeserializeOwned, S: Send + Sync>(parts: &mut Parts, state: &S) -> Result<T, Refusal> {
    let read = Query::<T>::from_request_parts(parts, state).await;
    read.map(|Query(asked)| asked).map_err(|rejected| refused(rejected.body_text()))
}

fn refused(why: String) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, "bad_query", why).hint("/openapi.json describes what is wanted")
}
