//! A context service that misbehaves: asked again where that may help, waited for no longer than it may be, read no further than it may
//! say, followed nowhere, and told of by its address and never by its words.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::known::{ContextWanted, TaskContext};
use windlass_domain::{ContextService as _, ErrorCode, ErrorDetails, Secret, SessionId, Taint, TaskId, Tenant, Wall};
use windlass_llm::{ContextClient, ContextPatience, Deadlines, Endpoint, Retries};

use crate::support::{Act, KEY, TestServer, hasty_setup, http, http_begun, with_tokio};

const JSON: &str = "content-type: application/json; charset=utf-8\r\n";
const NOTHING: &str = r#"{"version":1}"#;

fn wanted() -> ContextWanted {
    ContextWanted {
        tenant: Tenant::new("acme"),
        session_id: SessionId::new(Wall::default(), 1),
        task_id: TaskId::new(Wall::default(), 2),
        goal: "Mend the \"parser\"".to_owned(),
    }
}

/// Asks again after a millisecond, and waits this long for each answer.
fn client(server: &TestServer, patience: Duration) -> ContextClient {
    let retries = Retries { backoff_base: Duration::from_millis(1), ..ContextPatience::default().retries };
    let deadlines = Deadlines { connect: patience, first_byte: patience, idle: patience, total: patience };
    let endpoint = Endpoint { base_url: server.url.clone(), key: Some(Secret::new(KEY)) };
    let patience = ContextPatience { deadlines, retries };
    ContextClient::new(endpoint, patience, Arc::clone(&hasty_setup().runtime)).expect("a good address")
}

/// What comes of it, and how often it was asked.
fn asked_for(acts: Vec<Act>, patience: Duration) -> (Result<TaskContext, ErrorDetails>, usize) {
    with_tokio(async {
        let server = TestServer::start(acts).await;
        let answered = client(&server, patience).context(wanted()).await;
        (answered, server.seen().len())
    })
}

fn asked(acts: Vec<Act>) -> (Result<TaskContext, ErrorDetails>, usize) {
    asked_for(acts, Duration::from_secs(60))
}

fn says(body: &str) -> Act {
    Act::Say(http(200, JSON, body))
}

#[test]
fn it_is_told_whose_task_it_is_about_and_everything_it_says_is_external() {
    with_tokio(async {
        let body = r#"{"version":1,"memories":[{"text":"It was the comma.","source":"wiki","taint":"owner"}],
            "preferences":[{"text":"Tabs."}],"attachments":[{"name":"a.txt","text":"A"}],"more":7}"#;
        let server = TestServer::start(vec![says(body)]).await;
        let context = client(&server, Duration::from_secs(60)).context(wanted()).await.expect("an answer");
        let item = &context.memories[0];
        assert_eq!((item.told().as_str(), item.taint), ("wiki:\nIt was the comma.", Taint::External));
        assert_eq!(context.preferences[0].told(), "Tabs.");
        assert_eq!(context.attachments[0].told(), "a.txt:\nA");
        assert_eq!(context.taint(), Taint::External);
        let seen = server.seen().remove(0);
        assert!(seen.head.starts_with("POST /v1/context HTTP/1.1") && seen.head.contains(KEY), "{}", seen.head);
        let question: serde_json::Value = serde_json::from_str(&seen.body).expect("JSON");
        let wanted = wanted();
        let expected = serde_json::json!({"version": 1, "tenant": "acme", "session_id": wanted.session_id,
            "task_id": wanted.task_id, "goal": wanted.goal});
        assert_eq!(question, expected);
    });
}

#[test]
fn trouble_that_may_pass_is_waited_for_and_no_longer_than_that() {
    let bad = |status| Act::Say(http(status, "", "sorry"));
    let (answered, times) = asked(vec![bad(500), bad(503), Act::SayAndHangUp(String::new()), says(NOTHING)]);
    assert_eq!((answered, times), (Ok(TaskContext::default()), 4));
    let (answered, times) = asked(vec![bad(500), bad(502), bad(429), bad(500), says(NOTHING)]);
    let error = answered.expect_err("it was asked four times");
    assert_eq!((error.error_code, error.retryable, times), (ErrorCode::ContextUnavailable, true, 4));
    assert!(
        error.message.contains("/v1/context could not be asked: it answered 500; it was asked 4 times"),
        "{error:?}"
    );
    assert!(error.hint.expect("what to do").contains("CONTEXT_SERVICE_URL"));
    let later = Act::Say(http(503, "retry-after: 3600\r\n", ""));
    assert_eq!(asked(vec![later, says(NOTHING)]).1, 1, "an hour is too long");
}

#[test]
fn what_asking_again_would_not_mend_is_not_asked_again() {
    let check = |act: Act, expected: &str| {
        let (answered, times) = asked(vec![act, says(NOTHING)]);
        let error = answered.expect_err(expected);
        assert_eq!((times, error.message.contains(expected)), (1, true), "{error:?}");
        assert!(!error.message.contains("swordfish") && !error.message.contains(KEY), "{error:?}");
    };
    check(Act::Say(http(404, JSON, "swordfish")), "it answered 404");
    check(Act::Say(http(401, JSON, KEY)), "it answered 401");
    check(Act::Say(http(302, "location: http://127.0.0.1:1/\r\n", "")), "it answered 302; redirects are not followed");
    check(Act::Say(http(200, "content-type: text/html\r\n", NOTHING)), "not said to be application/json");
    check(Act::Say(http(200, "", NOTHING)), "not said to be application/json");
    check(says("swordfish"), "not what docs/context.md says (line 1, column 1)");
    check(says(r#"{"version":1,"memories":"swordfish"}"#), "not what docs/context.md says");
    check(says(r#"{"version":1,"memories":[{"source":"swordfish"}]}"#), "not what docs/context.md says");
    check(says(r#"{"memories":[]}"#), "not what docs/context.md says");
    check(says(r#"{"version":2}"#), "it speaks version 2, and this windlass version 1");
    check(says(&format!(r#"{{"version":1,"more":"{}"}}"#, "x".repeat(1 << 20))), "larger than 1048576 bytes");
}

#[test]
fn an_answer_that_never_begins_or_never_ends_is_given_up() {
    let silent = || Act::SayAndFallSilent(String::new());
    let endless = || Act::SayAndFallSilent(http_begun(NOTHING).replacen("\r\n", &format!("\r\n{JSON}"), 1));
    for act in [silent, endless] {
        let (answered, _) = asked_for(vec![act(), act(), act(), act()], Duration::from_millis(20));
        let error = answered.expect_err("it never ends");
        let told = ["0.02 s; it was asked 4 times", "could not be asked: it did"];
        assert!(told.iter().all(|words| error.message.contains(words)), "{error:?}");
    }
}

#[test]
fn an_address_that_cannot_be_one_is_refused_without_being_repeated() {
    with_tokio(async {
        for base_url in ["localhost:3001", "http://me:swordfish@localhost", "redis://localhost"] {
            let endpoint = Endpoint { base_url: base_url.to_owned(), key: None };
            let runtime = Arc::clone(&hasty_setup().runtime);
            let refused = ContextClient::new(endpoint, ContextPatience::default(), runtime);
            let error = refused.err().expect(base_url).to_string();
            assert!(error.starts_with("the URL ") && !error.contains("swordfish"), "{error}");
        }
    });
}
