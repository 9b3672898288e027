//! Large blobs in rows: what was staged and never committed is swept when it is old, and nothing else is.

use windlass_domain::{Taint, Tenant, Wall};
use windlass_store::{Commit, Error, Store as _};

use crate::postgres::house::House;

const SWEEP: &str = include_str!("../../../src/providers/postgres/sweep.rs");

/// The statements as the provider has them.
fn sweep() -> String {
    let (_, after) = SWEEP.split_once("SWEEP: &str = \"").expect("they are there");
    let (sql, _) = after.split_once("\";").expect("they end");
    format!("SET search_path = windlass; {sql}")
}

#[test]
fn what_was_never_committed_is_swept_when_it_is_old() {
    let house = House::new();
    let store = house.open(&house.url());
    let tenant = Tenant::local();
    let bytes = |letter: u8| vec![letter; 3 << 20];
    let stage = |letter| house.executor.run(store.stage_blob(&tenant, bytes(letter), Taint::Auth)).expect("staged");
    let carry = |blob| {
        let mut commit = Commit::unfenced(tenant.clone(), Wall::from_millis(1));
        commit.blobs.push(blob);
        house.executor.run(store.commit(commit))
    };
    let (committed, forgotten) = (stage(1), stage(2));
    carry(committed.clone()).expect("a commit");
    let parts = || house.server.sql("test_0", "SELECT count(DISTINCT body) FROM windlass.blob_parts");
    house.server.sql("test_0", &sweep());
    assert_eq!(parts(), "2", "neither is old");
    house.server.sql("test_0", "UPDATE windlass.blob_parts SET staged_at = staged_at - interval '2 days'");
    let young = stage(3);
    house.server.sql("test_0", &sweep());
    assert_eq!(parts(), "2", "the old one that no blob has is gone");
    let kept =
        house.executor.run(store.blob(&tenant, committed.digest())).expect("readable").expect("it was committed");
    assert_eq!(kept.bytes, bytes(1));
    let refused = carry(forgotten).expect_err("its bytes are gone");
    assert!(matches!(refused, Error::Gone { .. }), "{refused}");
    carry(young).expect("a commit");
    // The same bytes once more are no further body.
    carry(stage(1)).expect("a commit");
    assert_eq!(parts(), "2");
}
