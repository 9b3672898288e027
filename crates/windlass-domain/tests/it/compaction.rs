//! What a compaction makes of a transcript, record by record.

use windlass_domain::{Message, Taint};

use crate::notation::Story;

/// `user …`, `agent …` and `tool …`, a message each.
fn transcript(story: &Story) -> Vec<String> {
    let shown = |message: &Message| match message {
        Message::User { text, .. } => format!("user {text}"),
        Message::Assistant { calls, .. } => {
            format!("agent {}", calls.iter().map(|call| call.call_id.0.as_str()).collect::<Vec<_>>().join(","))
        }
        Message::Tool(result) => format!("tool {}", result.content),
    };
    story.state.transcript.iter().map(|message| shown(message)).collect()
}

#[track_caller]
fn check(words: &str, expected: &[&str]) {
    let story = Story::told(&format!("create prompt launching running {words}"));
    assert_eq!(transcript(&story), expected, "{words}");
}

#[test]
fn results_become_references_where_they_stand() {
    check(
        "ask call:a,b start:a=once ok:a error:b compact clear:a relieve",
        &["user Fix the test", "agent a,b", "tool [a was here]", "tool output"],
    );
}

#[test]
fn a_conversation_goes_on_from_the_task_the_summary_and_the_recent_turns() {
    check(
        "inject ask call:a error:a ask call:b error:b compact clear: shorten:4",
        &["user Fix the test", "user Much was done.\n\nThey said: User says: hurry", "agent b", "tool output"],
    );
    check(
        "inject ask call:a error:a ask call:b error:b compact clear: shorten:4 ask call:c error:c compact clear: shorten:4",
        &["user Fix the test", "user Much was done.\n\nThey said: User says: hurry", "agent c", "tool output"],
    );
}

#[test]
fn a_flush_leaves_the_conversation_and_what_was_said_meanwhile_stays() {
    check("ask call:a error:a compact clear: flush ask say flushed", &["user Fix the test", "agent a", "tool output"]);
    check(
        "ask call:a error:a compact clear: flush inject ask say flushed",
        &["user Fix the test", "agent a", "tool output", "user User says: hurry"],
    );
    // What the agent did besides is work.
    check(
        "ask call:a error:a compact clear: flush ask call:b error:b flushed",
        &["user Fix the test", "agent a", "tool output", "agent b", "tool output"],
    );
}

#[test]
fn a_summary_is_heard_by_nobody_and_paid_for_all_the_same() {
    let story = Story::told(
        "create prompt launching running ask say inject compact clear: summarise:1=2 say[input=5,output=2]",
    );
    let cycle = story.state.compactions.open.as_ref().expect("it is under way");
    assert_eq!((cycle.summaries.len(), cycle.summarised_to, story.state.answers), (1, 2, 1));
    assert_eq!((story.state.transcript.len(), story.state.spent.iterations), (3, 2));
    assert_eq!(story.state.spent.usage.total(), 7);
}

#[test]
fn a_summary_that_was_lost_stays_spent_and_is_asked_for_again() {
    let story = Story::told(
        "create prompt launching running ask say inject compact clear: summarise:1=2 lost launching running",
    );
    let cycle = story.state.compactions.open.as_ref().expect("it is under way");
    assert_eq!((cycle.summaries.len(), cycle.stumbles, story.state.spent.usage.input), (0, 0, 1));
    let refused = Story::told("create prompt launching running ask say inject compact clear: summarise:1=2 no-answer");
    assert_eq!(refused.state.compactions.open.expect("it is under way").stumbles, 1);
}

#[test]
fn taint_and_labels_outlive_what_they_came_from() {
    let story = Story::told(
        "create prompt launching running inject@external ask call:a start:a=read ok:a@external compact clear:a shorten:2",
    );
    assert_eq!(story.state.taint, Taint::External);
    assert_eq!(story.state.labels.under(".scratch/a"), Taint::External, "a file that holds a result");
    assert_eq!(story.state.labels.under("elsewhere"), Taint::Auth);
}

#[test]
fn what_the_provider_refused_is_remembered_and_the_shortest_of_it_counts() {
    let story = Story::told("create prompt launching running overflow clear: relieve compact clear: relieve");
    let compactions = &story.state.compactions;
    assert_eq!((compactions.overflowed_at, compactions.left, compactions.finished), (Some(700), Some(100), 2));
}
