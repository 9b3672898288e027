//! Seed 001 §8's queue tests, each by its own name, for whoever looks for them in the list of tests. They are cases of the
//! conformance suite, which every provider runs.

use std::sync::Arc;

use windlass_store::conformance::CASES;
use windlass_store::sqlite::SqliteStore;

use crate::executor::Executor;

fn run(name: &str) {
    let (_, case) = CASES.iter().find(|(known, _)| known.strip_prefix("queues::") == Some(name)).expect("a case");
    let executor = Executor::new();
    let store = SqliteStore::in_memory(executor.runtime()).expect("a store");
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
    queue_crash_recovery_re_leases_what_a_dead_owner_held_and_nothing_else,
    queue_heartbeat_extension_and_lease_expiry_behavior,
    queue_processed_set_idempotency_has_processed_mark_processed,
    // §8.3
    crash_mid_work_redelivery_starts_afresh_and_the_woken_consumer_commits_nothing,
    duplicate_message_delivery_is_deduplicated_and_its_side_effect_suppressed,
}
