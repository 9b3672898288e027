//! Whoever opens as many streams as they can leaves room for others: other tokens, the operator, and whoever asks how the server fares.

use super::scripts::HELLO;
use super::serving::{Served, begun, token};
use crate::support::{Home, Listening, ask};

fn streams(served: &Served, token: &str, count: usize) -> Vec<Listening> {
    let bearer = format!("Bearer {token}");
    (0..count).map(|_| Listening::to(&served.address, "/v1/events", &[("Authorization", &bearer)])).collect()
}

#[test]
fn streams_of_one_token_and_of_one_tenant_leave_others_theirs() {
    let home = Home::playing(HELLO);
    let scopes = ["--scope", "read"];
    let [greedy, other, third] = ["greedy", "other", "third"].map(|name| token(&home, name, &scopes));
    let elsewhere = token(&home, "elsewhere", &["--scope", "read", "--tenant", "acme"]);
    // Half of them are for connections.
    let served = begun(&home, home.windlass(&["serve", "--listen", "127.0.0.1:0", "--no-work"]).with_open_files(256));
    let look = |token: &str| served.ask_as(token, "GET", "/v1/tasks", &[], "");
    let _of_one = streams(&served, &greedy, 32);
    let refused = look(&greedy).expect(429);
    assert_eq!(refused.json()["code"], "too_many", "{refused:?}");
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    look(&other).expect(200);
    let _of_another = streams(&served, &other, 32);
    assert_eq!(look(&third).expect(429).json()["code"], "too_many", "the tenant has its share");
    look(&elsewhere).expect(200);
    let _elsewhere = streams(&served, &elsewhere, 32);
    let more = token(&home, "more", &["--scope", "read", "--tenant", "other"]);
    assert_eq!(look(&more).expect(429).json()["code"], "busy", "the rest is the operator's");
    look(&served.token).expect(200);
    ask(&served.address, "GET", "/v1/health", &[], "").expect(200);
    served.end();
}
