//! How often a token may ask: a bucket for each, which fills by the second and is emptied by the request. Whoever finds it empty is
//! told when to ask again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::StatusCode;
use windlass_domain::Instant;

use crate::auth::Caller;
use crate::problems::Refusal;
use crate::service::Service;

#[derive(Debug)]
pub struct Rates {
    per_second: f64,
    most: f64,
    buckets: Mutex<BTreeMap<(String, String), Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Rates {
    pub fn new(per_second: u32) -> Self {
        let per_second = f64::from(per_second.max(1));
        Self { per_second, most: per_second * 4.0, buckets: Mutex::default() }
    }

    /// Or how long to wait.
    pub fn take(&self, caller: &Caller, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let whose = (caller.tenant.to_string(), caller.name.clone());
        let bucket = buckets.entry(whose).or_insert(Bucket { left: self.most, at: now });
        bucket.left = (bucket.left + (now - bucket.at).as_secs_f64() * self.per_second).min(self.most);
        bucket.at = now;
        if bucket.left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.left) / self.per_second));
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

pub async fn hold_to_rate(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let taken = match request.extensions().get::<Caller>() {
        Some(caller) => service.rates.take(caller, service.runtime.now()),
        None => Ok(()),
    };
    match taken {
        Ok(()) => next.run(request).await,
        Err(wait) => {
            let refusal = Refusal::new(StatusCode::TOO_MANY_REQUESTS, "too_often", "this token asks too often");
            Refusal { retry_after_seconds: Some(wait.as_secs() + 1), ..refusal }.into_response()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_domain::Tenant;

    #[test]
    fn a_bucket_is_emptied_and_fills_again_and_is_nobody_elses() {
        let rates = Rates::new(2);
        let caller = |name: &str| {
            let (name, tenant) = (name.to_owned(), Tenant::local());
            Caller { name, tenant, scopes: [].into(), fingerprint: [0; 32] }
        };
        let at = |millis| Instant::since_start(Duration::from_millis(millis));
        for _ in 0..8 {
            assert_eq!(rates.take(&caller("a"), at(0)), Ok(()));
        }
        assert_eq!(rates.take(&caller("a"), at(0)), Err(Duration::from_millis(500)));
        assert_eq!(rates.take(&caller("b"), at(0)), Ok(()));
        assert_eq!(rates.take(&caller("a"), at(500)), Ok(()));
        assert!(rates.take(&caller("a"), at(500)).is_err());
    }
}
