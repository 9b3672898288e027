//! The names in a request's path.

use axum::extract::{FromRequestParts, Path};
use http::StatusCode;
use http::request::Parts;
use serde::de::DeserializeOwned;

use crate::problems::Refusal;

pub struct InPath<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for InPath<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let read = Path::<T>::from_request_parts(parts, state).await;
        read.map(|Path(named)| Self(named))
            .map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, "bad_path", "a name in the path cannot be read"))
    }
}
