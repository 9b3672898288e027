//! Somebody with a hand on the database file changes what was written. Every change is found; so is every row that was
//! taken out or put in, and, by whoever kept a head, an end that was cut off. The control is the same file unchanged.

use std::path::Path;

use rusqlite::Connection;
use windlass_domain::{Encoded, Seq, Taint, Tenant, Wall};
use windlass_store::chain::{Break, Verified, verify};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{ChainHead, Commit, NewEvent, Position, Store as _, StreamId, TimerChange, TimerName};

use crate::executor::Executor;
use crate::scratch::scratch;

const NOW: Wall = Wall::from_millis(1_700_000_000_000);

fn event(stream: &str, text: &str) -> NewEvent {
    let data = serde_json::value::to_raw_value(text).expect("text is JSON");
    let encoded = Encoded { kind: "test.happened", version: 1, data, since: 1, older: &[] };
    NewEvent { stream: StreamId::new("test", stream), encoded, taint: Taint::Auth, at: NOW }
}

fn commit(tenant: &str, events: impl IntoIterator<Item = NewEvent>) -> Commit {
    let mut commit = Commit::unfenced(Tenant::new(tenant), NOW);
    commit.events.extend(events);
    commit
}

/// Two tenants, two streams, commits of one to three events: positions 1 to 12. The head of `a` is at 12.
fn fill(folder: &Path) -> Vec<ChainHead> {
    let executor = Executor::new();
    let store = SqliteStore::open(Options::new(folder), executor.runtime()).expect("a store");
    let commits = [
        commit("a", [event("x", "1")]),
        commit("b", [event("x", "2"), event("x", "3")]),
        commit("a", [event("x", "4"), event("y", "5"), event("x", "6")]),
        commit("a", [event("y", "7"), event("y", "8")]),
        commit("b", [event("x", "9")]),
        commit("a", [event("x", "10")]),
        commit("a", [event("y", "11"), event("x", "12")]),
    ];
    let mut heads = Vec::new();
    for commit in commits {
        let is_a = commit.tenant == Tenant::new("a");
        let committed = executor.run(store.commit(commit)).expect("a store that works");
        heads.extend(committed.chain.filter(|_| is_a));
    }
    heads
}

