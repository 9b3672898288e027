//! A bad history shrinks to few acts and a story that says what went wrong.

use windlass_simulator::{Bug, QueueAct, QueueHistory, QueuePlan, examine_queues, play_queues, queue_story};

use super::support::shrink_to;

/// The first history that shows the bug, made short.
fn shortest(bug: Bug) -> QueueHistory {
    let bad = (0..).find_map(|seed| {
        let plan = QueuePlan::draw(seed).with_bug(bug);
        let complaints = examine_queues(&play_queues(&plan));
        let complaint = complaints.into_iter().find(|complaint| complaint.contains(bug.breaks()))?;
        Some((plan, complaint))
    });
    let (plan, complaint) = bad.expect("the bug is caught");
    let short = play_queues(&shrink_to(&plan, &complaint));
    assert!(short.plan.acts.len() < plan.acts.len(), "{} acts became {}", plan.acts.len(), short.plan.acts.len());
    assert!(examine_queues(&short).iter().any(|complaint| complaint.contains(bug.breaks())), "it is still bad");
    short
}

#[test]
fn a_takeover_that_comes_too_late_shrinks_to_a_request_and_a_death() {
    let short = shortest(Bug::Negligent);
    let story = queue_story(&short);
    let kinds: Vec<bool> = short.plan.acts.iter().map(|act| matches!(act, QueueAct::Befalls { .. })).collect();
    assert_eq!(kinds, [false, true], "{story}");
    for part in [&format!("seed {}", short.plan.seed), "leases [request", "takes [request", "over from worker"] {
        assert!(story.contains(part), "{part:?} is not in\n{story}");
    }
}

#[test]
fn what_needs_no_misfortune_shrinks_to_a_request() {
    let short = shortest(Bug::TaintDropped);
    assert!(matches!(short.plan.acts[..], [QueueAct::Asks(_)]), "{}", queue_story(&short));
    assert_eq!(short.plan.workers, 1);
}
