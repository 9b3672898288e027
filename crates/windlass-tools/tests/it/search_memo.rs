//! `search_memo`: a question that the host answers.

use serde_json::json;
use windlass_domain::{Effect, HostWork};

use crate::support::Bench;

#[test]
fn the_host_is_asked_with_the_leave_to_do_so() {
    let bench = Bench::new();
    let ran = bench.run("search_memo", &json!({ "query": "timeouts" }), Effect::Read);
    let request = ran.request.unwrap();
    assert_eq!(request.work, HostWork::SearchMemo { query: "timeouts".to_owned() });
    assert_eq!(request.permit.call().call.tool, "search_memo");
}

#[test]
fn a_question_without_words_is_none() {
    let bench = Bench::new();
    assert!(bench.error("search_memo", &json!({ "query": "" })).contains("must not be empty"));
    assert!(bench.error("search_memo", &json!({ "q": "x" })).contains("query"));
}
