//! `memory_search`: a question that the host answers, for roles that look and for no other.

use serde_json::{Value, json};
use windlass_domain::{Effect, HostWork, Reach};
use windlass_policy::risk::{Level, Place, Table, assess_call};
use windlass_tools::{Confinement, Kit, Toolset};

use crate::support::Bench;

fn bench() -> Bench {
    let mut bench = Bench::new();
    bench.tools = Toolset::new(bench.context(), Kit::read_only());
    bench
}

fn asked(arguments: &Value) -> HostWork {
    bench().run("memory_search", arguments, Effect::Read).request.unwrap().work
}

#[test]
fn the_host_is_asked_for_five_unless_told_otherwise() {
    let query = "flaky tests".to_owned();
    assert_eq!(asked(&json!({ "query": query })), HostWork::SearchMemory { query: query.clone(), limit: 5 });
    assert_eq!(asked(&json!({ "query": query, "limit": 20 })), HostWork::SearchMemory { query, limit: 20 });
}

#[test]
fn it_only_looks_and_says_where() {
    let bench = bench();
    let prepared = bench.prepare_with(&bench.tools, "memory_search", r#"{ "query": "it" }"#).unwrap();
    assert_eq!((prepared.effect, prepared.reach), (Effect::Read, Reach::Memory));
    let risk = assess_call(&Table::shipped(), "memory_search", &json!({ "query": "sudo" }), &Place::workspace());
    assert_eq!(risk.level, Level::Low);
}

#[test]
fn a_bad_question_is_said_to_be_one() {
    let bench = bench();
    assert!(bench.error("memory_search", &json!({ "query": "" })).contains("must not be empty"));
    assert!(bench.error("memory_search", &json!({ "q": "x" })).contains("query"));
    for limit in [0, 21] {
        assert!(bench.error("memory_search", &json!({ "query": "x", "limit": limit })).contains("limit"));
    }
}

/// Contracts §9: who executes works from what it is handed.
#[test]
fn who_executes_has_no_memory_of_earlier_tasks() {
    assert!(!Kit::executor(Confinement::Sealed).has("memory_search"));
    assert!(Kit::read_only().has("memory_search"));
}
