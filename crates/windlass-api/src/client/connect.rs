//! From an address to a connection that speaks HTTP/1.1: names looked up, addresses tried in turn, TLS by rustls with the system's
//! certificates (or those that SSL_CERT_FILE names).

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::surroundings::within;
use super::{Address, Error, Surroundings};

/// An address that swallows packets must not use up the time of the ones after it.
const PER_ADDRESS: Duration = Duration::from_secs(5);
const HANDSHAKE: Duration = Duration::from_secs(15);

/// Must be waited for beside whatever is sent and read: nothing moves otherwise.
pub(super) type Wire = Pin<Box<dyn Future<Output = Result<(), hyper::Error>> + Send>>;

pub(super) struct Connected {
    pub(super) sender: SendRequest<WholeBody>,
    pub(super) wire: Wire,
}

/// Bytes both ways, encrypted where the address says so.
pub type Dialled = Pin<Box<dyn Duplex>>;

pub trait Duplex: AsyncRead + AsyncWrite + Send {}

impl<S: AsyncRead + AsyncWrite + Send> Duplex for S {}

pub(super) async fn connect(
    address: &Address,
    tls: Option<&Arc<ClientConfig>>,
    around: &dyn Surroundings,
) -> Result<Connected, Error> {
    speak_http(address, open(address, tls, around).await?).await
}

pub(super) async fn open(
    address: &Address,
    tls: Option<&Arc<ClientConfig>>,
    around: &dyn Surroundings,
) -> Result<Dialled, Error> {
    let stream = dial(address, around).await?;
    // Requests are written whole; waiting for more to send would only delay them. Failing to say so is harmless.
    let _is_harmless = stream.set_nodelay(true);
    let Some(tls) = tls else { return Ok(Box::pin(stream)) };
    let server = || address.to_string();
    let name = ServerName::try_from(address.host.clone()).map_err(|_| Error::BadAddress(server()))?;
    let shaken = within(around, HANDSHAKE, TlsConnector::from(Arc::clone(tls)).connect(name, stream)).await;
    let shaken = shaken.ok_or_else(|| Error::Slow { server: server(), seconds: HANDSHAKE.as_secs() })?;
    Ok(Box::pin(shaken.map_err(|error| no_tls(address, &error))?))
}

async fn dial(address: &Address, around: &dyn Surroundings) -> Result<TcpStream, Error> {
    let unreachable = |why: String| Error::Unreachable { server: address.to_string(), why };
    let found = within(around, PER_ADDRESS, tokio::net::lookup_host((address.host.as_str(), address.port))).await;
    let found = found.ok_or_else(|| unreachable("its name is not found in time".to_owned()))?;
    let mut last = "its name has no address".to_owned();
    for candidate in found.map_err(|error| unreachable(error.to_string()))? {
        match within(around, PER_ADDRESS, TcpStream::connect(candidate)).await {
            Some(Ok(stream)) => return Ok(stream),
            Some(Err(error)) => last = error.to_string(),
            None => last = "nobody takes the connection".to_owned(),
        }
    }
    Err(unreachable(last))
}

async fn speak_http(address: &Address, stream: Dialled) -> Result<Connected, Error> {
    let shaken = http1::handshake(TokioIo::new(stream)).await;
    let (sender, wire) =
        shaken.map_err(|error| Error::Broken { server: address.to_string(), why: error.to_string() })?;
    Ok(Connected { sender, wire: Box::pin(wire) })
}

/// A certificate that is not trusted stays so; what does not even speak TLS is something else; the rest may have been the network.
fn no_tls(address: &Address, error: &std::io::Error) -> Error {
    let server = address.to_string();
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(problem)) => Error::Untrusted { server, why: problem.to_string() },
        Some(rustls::Error::InvalidMessage(_)) => {
            Error::NotWindlass { server, why: "it does not speak TLS".to_owned() }
        }
        _ => Error::Broken { server, why: error.to_string() },
    }
}

/// None for plain http.
pub(super) fn tls_for(address: &Address) -> Result<Option<Arc<ClientConfig>>, Error> {
    if !address.is_tls {
        return Ok(None);
    }
    let untrusted = |why: String| Error::Untrusted { server: address.to_string(), why };
    let mut authorities = RootCertStore::empty();
    authorities.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if authorities.is_empty() {
        return Err(untrusted("this machine has no certificate authorities; install ca-certificates".to_owned()));
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| untrusted(error.to_string()))?
        .with_root_certificates(authorities)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Some(Arc::new(config)))
}

/// A request's body, which is there as a whole.
pub(super) struct WholeBody(pub(super) Option<Bytes>);

impl http_body::Body for WholeBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
        std::task::Poll::Ready(self.0.take().map(|bytes| Ok(http_body::Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(self.0.as_ref().map_or(0, Bytes::len) as u64)
    }
}
