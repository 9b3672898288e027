//! A socket of this machine on which an endpoint answers, as whoever owns the listener would have it.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use windlass_domain::Runtime;
use windlass_mcp::serve::{Body, Endpoint};
use windlass_runtime::TokioRuntime;

pub struct Listening {
    pub address: SocketAddr,
}

impl Listening {
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Until the test ends.
    pub async fn start(endpoint: Endpoint) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let runtime = TokioRuntime::current();
        let endpoint = Arc::new(endpoint);
        let connections = runtime.clone();
        runtime.spawn(Box::pin(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let endpoint = Arc::clone(&endpoint);
                connections.spawn(Box::pin(async move {
                    let answer = service_fn(|request| {
                        let endpoint = Arc::clone(&endpoint);
                        async move {
                            let response = endpoint.answer(request).await;
                            Ok::<_, Infallible>(response.map(Body::boxed::<std::io::Error>))
                        }
                    });
                    // A client that goes away in the middle is its own business.
                    let _ = http1::Builder::new()
                        .header_read_timeout(None)
                        .serve_connection(TokioIo::new(stream), answer)
                        .await;
                }));
            }
        }));
        Self { address }
    }
}
