//! How much of the server one token and one tenant may have at once. A stream of events is answered for as long as somebody listens, so
//! that without a share for each whoever opens enough of them keeps everybody else out. Operators have a part that no other token
//! reaches, and what nobody may have with a token is left for those who ask how the server fares.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use windlass_api::Scope;
use windlass_domain::Tenant;

use crate::auth::Caller;
use crate::http::Busy;
use crate::problems::Refusal;
use crate::service::Service;

const RETRY_AFTER_SECONDS: u64 = 5;

/// Of something that there is so much of: what each has.
#[derive(Debug)]
pub struct Shares {
    bounds: Bounds,
    taken: Mutex<Taken>,
}

/// How many at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    pub token: usize,
    pub tenant: usize,
    /// All that are not operators.
    pub others: usize,
    pub all: usize,
}

#[derive(Debug, Default)]
struct Taken {
    tokens: BTreeMap<(Tenant, String), usize>,
    tenants: BTreeMap<Tenant, usize>,
    others: usize,
    all: usize,
}

/// One of them, until it is dropped.
#[derive(Debug)]
pub struct Share {
    shares: Arc<Shares>,
    token: (Tenant, String),
    is_operator: bool,
}

/// Why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Full {
    Token(usize),
    Tenant(usize),
    All,
}

impl Bounds {
    /// Of so many connections.
    pub fn of_connections(connections: usize) -> Self {
        let part = |eighths: usize| (connections * eighths / 8).max(1);
        Self { token: part(2), tenant: part(4), others: part(6), all: part(7) }
    }

    /// Of so many places for what is large.
    pub fn of_large_bodies(places: usize) -> Self {
        let part = |quarters: usize| (places * quarters / 4).max(1);
        // Whoever waits for a place has a share, too: they bound who waits before others.
        Self { token: part(2), tenant: part(3), others: usize::MAX, all: usize::MAX }
    }
}

impl Shares {
    pub fn new(bounds: Bounds) -> Arc<Self> {
        Arc::new(Self { bounds, taken: Mutex::default() })
    }

    pub fn take(self: &Arc<Self>, caller: &Caller) -> Result<Share, Full> {
        let token = (caller.tenant.clone(), caller.name.clone());
        let is_operator = caller.may(Scope::Admin) && caller.tenant == Tenant::local();
        let mut taken = self.lock();
        let of_token = taken.tokens.get(&token).copied().unwrap_or_default();
        let of_tenant = taken.tenants.get(&token.0).copied().unwrap_or_default();
        let Bounds { token: most, tenant, others, all } = self.bounds;
        if of_token >= most {
            return Err(Full::Token(most));
        }
        if !is_operator && of_tenant >= tenant {
            return Err(Full::Tenant(tenant));
        }
        if taken.all >= all || (!is_operator && taken.others >= others) {
            return Err(Full::All);
        }
        taken.tokens.insert(token.clone(), of_token + 1);
        taken.all += 1;
        if !is_operator {
            taken.tenants.insert(token.0.clone(), of_tenant + 1);
            taken.others += 1;
        }
        Ok(Share { shares: Arc::clone(self), token, is_operator })
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.shares.lock();
        one_less(&mut taken.tokens, &self.token);
        taken.all -= 1;
        if !self.is_operator {
            one_less(&mut taken.tenants, &self.token.0);
            taken.others -= 1;
        }
    }
}

fn one_less<K: Ord>(counts: &mut BTreeMap<K, usize>, key: &K) {
    if let Some(count) = counts.get_mut(key) {
        *count -= 1;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

impl Full {
    /// `what` there are so many of.
    pub fn refused(self, what: &str) -> Refusal {
        let refusal = match self {
            Self::Token(most) => Refusal::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too_many",
                format!("this token has {most} {what} at once, and may have no more"),
            )
            .hint("end some of them; whoever listens to all at `/v1/events` needs one connection"),
            Self::Tenant(most) => Refusal::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too_many",
                format!("the tokens of this tenant have {most} {what} at once, and may have no more"),
            )
            .hint("end some of them"),
            Self::All => {
                Refusal::new(StatusCode::TOO_MANY_REQUESTS, "busy", format!("there are too many {what} at once"))
                    .hint("ask again in a while")
            }
        };
        Refusal { retry_after_seconds: Some(RETRY_AFTER_SECONDS), ..refusal }
    }
}

/// For as long as something is answered: a stream to its end, a terminal as long as somebody looks on.
pub async fn hold_to_share(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let Some(caller) = request.extensions().get::<Caller>() else { return next.run(request).await };
    let share = match service.shares.take(caller) {
        Ok(share) => share,
        Err(full) => return full.refused("connections").into_response(),
    };
    match request.extensions().get::<Arc<Busy>>().cloned() {
        Some(busy) => {
            busy.with(share);
            next.run(request).await
        }
        None => {
            let _held = share;
            next.run(request).await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(tenant: &str, name: &str, scopes: &[Scope]) -> Caller {
        let (name, tenant) = (name.to_owned(), Tenant::new(tenant));
        Caller { name, tenant, scopes: scopes.iter().copied().collect(), fingerprint: [0; 32] }
    }

    #[test]
    fn none_has_so_many_that_others_have_none() {
        let shares = Shares::new(Bounds::of_connections(16));
        let reader = |tenant: &str, name: &str| shares.take(&caller(tenant, name, &[Scope::Read]));
        let mut held: Vec<Share> = (0..4).map(|_| reader("acme", "a").unwrap()).collect();
        assert_eq!(reader("acme", "a").unwrap_err(), Full::Token(4));
        held.extend((0..4).map(|_| reader("acme", "b").unwrap()));
        assert_eq!(reader("acme", "c").unwrap_err(), Full::Tenant(8));
        held.extend((0..4).map(|_| reader("local", "d").unwrap()));
        assert_eq!(reader("local", "e").unwrap_err(), Full::All);
        // And the operator still has some.
        let operator = || shares.take(&caller("local", "own", &[Scope::Read, Scope::Admin]));
        held.extend((0..2).map(|_| operator().unwrap()));
        assert_eq!(operator().unwrap_err(), Full::All);
        drop(held.drain(..1));
        assert!(reader("acme", "a").is_ok(), "and what is given back is another's");
        drop(held);
        let taken = shares.lock();
        assert_eq!((taken.all, taken.others, taken.tokens.len(), taken.tenants.len()), (0, 0, 0, 0));
    }

    #[test]
    fn files_of_one_leave_room_for_those_of_others() {
        let shares = Shares::new(Bounds::of_large_bodies(8));
        let held: Vec<Share> = (0..4).map(|_| shares.take(&caller("acme", "a", &[])).unwrap()).collect();
        assert_eq!(shares.take(&caller("acme", "a", &[])).unwrap_err(), Full::Token(4));
        assert!(shares.take(&caller("other", "a", &[])).is_ok());
        drop(held);
    }
}
