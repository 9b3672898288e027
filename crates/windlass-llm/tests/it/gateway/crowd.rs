//! Many agents at once are all answered, and none is paid for twice or not at all.

use windlass_llm::Dialect;
use windlass_llm::gateway::{GatewayParts, Limits};

use super::support::{DIALECTS, Desk, Ledger, heard, parts, question, rehearsal};
use crate::support::with_tokio;

const SCRIPT: &str =
    "version: 1\ntracks: { worker: [ { reply: Hello., usage: { input: 5, output: 2 }, repeat: forever } ] }";

/// Runs them all together.
async fn together(desk: &Desk, count: usize) {
    let mut asking = Vec::new();
    for index in 0..count {
        asking.push(Box::pin(async move {
            let dialect: Dialect = DIALECTS[index % 3];
            let answer = desk.ask(dialect, &question(dialect, "hi", false)).await;
            assert_eq!(heard(dialect, &answer.json()).text, "Hello.", "{answer:?}");
        }));
    }
    std::future::poll_fn(|context| {
        asking.retain_mut(|ask| ask.as_mut().poll(context).is_pending());
        if asking.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

#[test]
fn two_hundred_at_once_are_each_answered_and_each_paid_for() {
    with_tokio(async {
        let ledger = Ledger::open();
        let desk = Desk::over(rehearsal(SCRIPT), &ledger);
        together(&desk, 200).await;
        let closed = ledger.closed();
        assert_eq!((ledger.opened(), closed.len()), (200, 200));
        assert_eq!(closed.iter().map(|metered| metered.usage.total()).sum::<u64>(), 1_400);
    });
}

#[test]
fn who_finds_no_place_waits_for_one() {
    with_tokio(async {
        let ledger = Ledger::open();
        let limits = Limits { connections: 2, body: 4 << 10, bodies: 1, ..Limits::default() };
        let desk = Desk::start(GatewayParts { limits, ..parts(rehearsal(SCRIPT), &ledger) });
        together(&desk, 30).await;
        assert_eq!(ledger.closed().len(), 30);
    });
}
