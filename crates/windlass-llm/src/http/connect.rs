//! From a base URL to a connection that speaks HTTP/1.1: names looked up, addresses tried in turn, TLS by rustls with the
//! system's certificates.

use std::sync::Arc;
use std::time::Duration;

use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use windlass_domain::Runtime;

use crate::error::{Error, Failure};
use crate::http::{BaseUrl, RopeBody};
use crate::watchdog::Watchdog;

/// An address that swallows packets must not use up the time of the ones after it.
const PER_ADDRESS: Duration = Duration::from_secs(3);

pub struct Connector {
    tls: Option<(TlsConnector, ServerName<'static>)>,
    runtime: Arc<dyn Runtime>,
    host: String,
    port: u16,
}

impl Connector {
    pub fn new(url: &BaseUrl, runtime: Arc<dyn Runtime>) -> Result<Self, Error> {
        let tls = match url.is_tls {
            true => Some((tls_connector()?, server_name(&url.host)?)),
            false => None,
        };
        Ok(Self { tls, runtime, host: url.host.clone(), port: url.port })
    }

    pub async fn connect(&self, limit: Duration) -> Result<SendRequest<RopeBody>, Failure> {
        let deadline = self.runtime.now() + limit;
        let connecting = Box::pin(self.handshake());
        Watchdog::new(self.runtime.clone()).guard(deadline, connecting).await.map_err(|_| {
            Failure::transient(format!("{}:{} took no connection for {} s", self.host, self.port, limit.as_secs()))
        })?
    }

    async fn handshake(&self) -> Result<SendRequest<RopeBody>, Failure> {
        let stream = self.dial().await.map_err(|error| self.unreachable(&error))?;
        // Requests are written whole; waiting for more to send would only delay them. Failing to say so is harmless.
        let _ = stream.set_nodelay(true);
        match &self.tls {
            None => self.speak_http(stream).await,
            Some((connector, name)) => {
                let stream = connector.connect(name.clone(), stream).await.map_err(|error| self.no_tls(&error))?;
                self.speak_http(stream).await
            }
        }
    }

    async fn dial(&self) -> std::io::Result<TcpStream> {
        let mut last = std::io::Error::new(std::io::ErrorKind::NotFound, "the name has no address");
        for address in tokio::net::lookup_host((self.host.as_str(), self.port)).await? {
            let deadline = self.runtime.now() + PER_ADDRESS;
            match Watchdog::new(self.runtime.clone()).guard(deadline, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => last = error,
                Err(_) => last = std::io::ErrorKind::TimedOut.into(),
            }
        }
        Err(last)
    }

    async fn speak_http<S>(&self, stream: S) -> Result<SendRequest<RopeBody>, Failure>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| Failure::transient(format!("the connection failed ({error})")))?;
        self.runtime.spawn(Box::pin(async move {
            // Whoever uses the connection hears of its end through the request that it breaks.
            let _ = connection.await;
        }));
        Ok(sender)
    }

    fn unreachable(&self, error: &std::io::Error) -> Failure {
        Failure::transient(format!("{}:{} cannot be reached ({error})", self.host, self.port))
    }

    /// A certificate that is not trusted stays so; anything else may have been the network.
    fn no_tls(&self, error: &std::io::Error) -> Failure {
        let cause = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
        match cause {
            Some(rustls::Error::InvalidCertificate(problem)) => Failure::Final(Error::Misconfigured(format!(
                "{} has a certificate that this machine does not trust ({problem}); check the base URL, or install its authority",
                self.host
            ))),
            _ => Failure::transient(format!("TLS with {}:{} failed ({error})", self.host, self.port)),
        }
    }
}

fn server_name(host: &str) -> Result<ServerName<'static>, Error> {
    ServerName::try_from(host.to_owned())
        .map_err(|_| Error::Misconfigured("the model server's base URL has a host that no certificate can name".into()))
}

fn tls_connector() -> Result<TlsConnector, Error> {
    let mut roots = rustls::RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        let problem = "this machine has no certificate authorities, so no https server can be trusted; install ca-certificates";
        return Err(Error::Misconfigured(problem.into()));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Misconfigured(format!("TLS cannot be set up ({error})")))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}
