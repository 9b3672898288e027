//! A request's body: JSON, said to be JSON, no longer than a body may be, and all there within the time for it. The type must be
//! said because a browser sends forms and plain text for any page, and JSON only where it is allowed to.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequest, Request};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use http::header::CONTENT_TYPE;
use http::{Extensions, HeaderMap, StatusCode};
use serde::de::DeserializeOwned;
use utoipa::ToSchema;
use windlass_domain::Runtime;

use super::fits::misfit;
use super::roomy::Roomy;
use crate::http::Limits;
use crate::problems::Refusal;
use crate::service::Service;

const DESCRIBED: &str = "/openapi.json describes what is wanted";

pub struct Sent<T>(pub T);

impl<T: DeserializeOwned + ToSchema> FromRequest<Arc<Service>> for Sent<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, service: &Arc<Service>) -> Result<Self, Refusal> {
        is_json(request.headers())?;
        let (parts, body) = request.into_parts();
        let bytes = whole(body, &parts.extensions, service).await?;
        // A body that is not there asks for nothing special.
        let bytes: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        let sent = serde_json::from_slice(bytes).map_err(|error| unread(&error))?;
        match misfit::<T>(&serde_json::from_slice(bytes).map_err(|error| unread(&error))?) {
            None => Ok(Self(sent)),
            Some(why) => Err(Refusal::unfit(why).hint(DESCRIBED)),
        }
    }
}

fn unread(error: &serde_json::Error) -> Refusal {
    let status = if error.is_data() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::BAD_REQUEST };
    Refusal::new(status, "bad_body", format!("the body cannot be read: {error}")).hint(DESCRIBED)
}

fn is_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let said = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = said.split(';').next().unwrap_or_default().trim();
    match kind.eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", "the body must be JSON")
            .hint("send `Content-Type: application/json`")),
    }
}

/// All of it, within the service's limits for a request of this kind.
pub async fn whole(body: Body, of: &Extensions, service: &Service) -> Result<Bytes, Refusal> {
    let most = if of.get::<Roomy>().is_some() { service.limits.body_with_files } else { service.limits.body };
    whole_within(body, &Limits { body: most, ..service.limits }, &*service.runtime).await
}

/// The patience is for all of it: whoever sends a byte now and then is no quicker than who sends none.
pub async fn whole_within(body: Body, limits: &Limits, runtime: &dyn Runtime) -> Result<Bytes, Refusal> {
    let too_long = runtime.sleep(limits.body_patience);
    let reading = std::pin::pin!(read(body, limits.body));
    match select(reading, too_long).await {
        Either::Left((read, _)) => read,
        Either::Right(_) => Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, "too_slow", "the body did not come in time")),
    }
}

async fn read(body: Body, most: usize) -> Result<Bytes, Refusal> {
    let mut pieces = body.into_data_stream();
    let mut bytes = BytesMut::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece
            .map_err(|_| Refusal::new(StatusCode::BAD_REQUEST, "broken_off", "the body broke off in the middle"))?;
        if bytes.len() + piece.len() > most {
            return Err(Refusal::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too_large",
                format!("the body is longer than {most} bytes"),
            ));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes.freeze())
}
