//! What the fold keeps of an execution that a program of its own carries: what has to be told when it goes on, and to whom it owes.

use windlass_domain::Usd;
use windlass_domain::execution::{Activity, ExecutionState};

use crate::notation::Story;

fn news(state: &ExecutionState) -> Vec<&str> {
    state.foreign.news.iter().map(|news| news.text.as_str()).collect()
}

fn check(words: &str, expected: &[&str]) {
    let run = Story::told(&format!("create[foreign=1] launching running {words}"));
    assert_eq!(news(&run.state), expected, "{words}");
}

#[test]
fn what_a_person_decided_is_told_when_the_program_goes_on() {
    check("propose:a wait:a", &[]);
    check("propose:a wait:a approve:a", &["A person approved `bash` with {}. Make this call now, exactly so."]);
    check("propose:a wait:a denied:a", &["`bash` with {}: output"]);
    // It was there to hear it.
    check("propose:a denied:a", &[]);
    check("propose:a start:a=once ok:a", &[]);
    check("propose:a start:a=once interrupted:a", &["`bash` with {}: output"]);
    // Whoever does something has heard what it was begun with.
    check("propose:a wait:a denied:a said:well=1", &[]);
    check("propose:a wait:a denied:a session:s=1", &["`bash` with {}: output"]);
}

#[test]
fn a_message_is_owed_until_it_is_delivered() {
    check("inject@auth", &["User says: hurry"]);
    check("inject@auth said:well=1", &["User says: hurry"]);
    check("inject@auth delivered", &[]);
}

#[test]
fn several_exchanges_may_be_open_and_each_is_paid_once() {
    let mut run = Story::told("create[foreign=1] launching running open:1[input=5,nanos=3] open:2[input=7]");
    assert_eq!(run.state.activity(), Activity::AwaitingAgentResponse);
    assert_eq!(run.state.spent_by(run.now).usage.input, 12);
    run.goes_on("close:1[input=50,nanos=30]");
    assert_eq!(run.state.spent_by(run.now).usage.input, 57);
    run.goes_on("lost");
    assert_eq!((run.state.spent.usage.input, run.state.spent.cost), (57, Usd::from_nanos(30)));
    run.goes_on("launching running open:3");
    assert_eq!((run.state.spent.iterations, run.state.foreign.last_exchange), (3, 3));
}

#[test]
fn the_newest_name_of_the_conversation_is_kept_and_a_turn_is_over_until_something_is_said() {
    let mut run = Story::told("create[foreign=1] launching running launch session:a=1 session:b=2 ended:done=3");
    assert_eq!(run.state.foreign.session_id.as_deref(), Some("b"));
    assert!(run.state.foreign.turn.is_some());
    run.goes_on("inject@auth delivered");
    assert!(run.state.foreign.turn.is_none());
    run.goes_on("ended:again=4 launch");
    assert!(run.state.foreign.turn.is_none());
    assert_eq!(run.state.foreign.launches, 2);
}
