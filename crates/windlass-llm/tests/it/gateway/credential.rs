//! The real credential is in nothing that an agent hears, whatever upstream says. Each case has its control: upstream did say it.

use windlass_llm::Dialect;

use super::support::{DIALECTS, Desk, Ledger, model, question, wire};
use crate::support::{Act, KEY, TestServer, http, with_tokio};

#[test]
fn no_answer_and_no_error_tells_the_key() {
    with_tokio(async {
        let part = &KEY[..12];
        for dialect in DIALECTS {
            let error = format!(r#"{{"error":{{"message":"bad key {KEY}, or {part}****"}}}}"#);
            let said = [
                http(400, &format!("request-id: {KEY}\r\n"), &error),
                http(401, "", &error),
                http(403, "", &format!("<html>{KEY}</html>")),
                http(500, "", &error),
                http(200, "", &wire(dialect).events(&format!("your key is {KEY}"))),
                http(200, "", &error),
            ];
            for said in said {
                assert!(said.contains(KEY));
                for theirs in DIALECTS {
                    // Four times, for a client that asks again.
                    let server = TestServer::start(vec![Act::Say(said.clone()); 4]).await;
                    let ledger = Ledger::open();
                    let desk = Desk::over(model(dialect, &server.url), &ledger);
                    let answer = desk.ask(theirs, &question(theirs, "hi", true)).await;
                    let heard = format!("{answer:?} {:?}", ledger.closed());
                    assert!(!heard.contains(KEY), "{theirs:?}: {heard}");
                    // An answer is passed on as it is but for the key itself; in an error its beginning is hidden, too.
                    assert!(answer.status == 200 || !heard.contains(part), "{theirs:?}: {heard}");
                    assert_eq!(ledger.closed().len(), 1);
                }
            }
        }
    });
}

#[test]
fn a_key_that_upstream_refuses_is_told_once_and_for_all() {
    with_tokio(async {
        for theirs in DIALECTS {
            let refused = http(401, "", r#"{"error":{"message":"invalid x-api-key"}}"#);
            let server = TestServer::start(vec![Act::Say(refused)]).await;
            let desk = Desk::over(model(Dialect::Messages, &server.url), &Ledger::open());
            let answer = desk.ask(theirs, &question(theirs, "hi", true)).await;
            assert_eq!((answer.status, server.seen().len()), (400, 1), "{answer:?}");
            assert!(answer.body.contains("invalid x-api-key"), "{answer:?}");
        }
    });
}
