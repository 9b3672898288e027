//! Whoever asks: the name by which records know them, the tenant whose things they see, and what they may do with them.

use std::collections::BTreeSet;

use axum::extract::FromRequestParts;
use http::request::Parts;
use windlass_api::Scope;
use windlass_domain::Tenant;

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