fn tamper(folder: &Path, sql: &str) {
    let raw = Connection::open(folder.join("windlass.db")).expect("it opens");
    raw.execute_batch(
        "PRAGMA ignore_check_constraints = on; PRAGMA foreign_keys = off;
         DROP TRIGGER events_are_never_changed; DROP TRIGGER events_are_never_deleted;",
    )
    .expect("whoever holds the file can do anything");
    raw.execute_batch(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
}

fn verified(folder: &Path, from: Option<ChainHead>, known: Option<ChainHead>) -> Verified {
    let executor = Executor::new();
    let store = SqliteStore::open(Options::new(folder), executor.runtime()).expect("a store");
    executor.run(verify(&store, &Tenant::new("a"), from, known)).expect("readable")
}

fn after(sql: &str, known: impl Fn(&[ChainHead]) -> Option<ChainHead>) -> Verified {
    let folder = scratch();
    let heads = fill(folder.path());
    tamper(folder.path(), sql);
    verified(folder.path(), None, known(&heads))
}

fn edited(at: u64) -> Verified {
    Verified::Broken(Break::Edited { at: Position(at) })
}

fn gap(before: u64, stream: &str) -> Verified {
    Verified::Broken(Break::Gap { before: Position(before), stream: StreamId::new("test", stream) })
}

#[test]
fn control_a_file_that_nobody_touched_is_intact() {
    let folder = scratch();
    let heads = fill(folder.path());
    tamper(folder.path(), "");
    let head = heads.last().copied();
    assert_eq!(verified(folder.path(), None, head), Verified::Intact { head, events: 9 });
    // What others wrote is theirs.
    tamper_again(folder.path(), "UPDATE events SET data = '0' WHERE tenant = 'b'");
    assert_eq!(verified(folder.path(), None, head), Verified::Intact { head, events: 9 });
}

fn tamper_again(folder: &Path, sql: &str) {
    let raw = Connection::open(folder.join("windlass.db")).expect("it opens");
    raw.execute_batch(sql).expect("the triggers are gone");
}

#[test]
fn any_column_of_any_row_that_is_edited_is_found() {
    // Each row with the end of its commit.
    for (position, end) in [(1, 1), (4, 6), (5, 6), (6, 6), (7, 8), (8, 8), (10, 10), (11, 12), (12, 12)] {
        for set in [
            "data = '\"other\"'",
            "data = substr(data, 1, length(data) - 1) || ' \"'",
            "kind = kind || 's'",
            "version = version + 1",
            "taint = 0",
            "taint = 2",
            "at = at + 1",
        ] {
            let sql = format!("UPDATE events SET {set} WHERE position = {position}");
            assert_eq!(after(&sql, |_| None), edited(end), "{sql}");
        }
    }
}

#[test]
fn a_digest_that_is_edited_or_moved_is_found() {
    assert_eq!(after("UPDATE events SET chain = zeroblob(32) WHERE position = 8", |_| None), edited(8));
    // Two commits made one, and one made two.
    assert_eq!(after("UPDATE events SET chain = NULL WHERE position = 8", |_| None), edited(10));
    let split = "UPDATE events SET chain = (SELECT chain FROM events WHERE position = 6) WHERE position = 4";
    assert_eq!(after(split, |_| None), edited(4));
    let renamed = after("UPDATE streams SET name = 'test/z' WHERE tenant = 'a' AND name = 'test/x'", |_| None);
    assert_eq!(renamed, edited(1));
}

#[test]
fn rows_that_are_taken_out_are_found() {
    assert_eq!(after("DELETE FROM events WHERE position = 1", |_| None), gap(4, "x"));
    assert_eq!(after("DELETE FROM events WHERE position = 4", |_| None), gap(6, "x"));
    // A whole commit: the next one does not follow what is before it.
    assert_eq!(after("DELETE FROM events WHERE position IN (7, 8)", |_| None), edited(10));
    assert_eq!(after("DELETE FROM events WHERE position <= 6 AND tenant = 'a'", |_| None), gap(7, "y"));
    // Numbered anew so that no stream has a gap.
    let hidden = "DELETE FROM events WHERE position = 10; UPDATE events SET seq = seq - 1 WHERE position = 12";
    assert_eq!(after(hidden, |_| None), edited(12));
}

#[test]
fn rows_that_are_put_in_or_change_places_are_found() {
    let forged = "INSERT INTO events SELECT 13, tenant, stream, seq + 1, kind, version, taint, at, chain, '\"forged\"'
                  FROM events WHERE position = 12";
    assert_eq!(after(forged, |_| None), edited(13));
    let swapped =
        "UPDATE events SET data = '\"7\"' WHERE position = 8; UPDATE events SET data = '\"8\"' WHERE position = 7";
    assert_eq!(after(swapped, |_| None), edited(8));
    let given_away = "UPDATE events SET tenant = 'b' WHERE position = 10";
    assert_eq!(after(given_away, |_| None), gap(12, "x"));
    let taken = "UPDATE events SET tenant = 'a' WHERE position = 9";
    assert_eq!(after(taken, |_| None), gap(9, "x"));
}

#[test]
fn an_end_that_is_cut_off_is_found_by_whoever_kept_a_head() {
    let truncated = |after| Verified::Broken(Break::Truncated { after: Position(after) });
    let last = |heads: &[ChainHead]| heads.last().copied();
    // In the midst of a commit it is found by anybody.
    assert_eq!(after("DELETE FROM events WHERE position = 12", |_| None), truncated(10));
    for (cut, end) in [(10, 8), (7, 6), (2, 1), (1, 0)] {
        let sql = format!("DELETE FROM events WHERE position >= {cut}");
        assert_eq!(after(&sql, last), truncated(end), "{sql}");
        assert!(matches!(after(&sql, |_| None), Verified::Intact { .. }), "control: {sql}");
        // A head from before the cut knows nothing of it.
        let early = after(&sql, |heads| heads.iter().copied().find(|head| head.position.0 < cut));
        assert!(matches!(early, Verified::Intact { .. }), "{sql}: {early:?}");
    }
}

#[test]
fn an_edit_before_a_head_that_is_believed_is_not_looked_at_and_one_after_it_is_found() {
    let folder = scratch();
    let heads = fill(folder.path());
    tamper(folder.path(), "UPDATE events SET data = '0' WHERE position = 1");
    assert_eq!(verified(folder.path(), None, None), edited(1));
    let head = heads.last().copied();
    assert_eq!(verified(folder.path(), Some(heads[0]), head), Verified::Intact { head, events: 8 });
    tamper_again(folder.path(), "UPDATE events SET data = '0' WHERE position = 11");
    assert_eq!(verified(folder.path(), Some(heads[0]), head), edited(12));
}

/// Processes write in turn: each must notice what the other appended, also for tenants it knew before.
#[test]
fn two_processes_in_turn_write_one_chain() {
    let (folder, executor) = (scratch(), Executor::new());
    let open = || SqliteStore::open(Options::new(folder.path()), executor.runtime()).expect("a store");
    let stores = [open(), open()];
    let mut heads = 0;
    for round in 0..40_usize {
        // Now one, now both, now several in a row by one of them.
        let store = &stores[[0, 1, 1, 0, 0][round % 5]];
        for tenant in ["a", "b"].iter().take(1 + round % 2) {
            let head = executor.run(store.head(&Tenant::new(*tenant), &StreamId::new("test", "x"))).expect("readable");
            let mut next = commit(tenant, [event("x", "1"), event("x", "2")]);
            next.expect.push((StreamId::new("test", "x"), Seq(head.0)));
            // Some are refused after they have looked at the chain.
            if round % 7 == 3 {
                let name = TimerName("never set".to_owned());
                next.timers.push(TimerChange::Fired { name, due: NOW });
            }
            heads += u64::from(executor.run(store.commit(next)).is_ok() && *tenant == "a");
        }
    }
    let verdict = executor.run(verify(&stores[0], &Tenant::new("a"), None, None)).expect("readable");
    assert!(matches!(verdict, Verified::Intact { events, .. } if events == heads * 2), "{verdict:?}");
    let other = executor.run(verify(&stores[1], &Tenant::new("b"), None, None)).expect("readable");
    assert!(matches!(other, Verified::Intact { .. }), "{other:?}");
}
