//! A script behind the gateway: the gateway's track plays whatever model is named, and what agents ask besides takes no place.

use windlass_llm::Dialect;
use windlass_llm::gateway::Outcome;

use super::support::{DIALECTS, Desk, Ledger, heard, question, rehearsal, usage};
use crate::support::with_tokio;

const SCRIPT: &str = r#"
version: 1
tracks:
  worker:
    - { reply: First., usage: { input: 40, output: 2 } }
    - error: { status: 429, retry_after: 1 }
    - { reply: Second., delay_ms: 1 }
    - error: { cut_stream_after: 3 }
    - reply: Third.
  default: [ { reply: Somebody else's. } ]
"#;

/// The request with so many answers in it.
fn at_turn(turn: usize) -> serde_json::Value {
    let mut request = question(Dialect::Chat, "go", true);
    let messages = request["messages"].as_array_mut().expect("messages");
    messages.extend((0..turn).map(|_| serde_json::json!({"role": "assistant", "content": "x"})));
    request
}

#[test]
fn the_track_is_the_gateways_in_every_language() {
    with_tokio(async {
        for dialect in DIALECTS {
            let ledger = Ledger::open();
            let desk = Desk::over(rehearsal(SCRIPT), &ledger);
            let mut request = question(dialect, "go", false);
            request["model"] = "rehearsal/default".into();
            let answer = desk.ask(dialect, &request).await.json();
            assert_eq!(
                (heard(dialect, &answer).text.as_str(), answer["model"].as_str()),
                ("First.", Some("rehearsal/default"))
            );
            let closed = ledger.closed();
            assert_eq!((closed[0].usage, closed[0].cost), (usage(40, 2), Some(windlass_domain::Usd::ZERO)));
        }
    });
}

#[test]
fn faults_of_the_script_are_faults_here_and_metered_as_such() {
    with_tokio(async {
        let ledger = Ledger::open();
        let desk = Desk::over(rehearsal(SCRIPT), &ledger);
        assert_eq!(desk.ask(Dialect::Chat, &at_turn(1)).await.status, 429);
        assert!(desk.ask(Dialect::Chat, &at_turn(1)).await.body.contains("Second."));
        let cut = desk.ask(Dialect::Chat, &at_turn(2)).await;
        assert!(!cut.is_whole && cut.body.contains("Thi") && !cut.body.contains("Third"), "{cut:?}");
        let off = desk.ask(Dialect::Chat, &at_turn(3)).await;
        assert!(off.status == 400 && off.body.contains("nothing for track `worker` at turn 3"), "{off:?}");
        let closed = ledger.closed();
        let spent = closed.iter().map(|metered| metered.usage.output).collect::<Vec<_>>();
        assert_eq!(spent, [0, 2, 1, 0]);
        assert_eq!(closed[1].outcome, Outcome::Answered);
        assert!([0, 2, 3].iter().all(|index: &usize| super::support::is_failed(&closed[*index])));
    });
}

#[test]
fn what_offers_no_tools_is_asked_on_the_side() {
    with_tokio(async {
        for (script, expect) in [
            (SCRIPT.to_owned(), "Untitled"),
            (format!("{SCRIPT}  side: [ {{ reply: A title., repeat: forever }} ]\n"), "A title."),
        ] {
            let ledger = Ledger::open();
            let desk = Desk::over(rehearsal(&script), &ledger);
            for dialect in DIALECTS {
                let mut title = question(dialect, "Generate a title", false);
                title["tools"] = serde_json::json!([]);
                let answer = desk.ask(dialect, &title).await.json();
                assert_eq!(heard(dialect, &answer).text, expect);
                // The conversation is where it was.
                let answer = desk.ask(dialect, &question(dialect, "go", false)).await.json();
                assert_eq!(heard(dialect, &answer).text, "First.");
            }
            let closed = ledger.closed();
            assert!(closed.iter().all(|metered| metered.usage.input > 0 && metered.usage.output > 0), "{closed:?}");
        }
    });
}
