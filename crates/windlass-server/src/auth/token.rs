//! Tokens: 256 bits of chance, of which only a digest is kept. That every one of them is as long as a digest is why a plain one is
//! enough: there is nothing to guess. Digests are compared in constant time, and all of them, whichever it is.

use std::collections::BTreeSet;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConditionallySelectable as _, ConstantTimeEq as _};
use windlass_api::Scope;
use windlass_domain::{Tenant, Wall};

use super::caller::Caller;

const LONGEST: usize = 256;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRecord {
    pub name: String,
    pub tenant: Tenant,
    pub scopes: BTreeSet<Scope>,
    pub expires_at: Option<Wall>,
    pub fingerprint: [u8; 32],
}

impl TokenRecord {
    fn is_good_at(&self, now: Wall) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }

    fn caller(&self) -> Caller {
        let (name, tenant, scopes) = (self.name.clone(), self.tenant.clone(), self.scopes.clone());
        Caller { name, tenant, scopes, fingerprint: self.fingerprint }
    }
}

/// What is kept of a token.
pub fn fingerprint(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// Whose token the request bears, if anybody's.
pub fn bearer(headers: &HeaderMap, tokens: &[TokenRecord], now: Wall) -> Option<Caller> {
    let presented = fingerprint(presented(headers)?);
    let mut found = u32::MAX;
    for (place, token) in tokens.iter().enumerate() {
        let is_it: Choice = token.fingerprint.ct_eq(&presented);
        found.conditional_assign(&u32::try_from(place).unwrap_or(u32::MAX), is_it);
    }
    let token = tokens.get(usize::try_from(found).ok()?)?;
    token.is_good_at(now).then(|| token.caller())
}

/// Whoever asked some time ago, as their token has it now; none where it is good for nothing any more.
pub fn as_it_is_now(caller: &Caller, tokens: &[TokenRecord], now: Wall) -> Option<Caller> {
    let token = tokens.iter().find(|token| token.fingerprint == caller.fingerprint)?;
    token.is_good_at(now).then(|| token.caller())
}

/// One header, one token: of two, one is somebody else's idea.
fn presented(headers: &HeaderMap) -> Option<&str> {
    let mut said = headers.get_all(AUTHORIZATION).iter();
    let (first, None) = (said.next()?, said.next()) else { return None };
    let (scheme, token) = first.to_str().ok()?.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty() && token.len() <= LONGEST).then_some(token)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn record(name: &str, token: &str, expires_at: Option<u64>) -> TokenRecord {
        TokenRecord {
            name: name.to_owned(),
            tenant: Tenant::local(),
            scopes: BTreeSet::from([Scope::Read]),
            expires_at: expires_at.map(Wall::from_millis),
            fingerprint: fingerprint(token),
        }
    }

    fn check(said: &[&str], expect: Option<&str>) {
        let tokens =
            [record("first", "one", None), record("second", "two", Some(1_000)), record("gone", "old", Some(9))];
        let mut headers = HeaderMap::new();
        for value in said {
            headers.append(AUTHORIZATION, HeaderValue::from_str(value).expect("a header"));
        }
        let found = bearer(&headers, &tokens, Wall::from_millis(10)).map(|caller| caller.name);
        assert_eq!(found.as_deref(), expect, "{said:?}");
    }

    #[test]
    fn a_token_is_whose_it_is_and_nothing_else_is_one() {
        check(&["Bearer one"], Some("first"));
        check(&["bearer two"], Some("second"));
        check(&["Bearer old"], None);
        check(&["Bearer on"], None);
        check(&["Bearer "], None);
        check(&["Basic one"], None);
        check(&["one"], None);
        check(&[], None);
        check(&["Bearer one", "Bearer one"], None);
    }

    #[test]
    fn whoever_asked_before_is_who_their_token_says_now_while_it_is_good() {
        let caller = record("ann", "one", None).caller();
        let now = |tokens: &[TokenRecord]| as_it_is_now(&caller, tokens, Wall::from_millis(10));
        let narrowed = TokenRecord { scopes: BTreeSet::from([Scope::Admin]), ..record("ann", "one", Some(11)) };
        assert_eq!(now(std::slice::from_ref(&narrowed)).map(|caller| caller.scopes), Some(narrowed.scopes));
        assert_eq!(now(&[record("ann", "one", Some(10))]), None, "its time is over");
        assert_eq!(now(&[record("ann", "two", None)]), None, "it was taken back, and another has its name");
    }
}
