//! What a parent's fold makes of the agents it spawned.

use windlass_domain::execution::{MOST_CHILDREN, Rejected};
use windlass_domain::{CallId, Taint};

use crate::notation::{Story, child, id};

const SPAWNED: &str = "create launching running prompt ask call:a,b start:a=child spawn:a start:b=child spawn:b";

#[test]
fn what_a_child_used_and_learnt_is_its_parents() {
    let before = Story::told(SPAWNED);
    assert_eq!(before.state.sub_agents(), 2);
    let story = Story::told(&format!("{SPAWNED} charge:a@external[input=40,nanos=7] ok:a@external"));
    assert_eq!(story.state.spent.usage.input, before.state.spent.usage.input + 40);
    assert_eq!(story.state.spent.cost.as_nanos(), 7);
    assert_eq!(story.state.labels.under("by-a-child"), Taint::External);
    assert_eq!(story.state.labels.under("elsewhere"), Taint::Auth);
    assert_eq!(story.state.sub_agents(), 4, "and the two that it spawned itself");
    let ended = story.state.child_of(&id("a")).and_then(|child| child.ended);
    assert_eq!((ended, story.state.taint), (Some(Taint::External), Taint::External));
    assert_eq!(story.state.child_of(&id("b")).map(|child| (child.execution_id, child.ended)), Some((child("b"), None)));
}

#[test]
fn a_judges_bill_leaves_nothing_else_behind() {
    let before = Story::told(SPAWNED);
    let story = Story::told(&format!("{SPAWNED} charge[input=40]"));
    assert_eq!(story.state.children, before.state.children);
    assert_eq!((story.state.taint, &story.state.labels), (before.state.taint, &before.state.labels));
}

#[test]
fn there_is_a_last_one() {
    let calls: Vec<String> = (0..=MOST_CHILDREN).map(|number| format!("c{number}")).collect();
    let begun = calls.iter().map(|call| format!(" start:{call}=child")).collect::<String>();
    let mut story = Story::told(&format!("create launching running ask call:{}{begun}", calls.join(",")));
    for call in &calls[..MOST_CHILDREN] {
        story.goes_on(&format!("spawn:{call}"));
    }
    let refused = story.tell(&format!("spawn:{}", calls[MOST_CHILDREN])).map(|_| CallId(String::new()));
    assert_eq!(refused, Err(Rejected::TooManyChildren));
}
