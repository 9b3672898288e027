//! Wake-ups between processes, which are two stores here: they come, and come again after the connection that listens was
//! ended; what is said meanwhile costs nobody more than a look.

use std::time::Duration;

use windlass_domain::Tenant;
use windlass_store::{Store as _, Subscription, Topic};

use crate::postgres::house::House;
use crate::promise::Promise;

/// Far longer than any test may take.
const FOR_EVER: Duration = Duration::from_secs(3_600);

#[test]
fn a_commit_of_another_process_wakes_who_waits_for_it() {
    let house = House::new();
    let url = house.url();
    let (here, there) = (house.open(&url), house.open(&url));
    let mut hints = here.notifier().subscribe(Topic::Events { tenant: Tenant::local() });
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query = 'LISTEN windlass'";
    // Before it listens nothing is heard: it is told again and again until it is. The last commit may be made when nobody waits for its
    // answer any more, so that the next teller has another stream.
    let heard = |hints: &mut Subscription, worker: u64| {
        let telling = async {
            for index in 0.. {
                there.commit(Promise { worker, index }.commit()).await.expect("a commit");
            }
        };
        house.executor.run(async {
            tokio::select! {
                () = telling => {}
                () = hints.changed(FOR_EVER) => {}
            }
        });
    };
    heard(&mut hints, 0);
    assert_eq!(house.server.sql("test_0", end), "1");
    heard(&mut hints, 1);
}
