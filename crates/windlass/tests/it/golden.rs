//! Golden journals. The same script writes the same journal, ids and times aside, byte for byte; and what an earlier
//! Windlass wrote, kept in `tests/golden`, is still what this one writes and can still be folded.
//!
//! A change that is meant to change journals, or the prompts whose digests stand in them, writes them anew:
//! `WINDLASS_GOLDEN=write cargo nextest run -p windlass golden`. What changed is then seen in the commit.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use regex::Regex;
use serde::Deserialize;
use serde_json::value::RawValue;
use windlass_domain::approval::{ApprovalEvent, ApprovalState};
use windlass_domain::execution::{ExecutionEvent, ExecutionState, Lifecycle};
use windlass_domain::task::{Move, TaskEvent, TaskState, next_move};
use windlass_domain::{MemoryEvent, TaskResultStatus, Tenant, Wall};
use windlass_runtime::{Threads, TokioRuntime, executor};
use windlass_store::sqlite::{Options, SqliteStore};
use windlass_store::{Position, Store as _, StoredEvent};

use crate::crash::{SCENARIOS, Scenario};
use crate::support::Home;

static ID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}").expect("a pattern")
});
static DURATION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""duration_ms":\d+"#).expect("a pattern"));
static VERSION: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""agent_version":"[^"]*""#).expect("a pattern"));
/// What approvals have that is never twice the same: nonces, signatures, hashes over ids; and times.
static HEX: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""[0-9a-f]{32,128}""#).expect("a pattern"));
/// Whoever runs the tests.
static BY: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#""by":"[^"]*""#).expect("a pattern"));
static TIME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"_at":\d{13}"#).expect("a pattern"));

#[test]
fn the_same_script_writes_the_same_journal_twice() {
    for scenario in &SCENARIOS {
        let (first, second) = (written_by(scenario), written_by(scenario));
        assert!(first.lines().count() > 10, "{}: a journal", scenario.name);
        assert_eq!(first, second, "{}", scenario.name);
    }
}

#[test]
fn journals_are_what_they_were() {
    let is_to_be_written = std::env::var_os("WINDLASS_GOLDEN").is_some_and(|word| word == "write");
    for scenario in &SCENARIOS {
        let written = written_by(scenario);
        if is_to_be_written {
            std::fs::write(place(scenario), &written).expect("a golden journal is written");
        }
        let kept = kept(scenario);
        for (number, (written, kept)) in written.lines().zip(kept.lines()).enumerate() {
            assert_eq!(written, kept, "{}.ndjson, line {}", scenario.name, number + 1);
        }
        assert_eq!(written.lines().count(), kept.lines().count(), "{}.ndjson", scenario.name);
    }
}

#[test]
fn kept_journals_fold_to_the_result_they_hold() {
    for scenario in &SCENARIOS {
        let mut task = TaskState::default();
        let mut executions = BTreeMap::<String, ExecutionState>::new();
        let mut approvals = BTreeMap::<String, ApprovalState>::new();
        for line in kept(scenario).lines() {
            let Line { stream, seq, kind, version, data } = serde_json::from_str(line).expect("a line of a journal");
            let at = Wall::from_millis(seq);
            if stream.starts_with("task/") {
                let event = TaskEvent::decode(&kind, version, data.get()).expect("readable for ever");
                same_again(&event.encode(), version, &data);
                task.apply(&event, at);
                let over = matches!(next_move(&task), Move::Nothing);
                assert_eq!(over, task.is_over(), "{}: there is a move until it is over", scenario.name);
            } else if stream.starts_with("approval/") {
                let event = ApprovalEvent::decode(&kind, version, data.get()).expect("readable for ever");
                same_again(&event.encode(), version, &data);
                approvals.entry(stream).or_default().apply(&event);
            } else if stream.starts_with("memory/") {
                let event = MemoryEvent::decode(&kind, version, data.get()).expect("readable for ever");
                same_again(&event.encode(), version, &data);
            } else {
                let event = ExecutionEvent::decode(&kind, version, data.get()).expect("readable for ever");
                same_again(&event.encode(), version, &data);
                executions.entry(stream).or_default().apply(&event, at);
            }
        }
        let result = task.result.expect("a golden run has ended");
        assert_eq!(result.status, TaskResultStatus::Completed, "{}", scenario.name);
        assert_eq!(executions.len(), task.attempts.len(), "{}", scenario.name);
        for state in executions.values() {
            assert_eq!(state.lifecycle, Lifecycle::Completed, "{}", scenario.name);
            assert!(state.open_calls.is_empty() && state.open_request.is_none(), "{}", scenario.name);
        }
        let uses: Vec<usize> =
            approvals.values().map(|state| state.token().map_or(0, |token| token.execution_nonces.len())).collect();
        assert_eq!(uses, [task.attempts.len()], "{}: every attempt begins on its issuer's word", scenario.name);
        let (calls, answers) = executions
            .values()
            .fold((0, 0), |(calls, answers), state| (calls + state.tool_calls, answers + state.answers));
        assert_eq!((result.usage.tool_calls, result.usage.iterations), (calls, answers), "{}", scenario.name);
    }
}

#[derive(Deserialize)]
struct Line {
    stream: String,
    seq: u64,
    #[serde(rename = "type")]
    kind: String,
    version: u16,
    data: Box<RawValue>,
}

/// What is read and written again is the same, unless it has been read as something newer.
fn same_again(encoded: &windlass_domain::Encoded, version: u16, data: &RawValue) {
    if encoded.version == version {
        assert_eq!(encoded.data.get(), data.get());
    }
}

fn place(scenario: &Scenario) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    folder.join(scenario.name).with_extension("ndjson")
}

