//! Seed 000 §18.2 on the whole path, in time that does not pass: how often, how long, what is said meanwhile, what it cost.

use std::sync::Arc;
use std::time::Duration;

use windlass_domain::{Delta, Usage, Usd};
use windlass_llm::{Chat, Deadlines, Error, Provider, Rehearsal, Response, Script, Setup};

use crate::support::{Still, ask, opening, streamed, user};

fn chat(entries: &str, setup: Setup) -> Box<dyn Chat> {
    let script =
        Script::parse(&format!("version: 1\ntracks:\n  default:\n{entries}")).unwrap_or_else(|e| panic!("{e}"));
    let mut chat = Rehearsal::new(Arc::new(script), setup).open(opening("system"));
    chat.push(&user("go"));
    chat
}

fn play(entries: &str) -> (Result<Response, Error>, Vec<Delta>, Duration) {
    let (still, setup) = Still::setup();
    let mut chat = chat(entries, setup);
    let (result, seen) = still.run(ask(&mut *chat, 0));
    (result, seen, still.elapsed())
}

fn delays(seen: &[Delta]) -> Vec<u64> {
    let delay = |delta: &Delta| match delta {
        Delta::Retrying { delay_ms, .. } => Some(*delay_ms),
        _ => None,
    };
    seen.iter().filter_map(delay).collect()
}

#[test]
fn three_retries_after_one_two_and_four_seconds() {
    let (result, seen, elapsed) = play("    - error: {status: 503, times: 3}\n    - reply: at last\n");
    let response = result.expect("the fourth try");
    assert_eq!((response.text.as_str(), response.retries), ("at last", 3));
    assert_eq!(delays(&seen), [1000, 2000, 4000]);
    assert_eq!(elapsed, Duration::from_secs(7));
}

#[test]
fn four_failures_are_the_end_and_the_reason_is_told() {
    let (result, seen, _) =
        play("    - error: {status: 503, message: down for a nap, times: 4}\n    - reply: too late\n");
    assert_eq!(delays(&seen).len(), 3);
    let error = result.expect_err("no fifth try");
    assert!(error.is_transient());
    assert!(matches!(&error, Error::Unavailable { tries: 4, .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("4 tries") && text.contains("503") && text.contains("down for a nap"), "{text}");
}

#[test]
fn retry_after_is_waited_for() {
    let (result, seen, elapsed) = play("    - error: {status: 429, retry_after: 17, times: 2}\n    - reply: ok\n");
    assert_eq!(result.expect("the third try").retries, 2);
    assert_eq!(delays(&seen), [17_000, 17_000]);
    assert_eq!(elapsed, Duration::from_secs(34));
}

#[test]
fn a_provider_that_wants_an_hour_is_not_waited_for() {
    let (result, seen, elapsed) = play("    - error: {status: 429, retry_after: 3600}\n    - reply: ok\n");
    let error = result.expect_err("it is not waited for");
    assert!(error.is_transient() && error.to_string().contains("3600 s"), "{error}");
    assert!(seen.is_empty() && elapsed.is_zero());
}

#[test]
fn what_will_not_get_better_is_not_retried() {
    let check = |entry: &str, expect: fn(&Error) -> bool| {
        let (result, seen, _) = play(&format!("    - error: {entry}\n    - reply: ok\n"));
        let error = result.expect_err(entry);
        assert!(expect(&error) && !error.is_transient() && seen.is_empty(), "{entry}: {error:?}");
    };
    check("{status: 400}", |error| matches!(error, Error::Rejected { status: 400, .. }));
    check("{status: 401}", |error| matches!(error, Error::KeyRefused { status: 401, .. }));
    check("{status: 403}", |error| matches!(error, Error::KeyRefused { .. }));
    check("{status: 402}", |error| matches!(error, Error::OutOfCredit { .. }));
    check("{status: 404, message: the model does not exist}", |error| matches!(error, Error::UnknownModel { .. }));
    check("{status: 400, message: prompt is too long}", |error| matches!(error, Error::ContextOverflow { .. }));
}

#[test]
fn a_cut_answer_is_heard_again_from_the_beginning_and_stays_paid_for() {
    let entries =
        "    - error: {cut_stream_after: 5, times: 2}\n    - {reply: hello world, usage: {input: 1000, output: 10}}\n";
    let (result, seen, _) = play(entries);
    let response = result.expect("the third try");
    assert_eq!(streamed(&seen), "hello|hello|hello world");
    assert_eq!(response.usage, Usage { input: 1000, output: 10, ..Usage::default() });
    assert!(response.lost.input > 0 && response.lost.output == 4, "{:?}", response.lost);
    // gpt-4o: 2.50 and 10 dollars for a million.
    let expected = (1000 + response.lost.input) * 2_500 + (10 + response.lost.output) * 10_000;
    assert_eq!(response.cost, Some(Usd::from_nanos(expected)));
}

#[test]
fn an_answer_that_never_comes_whole_tells_what_it_cost() {
    let (result, _, _) = play("    - error: {cut_stream_after: 5, times: 9}\n    - reply: hello world\n");
    match result.expect_err("never whole") {
        Error::Unavailable { tries: 4, lost, lost_cost: Some(cost), reason } => {
            assert_eq!(lost.output, 8);
            assert!(cost > Usd::ZERO && reason.contains("cut"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_server_that_thinks_too_long_is_given_up_and_asked_again() {
    let (still, setup) = Still::setup();
    let deadlines = Deadlines { first_byte: Duration::from_secs(60), ..Deadlines::default() };
    let setup = Setup { deadlines, ..setup };
    let mut chat = chat("    - {delay_ms: 100000, reply: slow}\n", setup);
    let (result, seen) = still.run(ask(&mut *chat, 0));
    let error = result.expect_err("too slow each time");
    assert!(error.to_string().contains("did not begin to answer for 60 s"), "{error}");
    assert_eq!(delays(&seen), [1000, 2000, 4000]);
    assert_eq!(still.elapsed(), deadlines.first_byte * 4 + Duration::from_secs(7));
}

#[test]
fn a_slow_answer_within_its_deadline_is_waited_for() {
    let (result, seen, elapsed) = play("    - {delay_ms: 100000, reply: slow}\n");
    assert_eq!(result.expect("in time").text, "slow");
    assert_eq!((streamed(&seen).as_str(), elapsed), ("slow", Duration::from_secs(100)));
}
