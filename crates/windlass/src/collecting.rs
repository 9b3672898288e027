//! How a collector is reached: plainly, or over TLS as this machine trusts it.

use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;
use windlass_domain::{BoxFuture, Runtime};
use windlass_telemetry::{Collector, Connection, Dial};
use windlass_tools::web::{Tls, secure};

pub struct Outward {
    tls: Arc<Tls>,
    runtime: Arc<dyn Runtime>,
}

impl Outward {
    pub fn new(runtime: Arc<dyn Runtime>) -> Self {
        Self { tls: Arc::default(), runtime }
    }

    async fn connect(&self, collector: &Collector) -> io::Result<Box<dyn Connection>> {
        let stream = TcpStream::connect(format!("{}:{}", collector.host, collector.port)).await?;
        if !collector.is_tls {
            return Ok(Box::new(stream));
        }
        let tls = Arc::clone(&self.tls);
        let connector = self.runtime.blocking(move || tls.prepare()).await.map_err(io::Error::other)?;
        let stream = secure(&connector, &collector.host, stream).await.map_err(io::Error::other)?;
        Ok(Box::new(stream))
    }
}

impl Dial for Outward {
    fn dial<'a>(&'a self, collector: &'a Collector) -> BoxFuture<'a, io::Result<Box<dyn Connection>>> {
        Box::pin(self.connect(collector))
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests build their own executor")]
mod tests {
    use rustls::RootCertStore;
    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;
    use windlass_runtime::TokioRuntime;

    use super::*;

    const AUTHORITY: &[u8] = include_bytes!("../../windlass-llm/tests/fixtures/tls/authority.pem");
    const CERTIFICATE: &[u8] = include_bytes!("../../windlass-llm/tests/fixtures/tls/server.pem");
    const KEY: &[u8] = include_bytes!("../../windlass-llm/tests/fixtures/tls/server.key");

    /// Says a word over TLS to whoever comes.
    async fn serve(listener: TcpListener) {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("defaults")
            .with_no_client_auth()
            .with_single_cert(
                vec![CertificateDer::from_pem_slice(CERTIFICATE).expect("a certificate")],
                PrivateKeyDer::from_pem_slice(KEY).expect("a key"),
            )
            .expect("they match");
        let (stream, _) = listener.accept().await.expect("a client");
        if let Ok(mut stream) = tokio_rustls::TlsAcceptor::from(Arc::new(config)).accept(stream).await {
            stream.write_all(b"welcome").await.expect("the client listens");
            stream.shutdown().await.expect("the client listens");
        }
    }

    fn hears(authorities: RootCertStore, host: &str) -> io::Result<String> {
        let executor = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        executor.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let port = listener.local_addr().expect("bound").port();
            let runtime: Arc<dyn Runtime> = Arc::new(TokioRuntime::current());
            runtime.spawn(Box::pin(serve(listener)));
            let outward = Outward { tls: Arc::new(Tls::trusting(authorities)), runtime };
            let collector: Collector = format!("https://{host}:{port}").parse().expect("an address");
            let mut said = String::new();
            outward.dial(&collector).await?.read_to_string(&mut said).await?;
            Ok(said)
        })
    }

    #[test]
    fn a_collector_is_talked_to_over_tls_where_it_is_trusted_and_named() {
        let mut ours = RootCertStore::empty();
        ours.add(CertificateDer::from_pem_slice(AUTHORITY).expect("a certificate")).expect("it is one");
        assert_eq!(hears(ours.clone(), "localhost").expect("trusted"), "welcome");
        assert!(hears(RootCertStore::empty(), "localhost").is_err(), "nobody is trusted");
        assert!(hears(ours, "127.0.0.1").is_err(), "the certificate names another");
    }
}
