//! The database goes away while a worker is at work, for longer than anybody's patience, and comes back.

use rustix::process::Signal;
use windlass_postgres_server::Server;

use super::store::on;
use crate::cli::scripts::SLEEPER;
use crate::support::{Home, Ledger, none_left};

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
