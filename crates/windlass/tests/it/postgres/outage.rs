//! The database goes away while a worker is at work, for longer than anybody's patience, and comes back.

use rustix::process::Signal;
use serde_json::json;
use windlass_postgres_server::Server;

use super::store::on;
use crate::cli::scripts::{HELLO, SLEEPER};
use crate::cli::serving::begun;
use crate::support::{Home, Ledger, ask, none_left};

#[test]
fn a_worker_outlasts_an_outage_and_goes_on_with_what_it_had_begun() {
    let (mut server, home) = (Server::start(), Home::playing(SLEEPER));
    let url = server.database("windlass");
    let mut ledger = Ledger::open(&home);
    on(&url, home.run(&["--detach"])).run().expect(0);
    let mut worker = on(&url, home.windlass(&["worker"])).start();
    ledger.wait_for("begun");
    server.kill();
    let said = worker.wait_for(|line| line.starts_with("trouble"));
    assert!(said.contains("cannot be reached") && said.contains("waiting for it"), "{said}");
    server.run();
    worker.wait_for(|line| line.contains("the store is back"));
    worker.wait_for(|line| line.contains("  completed"));
    assert_eq!(ledger.count().into_iter().collect::<Vec<_>>(), [("begun".to_owned(), 1)], "and nothing twice");
    // It is as fit as before.
    on(&url, home.run(&["--detach"])).run().expect(0);
    ledger.forget();
    ledger.wait_for("begun");
    worker.signal(Signal::TERM);
    worker.signal(Signal::INT);
    let ended = worker.end().expect(0);
    assert_eq!(ended.stdout.matches("trouble").count(), 1, "it is said once: {}", ended.stdout);
    assert_eq!(server.sql("windlass", "SELECT count(*) FROM windlass.leases WHERE owner IS NOT NULL"), "0");
    on(&url, home.windlass(&["audit", "verify"])).run().expect(0);
    none_left(&home);
}

/// Whoever watches over a server learns of it, and is not kept waiting.
#[test]
fn a_server_whose_store_is_gone_says_so_until_it_is_back() {
    let (mut server, home) = (Server::start(), Home::playing(HELLO));
    let url = server.database("windlass");
    let served = begun(&home, on(&url, home.windlass(&["serve", "--listen", "127.0.0.1:0", "--no-work"])));
    let health = || ask(&served.address, "GET", "/v1/health", &[], "");
    assert_eq!(health().expect(200).json(), json!({"status": "ok"}));
    server.kill();
    let gone = loop {
        let told = health();
        if told.status != 200 {
            break told.expect(503).json();
        }
    };
    assert_eq!((&gone["code"], &gone["status"]), (&json!("store_gone"), &json!(503)));
    assert!(!gone.to_string().contains("postgres") && !gone.to_string().contains("connect"), "{gone}");
    server.run();
    while health().status != 200 {}
    served.end();
}
