//! The arrows of contracts §6, drawn: every one that exists, and every one that does not. Each state is reached by a
//! journal that really leads there.

use windlass_domain::execution::{Activity, Attention, Lifecycle};

use crate::notation::{Story, outcome, word_of};

/// Columns in the order of the rows: `x` is an arrow, `.` is none, `-` is an end that refuses everything.
const ARROWS: &str = "
    created         . x . . . . . x x
    launching       . . x . . x . x x
    running         . . . x x x x x x
    awaiting_input  . . x . . . . x x
    paused          . . x . . . . x x
    lost            . x . . . . . x .
    completed       - - - - - - - - -
    failed          - - - - - - - - -
    cancelled       - - - - - - - - -
";

fn way_to(lifecycle: Lifecycle) -> &'static str {
    match lifecycle {
        Lifecycle::Created => "create",
        Lifecycle::Launching => "create launching",
        Lifecycle::Running => "create launching running",
        Lifecycle::AwaitingInput => "create launching running awaiting_input",
        Lifecycle::Paused => "create launching running paused",
        Lifecycle::Lost => "create launching running lost",
        Lifecycle::Completed => "create launching running completed",
        Lifecycle::Failed => "create launching running failed",
        Lifecycle::Cancelled => "create launching running cancelled",
    }
}

#[test]
fn lifecycle_has_every_drawn_transition_and_no_other() {
    let rows: Vec<Vec<&str>> =
        ARROWS.lines().map(|row| row.split_whitespace().collect()).filter(|row: &Vec<_>| !row.is_empty()).collect();
    assert_eq!(rows.len(), Lifecycle::ALL.len());
    for (row, from) in rows.iter().zip(Lifecycle::ALL) {
        let story = Story::told(way_to(from));
        let from = word_of(&from);
        assert_eq!(row[0], from, "rows stand in the order of Lifecycle::ALL");
        assert_eq!(row.len(), 1 + Lifecycle::ALL.len());
        for (arrow, to) in row[1..].iter().zip(Lifecycle::ALL.map(|to| word_of(&to))) {
            let expected = match *arrow {
                "x" => format!("state.changed {from} > {to}"),
                "-" => "refused: over".to_owned(),
                _ => format!("refused: no move {from} > {to}"),
            };
            assert_eq!(outcome(&story.tell(&to)), expected);
        }
    }
}

#[test]
fn what_is_lost_is_recovered_through_launching_or_fails() {
    let story = Story::told("create launching running lost launching running completed");
    assert_eq!(story.state.lifecycle, Lifecycle::Completed);
    Story::told("create launching lost launching lost failed");
}

#[test]
fn activity_and_attention_follow_from_what_is_open() {
    let check = |words: &str, activity, attention| {
        let state = Story::told(words).state;
        assert_eq!((state.activity(), state.attention()), (activity, attention), "{words}");
    };
    check("create", Activity::Idle, Attention::None);
    check("create launching", Activity::Working, Attention::None);
    check("create launching running", Activity::Working, Attention::None);
    check("create launching running ask", Activity::AwaitingAgentResponse, Attention::None);
    check("create launching running ask call:a start:a=once", Activity::Working, Attention::None);
    check("create launching running ask paused", Activity::Idle, Attention::None);
    check("create launching running awaiting_input", Activity::Idle, Attention::NeedsInput);
    check("create launching running ask call:a wait:a=1 awaiting_input", Activity::Idle, Attention::NeedsApproval);
    let foreign = "create[foreign=1] launching running";
    check(&format!("{foreign} claim:needs_input=1 awaiting_input"), Activity::Idle, Attention::NeedsInput);
    check(&format!("{foreign} claim:blocked=1 awaiting_input"), Activity::Idle, Attention::Blocked);
    check(&format!("{foreign} claim:blocked=1 awaiting_input running"), Activity::Working, Attention::None);
    check("create launching running lost", Activity::Idle, Attention::Blocked);
    check("create launching running ask failed", Activity::Idle, Attention::None);
}

#[test]
fn an_execution_has_started_when_it_first_ran() {
    let mut story = Story::told("create +5 launching");
    assert_eq!(story.state.started_at(), None);
    story.goes_on("+5 running");
    let first = story.now;
    story.goes_on("+5 paused +5 running +5 prompt");
    assert_eq!(story.state.started_at(), Some(first));
    assert_eq!(story.state.last_at(), story.now);
}
