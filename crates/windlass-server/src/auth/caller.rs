//! Whoever asks: the name by which records know them, the tenant whose things they see, and what they may do with them.

use std::collections::BTreeSet;

use axum::extract::FromRequestParts;
use http::request::Parts;
use windlass_api::Scope;
use windlass_domain::Tenant;

use super::token::fingerprint;
use crate::port::Hook;
use crate::problems::Refusal;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub name: String,
    pub tenant: Tenant,
    pub scopes: BTreeSet<Scope>,
    /// Of their token, by which it is found again.
    pub(crate) fingerprint: [u8; 32],
}

impl Caller {
    /// Good for telling of events, and for nothing else. No token has such a name.
    pub(crate) fn hooked(hook: &Hook, path: &str) -> Self {
        let (name, tenant) = (format!("webhook {}", hook.source), hook.tenant.clone());
        Self { name, tenant, scopes: BTreeSet::new(), fingerprint: fingerprint(path) }
    }

    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope)
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        parts.extensions.get::<Self>().cloned().ok_or_else(Refusal::nobody)
    }
}
