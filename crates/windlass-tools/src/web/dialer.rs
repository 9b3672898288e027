//! Who connects. What an agent names is reached only where it is public, and by the very address that was judged; what an
//! operator configured may be anywhere.

use std::io;
use std::sync::Arc;

use tokio::net::TcpStream;
use windlass_domain::BoxFuture;
use windlass_sandbox::{Addresses, Hosts, Machine, Outside, Spelling, dial};

pub trait Dialer: Send + Sync {
    /// A connection to this host, or why there is none, for a model.
    fn connect<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, Result<TcpStream, String>>;
}

/// For addresses that an operator wrote down.
#[derive(Debug, Clone, Copy)]
pub struct Anywhere;

impl Dialer for Anywhere {
    fn connect<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, Result<TcpStream, String>> {
        let told = move |error: io::Error| format!("{host}:{port} cannot be reached ({error})");
        Box::pin(async move { TcpStream::connect((host, port)).await.map_err(told) })
    }
}

/// For addresses that an agent names: public ones, and those that the operator's list has with their port.
#[derive(Clone)]
pub struct Public {
    outside: Arc<dyn Outside>,
    listed: Hosts,
}

impl Public {
    pub fn new(listed: Hosts) -> Self {
        Self::over(Arc::new(Machine), listed)
    }

    /// Over another network than this machine's.
    pub fn over(outside: Arc<dyn Outside>, listed: Hosts) -> Self {
        Self { outside, listed }
    }
}

impl Dialer for Public {
    fn connect<'a>(&'a self, host: &'a str, port: u16) -> BoxFuture<'a, Result<TcpStream, String>> {
        Box::pin(async move {
            // Who names a port of a host in the list means that very service, wherever it is; nobody else is asked of the list.
            let addresses = self.listed.judge(&Spelling::of(host), port).unwrap_or(Addresses::Public);
            if addresses == Addresses::Public && is_of_another_service(port) {
                return Err(format!("port {port} is not one of the web: what is there is no web server"));
            }
            let reached = dial(self.outside.as_ref(), host, port, addresses).await;
            reached.map_err(|refused| format!("failed to {refused}"))
        })
    }
}

/// Mail, shells and the like, which should not be talked to in a language that they may misunderstand.
const fn is_of_another_service(port: u16) -> bool {
    port < 1024 && port != 80 && port != 443
}
