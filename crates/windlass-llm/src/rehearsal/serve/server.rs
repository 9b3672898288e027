//! The socket: connections are accepted on the loopback address, and each is served in a task of its own.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use windlass_domain::Runtime;

use crate::rehearsal::Script;
use crate::rehearsal::serve::service::Service;

/// When the process has no file descriptor left for a connection: others will end.
const PAUSE: Duration = Duration::from_millis(50);

pub struct Server {
    listener: TcpListener,
    service: Arc<Service>,
    runtime: Arc<dyn Runtime>,
}

impl Server {
    /// Port zero takes a free one.
    pub async fn bind(port: u16, script: Arc<Script>, runtime: Arc<dyn Runtime>) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let service = Arc::new(Service::new(script, runtime.clone()));
        Ok(Self { listener, service, runtime })
    }

    pub fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is dropped.
    pub async fn run(self) {
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => self.serve(stream),
                Err(_) => self.runtime.sleep(PAUSE).await,
            }
        }
    }

    fn serve(&self, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let service = self.service.clone();
        self.runtime.spawn(Box::pin(async move {
            let answer = service_fn(|request| {
                let service = service.clone();
                async move { Ok::<_, std::convert::Infallible>(service.answer(request).await) }
            });
            // A client that goes away in the middle is its own business, and cutting a connection ends in an error by design.
            let _ =
                http1::Builder::new().header_read_timeout(None).serve_connection(TokioIo::new(stream), answer).await;
        }));
    }
}
