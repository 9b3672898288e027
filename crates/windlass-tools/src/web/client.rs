//! One request over one connection, HTTP/1.1 by hyper, bounded in every direction: the head, the body, and the time for all
//! of it together. Nothing is followed, kept or sent twice here.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::{Either, select};
use http::{HeaderMap, HeaderValue, Method, Request, header};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use windlass_domain::Runtime;

use super::dialer::Dialer;
use super::location::Location;
use super::tls::{Tls, secure};
use crate::web::body::Whole;

/// Of the answer's head. Larger ones are refused by hyper.
const LARGEST_HEAD: usize = 64 * 1024;
const MOST_HEADERS: usize = 200;

pub struct Client {
    pub dialer: Arc<dyn Dialer>,
    pub runtime: Arc<dyn Runtime>,
    pub tls: Arc<Tls>,
}

/// What is asked.
pub struct Question<'a> {
    pub method: Method,
    pub location: &'a Location,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// From the first packet to the last byte.
    pub time: Duration,
    pub body_bytes: usize,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
    /// There was more.
    pub is_cut: bool,
}

/// An answer whose body is still to come. Dropping it ends the connection.
pub struct Opened {
    pub status: u16,
    pub headers: HeaderMap,
    host: String,
    body: Incoming,
}

impl Opened {
    /// The next bytes of the body, unless it is over.
    pub async fn more(&mut self) -> Result<Option<Bytes>, String> {
        loop {
            let frame = poll_fn(|context| Pin::new(&mut self.body).poll_frame(context)).await;
            let Some(frame) = frame.transpose().map_err(|error| broken(&self.host, &error))? else { return Ok(None) };
            match frame.into_data() {
                Ok(data) if !data.is_empty() => return Ok(Some(data)),
                // Nothing, or trailers.
                _ => {}
            }
        }
    }
}

impl<'a> Question<'a> {
    pub fn get(location: &'a Location) -> Self {
        Self { method: Method::GET, location, headers: HeaderMap::new(), body: Vec::new() }
    }
}

impl Client {
    /// The answer, or why there is none, for a model.
    pub async fn ask(&self, question: Question<'_>, limits: Limits) -> Result<Answer, String> {
        let host = question.location.host.clone();
        let asking = Box::pin(self.exchange(question, limits.body_bytes));
        match select(asking, self.runtime.sleep(limits.time)).await {
            Either::Left((answered, _)) => answered,
            Either::Right(_) => {
                Err(format!("{host} took longer than {:.1} s; it was given up", limits.time.as_secs_f64()))
            }
        }
    }

    async fn exchange(&self, question: Question<'_>, most_bytes: usize) -> Result<Answer, String> {
        let mut opened = self.open(question).await?;
        let (body, is_cut) = collect(&mut opened, most_bytes).await?;
        Ok(Answer { status: opened.status, headers: opened.headers, body, is_cut })
    }

    /// The head of the answer, as soon as it is there. How long to wait and how much to read is the caller's.
    pub async fn open(&self, question: Question<'_>) -> Result<Opened, String> {
        let Location { is_tls, host, port, .. } = question.location;
        let connector = match is_tls {
            false => None,
            true => {
                let tls = Arc::clone(&self.tls);
                Some(self.runtime.blocking(move || tls.prepare()).await?)
            }
        };
        let stream = self.dialer.connect(host, *port).await?;
        match connector {
            None => self.speak(stream, question).await,
            Some(connector) => self.speak(secure(&connector, host, stream).await?, question).await,
        }
    }

    async fn speak<S>(&self, stream: S, question: Question<'_>) -> Result<Opened, String>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let host = &question.location.host;
        let broken = |error: hyper::Error| broken(host, &error);
        let mut handshake = http1::Builder::new();
        handshake.max_buf_size(LARGEST_HEAD).max_headers(MOST_HEADERS);
        let (mut sender, connection) = handshake.handshake(TokioIo::new(stream)).await.map_err(broken)?;
        self.runtime.spawn(Box::pin(async move {
            // Whoever asked hears of its end through the answer that breaks off.
            let _ = connection.await;
        }));
        let request = request(&question)?;
        let (head, body) = sender.send_request(request).await.map_err(broken)?.into_parts();
        Ok(Opened { status: head.status.as_u16(), headers: head.headers, host: host.clone(), body })
    }
}

fn broken(host: &str, error: &hyper::Error) -> String {
    format!("{host} did not answer as web servers do ({error})")
}

fn request(question: &Question<'_>) -> Result<Request<Whole>, String> {
    let Question { method, location, headers, body } = question;
    let bad = |_| "the address has characters that HTTP cannot carry".to_owned();
    let mut request = Request::new(Whole::new(Bytes::from(body.clone())));
    *request.method_mut() = method.clone();
    *request.uri_mut() = location.path.parse().map_err(|_| "the path is not one that HTTP can carry".to_owned())?;
    *request.headers_mut() = headers.clone();
    let authority = HeaderValue::from_str(&location.authority()).map_err(bad)?;
    request.headers_mut().insert(header::HOST, authority);
    let agent = HeaderValue::from_static(concat!("windlass/", env!("CARGO_PKG_VERSION")));
    request.headers_mut().insert(header::USER_AGENT, agent);
    Ok(request)
}

/// At most `most_bytes` of it, and whether there was more.
async fn collect(opened: &mut Opened, most_bytes: usize) -> Result<(Vec<u8>, bool), String> {
    let mut bytes = Vec::new();
    loop {
        let Some(data) = opened.more().await? else { return Ok((bytes, false)) };
        let room = most_bytes - bytes.len();
        bytes.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            return Ok((bytes, true));
        }
    }
}