fn kept(scenario: &Scenario) -> String {
    std::fs::read_to_string(place(scenario)).expect("a golden journal is kept")
}

fn written_by(scenario: &Scenario) -> String {
    let (home, _ledger) = scenario.set_up();
    scenario.run(&home).run().expect(0);
    let mut names = BTreeMap::new();
    stored(&home).iter().map(|row| line(row, &home, &mut names)).collect()
}

/// The rows as they are in the database: `log --json` does not tell versions and taint. Seals of the audit are no part of a
/// journal.
fn stored(home: &Home) -> Vec<StoredEvent> {
    let executor = executor(Threads::One).expect("an executor");
    executor.block_on(async {
        let runtime = Arc::new(TokioRuntime::current());
        let store = SqliteStore::open(Options::new(home.data()), runtime).expect("the database opens");
        let rows = store.events(&Tenant::local(), Position(0), 10_000).await.expect("its events are read");
        rows.into_iter().filter(|row| row.stream.kind() != "audit").collect()
    })
}

/// One row without what differs from run to run: ids are numbered in the order they appear.
fn line(row: &StoredEvent, home: &Home, names: &mut BTreeMap<String, usize>) -> String {
    let StoredEvent { stream, seq, kind, version, data, taint, .. } = row;
    let taint = serde_json::to_string(taint).expect("a word");
    let (stream, id) = (stream.kind(), stream.id());
    let whole = format!(
        r#"{{"stream":"{stream}/{id}","seq":{},"type":"{kind}","version":{version},"taint":{taint},"data":{data}}}"#,
        seq.0
    );
    let whole = whole.replace(&*home.path().to_string_lossy(), "/home/you");
    let machine = std::fs::read_to_string(home.data().join("machine")).expect("the machine has a name");
    let whole = whole.replace(&format!("\"{}\"", machine.trim()), "\"vm\"");
    let whole = DURATION.replace_all(&whole, r#""duration_ms":0"#);
    let whole = VERSION.replace_all(&whole, r#""agent_version":"0.0.0""#);
    let whole = match stream {
        "approval" => like_any_other(&whole),
        "memory" => TIME.replace_all(&whole, "_at\":0").into_owned(),
        _ => whole.into_owned(),
    };
    let numbered = ID.replace_all(&whole, |id: &regex::Captures<'_>| {
        let next = names.len() + 1;
        let number = names.entry(id[0].to_owned()).or_insert(next);
        format!("00000000-0000-7000-8000-{number:012}")
    });
    format!("{numbered}\n")
}

/// An approval in which nothing is left that differs from run to run, and which can still be read.
fn like_any_other(whole: &str) -> String {
    let zeros = |found: &regex::Captures<'_>| format!("\"{}\"", "0".repeat(found[0].len() - 2));
    let whole = HEX.replace_all(whole, zeros);
    TIME.replace_all(&BY.replace_all(&whole, r#""by":"you""#), "_at\":0").into_owned()
}
