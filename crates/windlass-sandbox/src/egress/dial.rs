//! Connecting to a host by the address that was judged: a name is resolved once, every address it has is looked at, and the
//! connection goes to one of those and is never resolved again.

#![expect(
    clippy::disallowed_methods,
    reason = "deadlines here belong to real connections, which no simulated clock can hurry"
)]

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use tokio::{net::TcpStream, time::timeout};

use super::{
    address::{Spelling, not_public},
    refused::{Reason, Refused},
};
use crate::BoxFuture;

/// For the name and for the connection together.
const PATIENCE: Duration = Duration::from_secs(20);

/// Which of a host's addresses will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Addresses {
    Public,
    /// Somebody who may has said so.
    Any,
}

/// The network out there, or a test's.
pub trait Outside: Send + Sync {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;

    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>>;
}

/// What this machine can reach, names as it resolves them.
#[derive(Debug, Clone, Copy)]
pub struct Machine;

impl Outside for Machine {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }

    fn connect(&self, address: SocketAddr) -> BoxFuture<'_, io::Result<TcpStream>> {
        Box::pin(TcpStream::connect(address))
    }
}

pub async fn dial(outside: &dyn Outside, host: &str, port: u16, addresses: Addresses) -> Result<TcpStream, Refused> {
    let reached = timeout(PATIENCE, reach(outside, &Spelling::of(host), port, addresses)).await;
    let reached = reached.unwrap_or(Err(Reason::TooSlow));
    reached.map_err(|reason| Refused { host: host.to_owned(), port, reason })
}

async fn reach(outside: &dyn Outside, host: &Spelling, port: u16, wanted: Addresses) -> Result<TcpStream, Reason> {
    let addresses = match host {
        Spelling::Nonsense => return Err(Reason::Nonsense),
        Spelling::Address(address) => vec![*address],
        Spelling::Name(name) => outside.resolve(name).await.map_err(Reason::NoAddress)?,
    };
    // All of them: a name with an address of ours among others is no accident.
    if let (Addresses::Public, Some(reason)) = (wanted, addresses.iter().find_map(|address| inside(*address))) {
        return Err(reason);
    }
    let mut last = Reason::NoAddress(io::Error::from(io::ErrorKind::NotFound));
    for address in addresses {
        match outside.connect(SocketAddr::new(address, port)).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = Reason::NoConnection(error),
        }
    }
    Err(last)
}

fn inside(address: IpAddr) -> Option<Reason> {
    not_public(address).map(|what| Reason::NotPublic { address, what })
}
