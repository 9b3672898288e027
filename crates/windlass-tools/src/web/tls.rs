//! TLS to servers that this machine trusts. The system's authorities are read once, when the first `https` address is
//! asked for: reading them takes longer than many a program runs.

use std::io;
use std::sync::{Arc, OnceLock};

use rustls::RootCertStore;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

#[derive(Default)]
pub struct Tls {
    connector: OnceLock<Result<TlsConnector, String>>,
}

impl Tls {
    /// Trusts these and no others.
    pub fn trusting(authorities: RootCertStore) -> Self {
        Self { connector: OnceLock::from(connector(authorities)) }
    }

    /// Reads the system's authorities where nobody has yet. Blocking.
    pub fn prepare(&self) -> Result<TlsConnector, String> {
        self.connector.get_or_init(|| connector(system_authorities()?)).clone()
    }
}

pub async fn secure(connector: &TlsConnector, host: &str, stream: TcpStream) -> Result<TlsStream<TcpStream>, String> {
    let name = ServerName::try_from(host.to_owned()).map_err(|_| format!("no certificate can name {host}"))?;
    let told = |error: io::Error| format!("{host} cannot be talked to securely ({error})");
    connector.connect(name, stream).await.map_err(told)
}

fn connector(authorities: RootCertStore) -> Result<TlsConnector, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be set up ({error})"))?
        .with_root_certificates(authorities)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

fn system_authorities() -> Result<RootCertStore, String> {
    let mut authorities = RootCertStore::empty();
    authorities.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    match authorities.is_empty() {
        true => Err("this machine has no certificate authorities, so that no https server can be trusted".to_owned()),
        false => Ok(authorities),
    }
}
