//! TLS by rustls, with a certificate and a key from files. These are renewed while a server runs: each handshake looks whether they are what
//! they were. What cannot be used of a renewal is told once, and what was good before goes on.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::port::Journal;
use crate::stamp::Stamp;

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
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    renewed: Arc<Renewed>,
}

impl Tls {
    /// `journal` hears what is wrong with a renewal.
    pub fn telling(&self, journal: &Arc<dyn Journal>) -> Arc<ServerConfig> {
        let _told_already = self.renewed.journal.set(Arc::clone(journal));
        Arc::clone(&self.config)
    }
}

/// Or all that is wrong with them.
pub fn tls_from_files(certificate: &Path, key: &Path) -> Result<Tls, Vec<BadTls>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let files = Files { certificate: certificate.to_owned(), key: key.to_owned() };
    // Before they are read: what is written meanwhile is read again.
    let stamps = files.stamps();
    let known = Known { stamps, pair: Arc::new(files.read(&provider)?) };
    let renewed =
        Renewed { files, provider: Arc::clone(&provider), known: Mutex::new(known), journal: OnceLock::new() };
    let renewed = Arc::new(renewed);
    let resolver: Arc<dyn ResolvesServerCert> = Arc::<Renewed>::clone(&renewed);
    let builder = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| vec![BadTls::Pair(error.to_string())])?;
    let mut config = builder.with_no_client_auth().with_cert_resolver(resolver);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Tls { config: Arc::new(config), renewed })
}

struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

impl Files {
    fn stamps(&self) -> [Option<Stamp>; 2] {
        [Stamp::of(&self.certificate), Stamp::of(&self.key)]
    }

    fn read(&self, provider: &CryptoProvider) -> Result<CertifiedKey, Vec<BadTls>> {
        let private = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|error| BadTls::Key { path: self.key.clone(), error: error.to_string() });
        match (chain_in(&self.certificate), private) {
            (Ok(chain), Ok(private)) => {
                CertifiedKey::from_der(chain, private, provider).map_err(|error| vec![BadTls::Pair(error.to_string())])
            }
            (chain, private) => Err(chain.err().into_iter().chain(private.err()).collect()),
        }
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

/// The newest that the files held and that could be used.
struct Renewed {
    files: Files,
    provider: Arc<CryptoProvider>,
    known: Mutex<Known>,
    journal: OnceLock<Arc<dyn Journal>>,
}

struct Known {
    /// Of the files when they were read last, whether they could be used or not: one that is replaced before the other is read again with it.
    stamps: [Option<Stamp>; 2],
    pair: Arc<CertifiedKey>,
}

impl Renewed {
    fn newest(&self) -> Arc<CertifiedKey> {
        let stamps = self.files.stamps();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.stamps != stamps {
            known.stamps = stamps;
            match self.files.read(&self.provider) {
                Ok(pair) => known.pair = Arc::new(pair),
                Err(bad) => self.complain(&bad),
            }
        }
        Arc::clone(&known.pair)
    }

    fn complain(&self, bad: &[BadTls]) {
        let Some(journal) = self.journal.get() else { return };
        for bad in bad {
            journal.trouble(&format!("TLS: {bad}; the certificate that was there before goes on being shown"));
        }
    }
}

impl ResolvesServerCert for Renewed {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.newest())
    }
}

impl fmt::Debug for Renewed {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Renewed").field("certificate", &self.files.certificate).finish_non_exhaustive()
    }
}
