//! Tickets, for browsers, which can set no header on a WebSocket: whoever has a token gets one for it, and says it where a protocol is
//! said. It is good once, for a moment, for the one thing it was given for, and for no more than its token still is; what is kept of it
//! is a digest. It stands in no address, which others log. Another server over the same data does not know it.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use axum::extract::Request;
use http::header::AUTHORIZATION;
use windlass_api::TICKET_PREFIX;
use windlass_domain::{Instant, Runtime};

use super::caller::Caller;
use super::token::fingerprint;
use crate::terminals::{is_upgrade, offered};

pub const GOOD_FOR: Duration = Duration::from_secs(30);
/// Of one token, at a time: one more, and the oldest is good for nothing.
const MOST: usize = 32;

#[derive(Debug, Default)]
pub struct Tickets(Mutex<BTreeMap<[u8; 32], Ticket>>);

#[derive(Debug, Clone)]
struct Ticket {
    caller: Caller,
    path: String,
    ends: Instant,
}

impl Tickets {
    /// For whoever asks for `path` with it.
    pub fn give(&self, caller: &Caller, path: String, runtime: &dyn Runtime) -> String {
        let ticket = format!("{:032x}{:032x}", runtime.random(), runtime.random());
        let now = runtime.now();
        let mut tickets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tickets.retain(|_, ticket| now < ticket.ends);
        let theirs = |ticket: &&Ticket| ticket.caller.fingerprint == caller.fingerprint;
        if tickets.values().filter(theirs).count() >= MOST {
            let oldest = tickets.iter().filter(|(_, ticket)| theirs(ticket)).min_by_key(|(_, ticket)| ticket.ends);
            let oldest = oldest.map(|(fingerprint, _)| *fingerprint);
            oldest.map(|oldest| tickets.remove(&oldest));
        }
        tickets.insert(fingerprint(&ticket), Ticket { caller: caller.clone(), path, ends: now + GOOD_FOR });
        ticket
    }

    /// Whose ticket it is that the request bears, if anybody's. It is spent, whatever was asked for with it.
    pub fn spend(&self, request: &Request, now: Instant) -> Option<Caller> {
        let headers = request.headers();
        if headers.contains_key(AUTHORIZATION) || !is_upgrade(request.method(), headers) {
            return None;
        }
        let mut said = offered(headers).filter_map(|protocol| protocol.strip_prefix(TICKET_PREFIX));
        let (presented, None) = (said.next()?, said.next()) else { return None };
        let mut tickets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ticket = tickets.remove(&fingerprint(presented))?;
        (now < ticket.ends && ticket.path == request.uri().path()).then_some(ticket.caller)
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use windlass_domain::{Tenant, Wall};

    use super::*;

    /// Time stands still, and chance counts.
    struct Still(Mutex<u128>);

    impl Runtime for Still {
        fn spawn(&self, _: windlass_domain::BoxFuture<'static, ()>) {}

        fn sleep_until(&self, _: Instant) -> windlass_domain::BoxFuture<'static, ()> {
            Box::pin(std::future::pending())
        }

        fn block(&self, _: Box<dyn FnOnce() + Send>) -> windlass_domain::BoxFuture<'static, ()> {
            Box::pin(std::future::pending())
        }

        fn now(&self) -> Instant {
            Instant::default()
        }

        fn wall(&self) -> Wall {
            Wall::default()
        }

        fn random(&self) -> u128 {
            let mut last = self.0.lock().expect("nobody panics");
            *last += 1;
            *last
        }
    }

    fn caller(name: &str) -> Caller {
        let (name, fingerprint) = (name.to_owned(), fingerprint(name));
        Caller { name, tenant: Tenant::local(), scopes: [].into(), fingerprint }
    }

    fn asks(path: &str, headers: &[(&str, &str)]) -> Request {
        let request = Request::builder().uri(path).header("upgrade", "websocket").header("connection", "Upgrade");
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        request.body(Body::empty()).expect("a request")
    }

    #[test]
    fn a_ticket_is_good_once_in_time_and_for_what_it_was_given_for() {
        let (tickets, runtime) = (Tickets::default(), Still(Mutex::default()));
        let give =
            || format!("windlass.terminal.v1, ticket.{}", tickets.give(&caller("ann"), "/a".to_owned(), &runtime));
        let at = |seconds| Instant::default() + Duration::from_secs(seconds);
        let spend = |path: &str, headers: &[(&str, &str)], at| {
            tickets.spend(&asks(path, headers), at).map(|caller| caller.name)
        };
        let protocol = "sec-websocket-protocol";
        let good = give();
        assert_eq!(spend("/a", &[(protocol, &good)], at(29)).as_deref(), Some("ann"));
        assert_eq!(spend("/a", &[(protocol, &good)], at(29)), None, "once");
        assert_eq!(spend("/a", &[(protocol, &give())], at(30)), None, "in time");
        let elsewhere = give();
        assert_eq!(spend("/b", &[(protocol, &elsewhere)], at(1)), None, "for what it was given for");
        assert_eq!(spend("/a", &[(protocol, &elsewhere)], at(1)), None, "and it is spent");
        let (one, other) = (give(), give());
        assert_eq!(spend("/a", &[(protocol, &one), (protocol, &other)], at(1)), None, "one at a time");
        assert_eq!(spend("/a", &[(protocol, &one), ("authorization", "Bearer x")], at(1)), None, "a token is a token");
        assert_eq!(spend("/a", &[(protocol, &one), ("upgrade", "h2c")], at(1)).as_deref(), Some("ann"));
        assert_eq!(spend("/a", &[(protocol, "ticket.")], at(1)), None);
    }

    #[test]
    fn a_token_has_so_many_and_crowds_out_nobody_elses() {
        let (tickets, runtime) = (Tickets::default(), Still(Mutex::default()));
        let theirs = tickets.give(&caller("ben"), "/a".to_owned(), &runtime);
        let given: Vec<String> = (0..=MOST).map(|_| tickets.give(&caller("ann"), "/a".to_owned(), &runtime)).collect();
        let spend = |ticket: &str| {
            let said = format!("ticket.{ticket}");
            tickets.spend(&asks("/a", &[("sec-websocket-protocol", &said)]), Instant::default()).is_some()
        };
        assert_eq!(given.iter().filter(|ticket| spend(ticket)).count(), MOST);
        assert!(spend(&theirs));
    }
}
