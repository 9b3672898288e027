//! The way out of a sandbox that is about to be opened: the proxy that serves it, and the variables that name the proxy.

use std::{collections::BTreeMap, ffi::OsString, io, os::fd::OwnedFd, sync::Arc};

use crate::{Egress, Error, Network, egress::Proxy};

/// Some programs know the one, some the other.
const PROXY: [&str; 4] = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"];
const NO_PROXY: [&str; 2] = ["NO_PROXY", "no_proxy"];
/// Where a command's own servers are.
const OWN: &str = "localhost,127.0.0.1,::1";

pub(crate) struct WayOut {
    egress: Arc<Egress>,
    /// Where the supervisor is to listen. Zero for whichever port is free.
    pub(crate) port: u16,
}

impl WayOut {
    pub(crate) fn of(network: &Network, port: u16) -> Option<Self> {
        match network {
            Network::None => None,
            Network::Restricted(egress) => Some(Self { egress: Arc::clone(egress), port }),
        }
    }

    /// Serves what the supervisor listens on, and says so to every command. What the operator has set stays.
    pub(crate) fn open(
        self,
        listener: Option<OwnedFd>,
        env: &mut BTreeMap<OsString, OsString>,
    ) -> Result<Proxy, Error> {
        const DOING: &str = "open the sandbox's way out";
        let listener = listener.ok_or_else(|| Error::io(DOING)(io::Error::other("the supervisor does not listen")))?;
        let listener = std::net::TcpListener::from(listener);
        let address = listener.local_addr().map_err(Error::io(DOING))?;
        let named = PROXY.map(|name| (name, format!("http://{address}")));
        let spared = NO_PROXY.map(|name| (name, OWN.to_owned()));
        for (name, value) in named.into_iter().chain(spared) {
            env.entry(name.into()).or_insert_with(|| value.into());
        }
        Proxy::serve(listener, self.egress).map_err(Error::io(DOING))
    }
}
