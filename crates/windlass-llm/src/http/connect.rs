//! From a base URL to a connection that speaks HTTP/1.1: names looked up, addresses tried in turn, TLS by rustls with the
//! system's certificates.

use std::sync::Arc;
use std::time::Duration;

use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::RootCertStore;
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
            true => Some((tls_connector(system_authorities()?)?, server_name(&url.host)?)),
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

fn system_authorities() -> Result<RootCertStore, Error> {
    let mut authorities = RootCertStore::empty();
    authorities.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if authorities.is_empty() {
        let problem =
            "this machine has no certificate authorities, so no https server can be trusted; install ca-certificates";
        return Err(Error::Misconfigured(problem.into()));
    }
    Ok(authorities)
}

fn tls_connector(authorities: RootCertStore) -> Result<TlsConnector, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Misconfigured(format!("TLS cannot be set up ({error})")))?
        .with_root_certificates(authorities)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests build their own executor")]
mod tests {
    use bytes::Bytes;
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use windlass_runtime::TokioRuntime;

    use super::*;

    const AUTHORITY: &[u8] = include_bytes!("../../tests/fixtures/tls/authority.pem");
    const CERTIFICATE: &[u8] = include_bytes!("../../tests/fixtures/tls/server.pem");
    const KEY: &[u8] = include_bytes!("../../tests/fixtures/tls/server.key");

    /// Answers one request over TLS, if it comes to that.
    async fn serve(listener: tokio::net::TcpListener) {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("defaults")
            .with_no_client_auth()
            .with_single_cert(
                vec![CertificateDer::from_pem_slice(CERTIFICATE).expect("a certificate")],
                PrivateKeyDer::from_pem_slice(KEY).expect("a key"),
            )
            .expect("they match");
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        let (stream, _) = listener.accept().await.expect("a client");
        let Ok(mut stream) = tokio_rustls::TlsAcceptor::from(Arc::new(config)).accept(stream).await else { return };
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
        let _ = stream.read(&mut [0; 4096]).await;
        stream.write_all(b"HTTP/1.1 204 X\r\n\r\n").await.expect("the client listens");
        stream.shutdown().await.expect("the client listens");
    }

    fn connect(certificate_names: &str, authorities: RootCertStore) -> Result<u16, Failure> {
        let executor = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        executor.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let port = listener.local_addr().expect("bound").port();
            let runtime = Arc::new(TokioRuntime::new(tokio::runtime::Handle::current()));
            runtime.spawn(Box::pin(serve(listener)));
            let tls = Some((tls_connector(authorities)?, server_name(certificate_names)?));
            let connector = Connector { tls, runtime, host: "127.0.0.1".into(), port };
            let mut sender = connector.connect(Duration::from_secs(300)).await?;
            let request = http::Request::new(RopeBody::new(vec![Bytes::from_static(b"{}")]));
            Ok(sender.send_request(request).await.expect("an answer").status().as_u16())
        })
    }

    fn our_authority() -> RootCertStore {
        let mut authorities = RootCertStore::empty();
        authorities.add(CertificateDer::from_pem_slice(AUTHORITY).expect("a certificate")).expect("it is one");
        authorities
    }

    #[test]
    fn a_trusted_server_is_talked_to_over_tls() {
        assert_eq!(connect("localhost", our_authority()).expect("it is trusted"), 204);
    }

    #[test]
    fn a_server_that_is_not_trusted_or_another_than_named_is_not() {
        let check = |name: &str, authorities: RootCertStore| match connect(name, authorities) {
            Err(Failure::Final(Error::Misconfigured(problem))) => {
                assert!(problem.contains("does not trust"), "{problem}");
            }
            other => panic!("{other:?}"),
        };
        check("localhost", RootCertStore::empty());
        check("example.org", our_authority());
    }
}
