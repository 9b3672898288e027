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
    run.goes_on("open:4[output=90]");
    assert_eq!((run.state.spent_by(run.now).usage.output, run.state.committed_by(run.now).usage.output), (0, 90));
    run.goes_on("lost");
    assert_eq!(run.state.committed_by(run.now).usage.output, 0, "of an answer that was lost nothing is known");
    assert_eq!((run.state.spent.usage.input, run.state.spent.cost), (57, Usd::from_nanos(30)));
    run.goes_on("launching running open:5");
    assert_eq!((run.state.spent.iterations, run.state.foreign.last_exchange), (4, 5));
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

/// Told so far: whether its channel is doubted, the conversation it would go on with, and whether something would be lost.
fn check_doubt(words: &str, expected: (bool, Option<&str>, bool)) {
    let run = Story::told(&format!("create[foreign=1] launching running {words}"));
    let foreign = &run.state.foreign;
    let told = (foreign.is_channel_doubted(), foreign.session_id.as_deref(), foreign.has_something_to_lose);
    assert_eq!(told, expected, "{words}");
}

#[test]
fn a_channel_that_is_doubted_stays_so_and_a_version_is_only_looked_at() {
    check_doubt("launch", (false, None, false));
    check_doubt("launch doubt:version=1", (false, None, false));
    check_doubt("launch doubt:channel=1", (true, None, false));
    check_doubt("launch doubt:channel=1 launch said:well=2", (true, None, false));
    check_doubt("launch doubt:channel=1 lost launching running", (true, None, false));
}

#[test]
fn a_conversation_that_never_began_is_not_gone_on_with() {
    check_doubt("launch session:s=1 doubt:version=2", (false, Some("s"), false));
    check_doubt("launch session:s=1 doubt:channel=2", (true, None, false));
    check_doubt("launch session:s=1 open:1 close:1 doubt:channel=2", (true, Some("s"), false));
}

#[test]
fn whoever_has_acted_or_was_spoken_to_since_its_start_has_something_to_lose() {
    check_doubt("launch said:well=1", (false, None, false));
    check_doubt("launch called:c=1", (false, None, true));
    check_doubt("launch propose:a", (false, None, false));
    check_doubt("launch propose:a start:a=once", (false, None, true));
    check_doubt("launch propose:a start:a=once ok:a launch", (false, None, false));
    check_doubt("inject@auth launch delivered", (false, None, true));
}
