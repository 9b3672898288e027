//! TLS by rustls, with a certificate and a key from files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

#[derive(Debug, thiserror::Error)]
pub enum BadTls {
    #[error("{}: {error}; it must hold certificates in PEM, the server's own first", .path.display())]
    Certificate { path: PathBuf, error: String },

    #[error("{}: {error}; it must hold one private key in PEM", .path.display())]
    Key { path: PathBuf, error: String },

    #[error("the certificate and the key do not go together: {0}")]
    Pair(String),
}

/// How a server proves who it is.
pub type Tls = Arc<ServerConfig>;

/// Or all that is wrong with them.
pub fn tls_from_files(certificate: &Path, key: &Path) -> Result<Tls, Vec<BadTls>> {
    let private = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| BadTls::Key { path: key.to_owned(), error: error.to_string() });
    match (chain_in(certificate), private) {
        (Ok(chain), Ok(private)) => paired(chain, private).map_err(|bad| vec![bad]),
        (chain, private) => Err(chain.err().into_iter().chain(private.err()).collect()),
    }
}

fn chain_in(certificate: &Path) -> Result<Vec<CertificateDer<'static>>, BadTls> {
    let bad = |error: String| BadTls::Certificate { path: certificate.to_owned(), error };
    let chain: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(certificate).map_err(|error| bad(error.to_string()))?.collect();
    match chain.map_err(|error| bad(error.to_string()))? {
        chain if chain.is_empty() => Err(bad("there is no certificate in it".to_owned())),
        chain => Ok(chain),
    }
}

fn paired(chain: Vec<CertificateDer<'static>>, private: PrivateKeyDer<'static>) -> Result<Tls, BadTls> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| BadTls::Pair(error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| BadTls::Pair(error.to_string()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
