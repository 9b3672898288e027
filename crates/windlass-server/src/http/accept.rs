//! The accept loop. Each connection is a task of its own, with a place, a deadline for every wait, and a share in the drain.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use futures_util::future::{Either, select};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use windlass_domain::Runtime;

use super::drain::Draining;
use super::limits::Limits;
use super::patient::Patient;
use super::places::{Busy, ForAnybody, Place, Places};
use super::timer::RuntimeTimer;

/// When no connection can be accepted: others will end.
const PAUSE: Duration = Duration::from_millis(50);

pub struct Listener {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    talk: Talk,
}

/// What every connection is given.
#[derive(Clone)]
struct Talk {
    router: Router,
    runtime: Arc<dyn Runtime>,
    limits: Limits,
    places: Places,
    draining: Draining,
}

impl Listener {
    pub async fn bind(address: SocketAddr, tls: Option<Arc<ServerConfig>>, made: Made) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let Made { router, runtime, limits, draining } = made;
        let talk = Talk { router, runtime, limits, places: Places::new(limits.connections), draining };
        Ok(Self { listener, tls: tls.map(TlsAcceptor::from), talk })
    }

    pub fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until the drain begins, and then until every connection has ended or `at_most` so long.
    pub async fn run(self, at_most: Duration) {
        let Self { listener, tls, talk } = self;
        let mut draining = talk.draining.clone();
        loop {
            let accepted = {
                let accepting = pin!(listener.accept());
                match select(accepting, pin!(draining.begins())).await {
                    Either::Left((accepted, _)) => accepted,
                    Either::Right(_) => break,
                }
            };
            match accepted {
                Ok((stream, _)) => talk.clone().spawn(stream, tls.clone()),
                Err(_) => talk.runtime.sleep(PAUSE).await,
            }
        }
        // Whoever knocks now is told at once that nobody is there.
        drop(listener);
        select(pin!(talk.places.empty()), talk.runtime.sleep(at_most)).await;
    }
}

/// What a listener is made of.
pub struct Made {
    pub router: Router,
    pub runtime: Arc<dyn Runtime>,
    pub limits: Limits,
    pub draining: Draining,
}

impl Talk {
    fn spawn(self, stream: TcpStream, tls: Option<TlsAcceptor>) {
        let Some(place) = self.places.take().map(Arc::new) else { return };
        let runtime = Arc::clone(&self.runtime);
        runtime.spawn(Box::pin(async move {
            let talking = pin!(self.talk(stream, tls, Arc::clone(&place)));
            select(talking, pin!(place.is_wanted())).await;
        }));
    }

    async fn talk(self, stream: TcpStream, tls: Option<TlsAcceptor>, place: Arc<Place>) {
        // What goes out is small and wanted now; whoever cannot have it so has it a little later.
        let _delayed = stream.set_nodelay(true);
        match tls {
            None => self.serve(stream, place).await,
            Some(tls) => {
                let shaking = pin!(tls.accept(stream));
                let shaken = select(shaking, self.runtime.sleep(self.limits.head_patience)).await;
                if let Either::Left((Ok(stream), _)) = shaken {
                    self.serve(stream, place).await;
                }
            }
        }
    }

    /// Whoever goes away in the middle, or stays too long, is nobody's concern.
    async fn serve<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(mut self, stream: S, place: Arc<Place>) {
        let stream = Patient::new(stream, Arc::clone(&self.runtime), self.limits.write_patience);
        let router = TowerToHyperService::new(self.router.clone());
        let answering = service_fn(move |mut request: hyper::Request<Incoming>| {
            let busy = Arc::new(Busy::at(Arc::clone(&place)));
            // What becomes of a connection by an upgrade holds its place as well.
            request.extensions_mut().insert(Arc::clone(&busy));
            let answered = router.call(request);
            async move {
                let answer = answered.await?;
                let busy = Some(busy).filter(|_| answer.extensions().get::<ForAnybody>().is_none());
                Ok::<_, Infallible>(answer.map(|body| Body::new(Until { body, _busy: busy })))
            }
        });
        let serving = http1::Builder::new()
            .timer(RuntimeTimer(Arc::clone(&self.runtime)))
            .header_read_timeout(self.limits.head_patience)
            .max_buf_size(self.limits.head)
            // The one before bounds what is kept, and lets through what comes in one piece.
            .max_header_size(self.limits.head)
            // Whoever has asked need say no more to hear the answer (RFC 9112, 9.6). Whoever is gone is noticed by what they are sent.
            .half_close(true)
            .serve_connection(TokioIo::new(stream), answering)
            .with_upgrades();
        let mut serving = pin!(serving);
        let is_over = matches!(select(serving.as_mut(), pin!(self.draining.begins())).await, Either::Left(_));
        if !is_over {
            serving.as_mut().graceful_shutdown();
            let _gone_or_done = serving.await;
        }
    }
}

/// A body, with the place at which it is sent.
struct Until {
    body: Body,
    _busy: Option<Arc<Busy>>,
}

impl http_body::Body for Until {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.body.size_hint()
    }
}
