//! `[sandbox] network` and `allowed_hosts` in `windlass.toml`: what commands may reach, and where data of an external context
//! may go unasked.

use std::sync::Arc;

use serde::Deserialize;
use windlass_sandbox::{BadHost, Egress, Hosts, Network};

/// Whether commands reach anything at all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkChoice {
    #[default]
    None,
    /// The allowed hosts, by a proxy.
    Restricted,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Vec<String>")]
pub struct AllowedHosts(Hosts);

impl TryFrom<Vec<String>> for AllowedHosts {
    type Error = BadHost;

    fn try_from(entries: Vec<String>) -> Result<Self, BadHost> {
        Hosts::parse(entries).map(Self)
    }
}

impl AllowedHosts {
    pub fn network(&self, choice: NetworkChoice) -> Network {
        match choice {
            NetworkChoice::None => Network::None,
            NetworkChoice::Restricted => Network::Restricted(Arc::new(Egress::new(self.0.clone()))),
        }
    }

    pub fn hosts(&self) -> &Hosts {
        &self.0
    }

    pub fn applied_to(&self, law: windlass_engine::Law) -> windlass_engine::Law {
        let allowed_hosts = self.0.written().map(str::to_owned).collect();
        windlass_engine::Law { allowed_hosts, ..law }
    }

    pub fn objection(&self, choice: NetworkChoice) -> Option<String> {
        let is_idle = choice == NetworkChoice::Restricted && *self == Self::default();
        is_idle.then(|| "`network = \"restricted\"` reaches nothing: name hosts in `allowed_hosts`".to_owned())
    }
}
