//! Recordings: which there are, and one as it is sent: the file as far as it has come, a piece at a time.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::fs::File;
use std::io::Read as _;
use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::unfold;
use http::HeaderValue;
use http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use windlass_domain::ExecutionId;

use crate::ask::nothing;
use crate::problems::Refusal;
use crate::service::Service;

const PIECE: usize = 64 << 10;

/// Which of these were recorded.
pub async fn recorded(service: &Service, executions: Vec<ExecutionId>) -> BTreeSet<ExecutionId> {
    let places = service.terminals.clone();
    let is_there = move |execution: &ExecutionId| places.recording_of(*execution).is_file();
    service.runtime.blocking(move || executions.into_iter().filter(is_there).collect()).await
}

/// All that there are, whosever they are, the newest first.
pub async fn recordings(service: &Service) -> Result<Vec<ExecutionId>, Refusal> {
    let places = service.terminals.clone();
    let recorded = service.runtime.blocking(move || places.recorded()).await;
    recorded.map_err(|error| service.broken("the folder of recordings", &error))
}

pub async fn recording(service: Arc<Service>, execution: ExecutionId) -> Result<Response, Refusal> {
    let path = service.terminals.recording_of(execution);
    let opened = service.runtime.blocking(move || File::open(path)).await;
    let file = match opened {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(nothing("recording of", &execution.to_string()));
        }
        opened => opened.map_err(|error| service.broken("a recording", &error))?,
    };
    let pieces = unfold((service, file), |(service, file)| async move {
        let (file, piece) = service.runtime.blocking(move || next(file)).await;
        // One that cannot be read any more ends: a line that is not whole is none.
        let piece = piece.ok().filter(|piece| !piece.is_empty())?;
        Some((Ok::<_, Infallible>(piece), (service, file)))
    });
    let mut response = Response::new(Body::from_stream(pieces));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-asciicast"));
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    Ok(response)
}

fn next(mut file: File) -> (File, std::io::Result<Bytes>) {
    let mut piece = vec![0; PIECE];
    let read = file.read(&mut piece).map(|length| {
        piece.truncate(length);
        Bytes::from(piece)
    });
    (file, read)
}
