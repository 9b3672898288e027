//! Servers that talk nonsense, too much, too little, to others, or die.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use windlass_domain::CancelSignal;
use windlass_mcp::{Answer, Error};

use crate::scripted::{Does, Scripted, answer, but, good, short, tool};

const NEVER: fn() -> CancelSignal = CancelSignal::never;

async fn called(scripted: &Scripted) -> Result<Answer, Error> {
    scripted.call(&[tool("d")]).await
}

#[tokio::test]
async fn a_little_noise_is_borne_and_a_flood_is_not() {
    let noisy = |lines: usize| {
        but("tools/call", move |message| {
            let noise = (0..lines).map(|_| Does::Says("Server ready!".to_owned()));
            noise.chain([answer(message, &json!({"content": []}))]).collect()
        })
    };
    assert!(called(&noisy(5)).await.is_ok());
    assert!(matches!(called(&noisy(500)).await, Err(Error::Protocol(_))));
}

#[tokio::test]
async fn notices_without_end_are_cut_off_by_their_bytes() {
    let scripted = but("tools/call", |_| {
        let notice = json!({"method": "notifications/message", "params": "x".repeat(1_000)}).to_string();
        (0..100).map(|_| Does::Says(notice.clone())).collect()
    });
    assert!(matches!(called(&scripted).await, Err(Error::Protocol(_))));
}

#[tokio::test]
async fn a_message_too_long_ends_the_session() {
    let scripted = but("tools/call", |message| vec![answer(message, &json!("x".repeat(20_000)))]);
    let server = scripted.server(&[tool("d")], short());
    assert!(matches!(server.call("t", &json!({}), &NEVER()).await, Err(Error::Protocol(_))));
    assert!(matches!(server.call("t", &json!({}), &NEVER()).await, Err(Error::Protocol(_))));
    assert_eq!(scripted.lives(), 2);
}

#[tokio::test]
async fn an_answer_to_another_question_is_none() {
    let scripted = but("tools/call", |message| {
        let id = message["id"].as_u64().unwrap();
        let wrong = [json!(id + 1), json!(0), json!(id.to_string()), json!(null)];
        wrong.map(|id| Does::Says(json!({"id": id, "result": {"content": []}}).to_string())).into()
    });
    assert!(matches!(called(&scripted).await, Err(Error::Late { .. })));
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up_and_may_answer_the_next_call() {
    let calls = AtomicUsize::new(0);
    let scripted = but("tools/call", move |message| match calls.fetch_add(1, Ordering::Relaxed) {
        0 => Vec::new(),
        _ => good(message, &tool("d")),
    });
    let server = scripted.server(&[tool("d")], short());
    assert!(matches!(server.call("t", &json!({}), &NEVER()).await, Err(Error::Late { .. })));
    assert!(scripted.methods().contains(&"notifications/cancelled".to_owned()));
    assert!(server.call("t", &json!({}), &NEVER()).await.is_ok());
    assert_eq!(scripted.lives(), 1);
}

#[tokio::test]
async fn a_call_during_which_it_dies_is_not_made_again() {
    let scripted = but("tools/call", |_| vec![Does::Ends]);
    let error = called(&scripted).await.unwrap_err();
    assert_eq!(error, Error::Broken("the program has ended; it last complained: out of cheese".to_owned()));
    assert_eq!(scripted.methods().iter().filter(|method| *method == "tools/call").count(), 1);
}

#[tokio::test]
async fn one_that_died_between_calls_is_begun_anew_once() {
    let lists = AtomicUsize::new(0);
    let scripted = but("tools/list", move |message| match lists.fetch_add(1, Ordering::Relaxed) {
        1 => vec![Does::Ends],
        _ => good(message, &tool("d")),
    });
    let server = scripted.server(&[tool("d")], short());
    for _ in 0..3 {
        assert!(server.call("t", &json!({}), &NEVER()).await.is_ok());
    }
    assert_eq!(scripted.lives(), 2);
}

#[tokio::test]
async fn what_fails_before_the_call_has_not_called() {
    for method in ["initialize", "tools/list"] {
        let scripted = but(method, |_| vec![Does::Ends]);
        assert!(matches!(called(&scripted).await, Err(Error::Unreachable(_))), "{method}");
        assert_eq!(scripted.lives(), 1);
    }
    let old = but("initialize", |message| vec![answer(message, &json!({"protocolVersion": "1999-01-01"}))]);
    assert!(matches!(called(&old).await, Err(Error::Unreachable(_))));
}

#[tokio::test]
async fn a_list_without_end_or_measure_is_refused() {
    let endless = but("tools/list", |message| vec![answer(message, &json!({"tools": [], "nextCursor": "again"}))]);
    assert!(matches!(endless.server(&[], short()).list(&NEVER()).await, Err(Error::Protocol(_))));
    let many = but("tools/list", |message| {
        let tools: Vec<_> = (0..201).map(|number| json!({"name": format!("t{number}")})).collect();
        vec![answer(message, &json!({"tools": tools}))]
    });
    assert!(matches!(many.server(&[], short()).list(&NEVER()).await, Err(Error::Protocol(_))));
}

#[tokio::test]
async fn a_refusal_keeps_the_session() {
    let scripted = but("tools/call", |message| {
        vec![Does::Says(json!({"id": message["id"], "error": {"code": -32602, "message": "no"}}).to_string())]
    });
    let server = scripted.server(&[tool("d")], short());
    for _ in 0..2 {
        let refused = server.call("t", &json!({}), &NEVER()).await;
        assert_eq!(refused, Err(Error::Refused { code: -32602, message: "no".to_owned() }));
    }
    assert_eq!(scripted.lives(), 1);
}
