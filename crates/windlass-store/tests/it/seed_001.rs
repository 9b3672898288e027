//! Seed 001 §8's queue tests, each by its own name, for whoever looks for them in the list of tests. They are cases of the
//! conformance suite, which every provider runs; here on SQLite in a file, as the product has it.

use std::sync::Arc;

use windlass_store::conformance::CASES;
use windlass_store::sqlite::{Options, SqliteStore};

use crate::executor::Executor;
use crate::scratch::scratch;

fn run(name: &str) {
    let (_, case) = CASES.iter().find(|(known, _)| known.strip_prefix("queues::") == Some(name)).expect("a case");
    let (folder, executor) = (scratch(), Executor::new());
    let store = SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("a store");
    executor.run(case(Arc::new(store), executor.runtime()));
}

macro_rules! named {
    ($($name:ident),+ $(,)?) => {$(
        #[test]
        fn $name() {
            run(stringify!($name));
        }
    )+};
}

named! {
    // §8.1
    queue_enqueue_lease_ack_nack_dead_letter_lifecycle,
    queue_crash_recovery_re_lease_on_startup,
    queue_heartbeat_extension_and_lease_expiry,
    queue_processed_set_idempotency,
    // §8.3
    crash_mid_work_redelivery_starts_afresh_and_the_woken_consumer_commits_nothing,
    duplicate_message_delivery_is_deduplicated,
}
