//! A WebSocket made of a request (RFC 6455). Who asks, from which page and by which name, was judged before, as with every request.

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use http::header::{
    CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use hyper::upgrade::OnUpgrade;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use windlass_api::TERMINAL_PROTOCOL;

use crate::problems::Refusal;

/// What is answered, and what the connection becomes once it is.
pub struct Upgrading {
    pub answer: Response,
    pub becomes: OnUpgrade,
}

pub fn is_upgrade(method: &Method, headers: &HeaderMap) -> bool {
    *method == Method::GET && says(headers, &UPGRADE, "websocket") && says(headers, &CONNECTION, "upgrade")
}

/// The protocols that are offered, in their order.
pub fn offered(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    words(headers, &SEC_WEBSOCKET_PROTOCOL)
}

pub fn upgrade(request: &mut Request) -> Result<Upgrading, Refusal> {
    let headers = request.headers();
    if !is_upgrade(request.method(), headers) || !says(headers, &SEC_WEBSOCKET_VERSION, "13") {
        return Err(Refusal::new(StatusCode::UPGRADE_REQUIRED, "no_websocket", "this is to be asked as a WebSocket"));
    }
    let key = headers.get(SEC_WEBSOCKET_KEY).filter(|key| key.len() == 24);
    let key = key.ok_or_else(|| {
        Refusal::new(StatusCode::BAD_REQUEST, "bad_websocket", "`Sec-WebSocket-Key` is missing, or is none")
    })?;
    let is_choice = offered(headers).next().is_some();
    if is_choice && !offered(headers).any(|protocol| protocol == TERMINAL_PROTOCOL) {
        let detail = format!("only the protocol `{TERMINAL_PROTOCOL}` is spoken here");
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "bad_protocol", detail).hint("offer it"));
    }
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let accept = HeaderValue::from_str(&derive_accept_key(key.as_bytes()));
    let accept = accept.map_err(|_| Refusal::broken())?;
    let said = answer.headers_mut();
    said.insert(UPGRADE, HeaderValue::from_static("websocket"));
    said.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    said.insert(SEC_WEBSOCKET_ACCEPT, accept);
    if is_choice {
        // Never the ticket, which stands beside it.
        said.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(TERMINAL_PROTOCOL));
    }
    Ok(Upgrading { answer, becomes: hyper::upgrade::on(request) })
}

fn says(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    words(headers, name).any(|said| said.eq_ignore_ascii_case(word))
}

fn words<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim).filter(|word| !word.is_empty())
}
