//! Where a collector listens, and how one gets there. TLS is not made here: whoever has it hands in a `Dial` of theirs.

use std::io;

use http::Uri;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use windlass_domain::BoxFuture;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collector {
    pub host: String,
    pub port: u16,
    pub is_tls: bool,
    /// Before `/v1/traces`.
    pub(super) path: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotACollector;

impl std::str::FromStr for Collector {
    type Err = NotACollector;

    fn from_str(text: &str) -> Result<Self, NotACollector> {
        let uri: Uri = text.parse().map_err(|_| NotACollector)?;
        let (is_tls, usual_port) = match uri.scheme_str() {
            Some("http") => (false, 80),
            Some("https") => (true, 443),
            _ => return Err(NotACollector),
        };
        let authority = uri.authority().ok_or(NotACollector)?;
        if authority.as_str().contains('@') || uri.query().is_some() || authority.host().is_empty() {
            return Err(NotACollector);
        }
        let port = authority.port_u16().unwrap_or(usual_port);
        let path = uri.path().trim_end_matches('/').to_owned();
        Ok(Self { host: authority.host().to_owned(), port, is_tls, path })
    }
}

impl Collector {
    pub(super) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

/// What requests go through.
pub trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

pub trait Dial: Send + Sync {
    fn dial<'a>(&'a self, collector: &'a Collector) -> BoxFuture<'a, io::Result<Box<dyn Connection>>>;
}

/// Without TLS; a collector that wants it is not reached.
#[derive(Debug, Clone, Copy)]
pub struct Plainly;

impl Dial for Plainly {
    fn dial<'a>(&'a self, collector: &'a Collector) -> BoxFuture<'a, io::Result<Box<dyn Connection>>> {
        Box::pin(async move {
            if collector.is_tls {
                return Err(io::ErrorKind::Unsupported.into());
            }
            let stream = TcpStream::connect(collector.authority()).await?;
            Ok(Box::new(stream) as Box<dyn Connection>)
        })
    }
}
