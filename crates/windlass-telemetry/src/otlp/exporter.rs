//! Sends to a collector what there is to send, now and then and at the end. The queue is bounded, each sending has its time, and
//! what did not go through is dropped and counted: a run never waits for it.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use http::{Method, Request, header};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use windlass_domain::{Runtime, Wall};

use super::collector::{Collector, Dial};
use super::encode;
use super::span::Span;
use crate::body::Whole;
use crate::metric::Metric;
use crate::registry::Registry;

const MOST_SPANS: usize = 4_096;
const EVERY: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(5);
const AT_THE_END: Duration = Duration::from_secs(1);
const DROPPED: &str = "otlp.spans.dropped";

pub struct Otlp {
    collector: Collector,
    dial: Arc<dyn Dial>,
    registry: Arc<Registry>,
    runtime: Arc<dyn Runtime>,
    since: Wall,
    waiting: Mutex<VecDeque<Span>>,
    /// Held while something is sent, so that the end waits for it.
    sending: tokio::sync::Mutex<()>,
}

impl Otlp {
    /// Begins to send.
    pub fn start(
        collector: Collector,
        dial: Arc<dyn Dial>,
        registry: Arc<Registry>,
        runtime: Arc<dyn Runtime>,
    ) -> Arc<Self> {
        let since = runtime.wall();
        let (waiting, sending) = (Mutex::default(), tokio::sync::Mutex::default());
        let otlp = Arc::new(Self { collector, dial, registry, runtime, since, waiting, sending });
        let sender = Arc::clone(&otlp);
        otlp.runtime.spawn(Box::pin(async move {
            loop {
                sender.runtime.sleep(EVERY).await;
                sender.send_all().await;
            }
        }));
        otlp
    }

    pub fn add(&self, span: Span) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < MOST_SPANS {
            waiting.push_back(span);
        } else {
            self.registry.add(Metric::count(DROPPED, 1));
        }
    }

    /// The last chance, and a short one.
    pub async fn flush(&self) {
        self.within(AT_THE_END, self.send_all()).await;
    }

    async fn send_all(&self) {
        let _in_order = self.sending.lock().await;
        let spans: Vec<Span> = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect();
        if !spans.is_empty() && !self.post("/v1/traces", &encode::traces(&spans)).await {
            self.registry.add(Metric::count(DROPPED, spans.len() as u64));
        }
        let metrics = encode::metrics(&self.registry, self.since, self.runtime.wall());
        self.post("/v1/metrics", &metrics).await;
    }

    /// Whether it was taken.
    async fn post(&self, path: &str, body: &serde_json::Value) -> bool {
        let sent = self.within(PATIENCE, self.try_post(path, body.to_string())).await;
        sent.is_some_and(|taken| taken.unwrap_or(false))
    }

    async fn try_post(&self, path: &str, body: String) -> Option<bool> {
        let stream = self.dial.dial(&self.collector).await.ok()?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.ok()?;
        self.runtime.spawn(Box::pin(async move {
            let _its_sender_knows = connection.await;
        }));
        let request = Request::builder()
            .method(Method::POST)
            .uri(format!("{}{path}", self.collector.path))
            .header(header::HOST, self.collector.authority())
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::USER_AGENT, concat!("windlass/", env!("CARGO_PKG_VERSION")))
            .header(header::CONNECTION, "close")
            .body(Whole::new(body))
            .ok()?;
        Some(sender.send_request(request).await.ok()?.status().is_success())
    }

    async fn within<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        let (mut work, mut limit) = (pin!(work), self.runtime.sleep(limit));
        std::future::poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => limit.as_mut().poll(context).map(|()| None),
        })
        .await
    }
}
