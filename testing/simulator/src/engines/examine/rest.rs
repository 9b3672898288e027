//! Whose work is done holds nothing: a task that is over has no lease, no message, no sandbox, no open card, no open
//! question and no timer.

use windlass_domain::QuestionState;
use windlass_domain::approval::ApprovalState;
use windlass_domain::task::TaskState;

use super::court::Court;
use crate::engines::plan::Act;
use crate::queues::Blow;

pub fn check(court: &Court<'_>) -> Vec<String> {
    let mut complaints = Vec::new();
    // Whoever sleeps has yet to notice that its sandbox and its folder are nobody's any more; whoever starts next takes folders away.
    let has_slept = |act: &Act| matches!(act, Act::Befalls { blow: Blow::Stops(_) | Blow::Freezes(_), .. });
    let may_sleep = court.history.plan.acts.iter().any(has_slept);
    for bench in &court.tenants {
        let is_over = |task| bench.tasks.get(task).is_some_and(TaskState::is_over);
        for end in bench.end.tasks.iter().filter(|end| is_over(&end.task)) {
            let held = [
                (end.is_leased, "a lease"),
                (!end.messages.is_empty(), "a message"),
                (end.has_sandbox && !may_sleep, "a sandbox"),
            ];
            let held = held.into_iter().filter(|(held, _)| *held);
            complaints.extend(held.map(|(_, what)| format!("task {} is over and has {what}", end.task)));
        }
        if !bench.tasks.keys().all(is_over) {
            continue;
        }
        let open = bench.approvals.iter().filter(|(_, it)| matches!(it.state, ApprovalState::Requested { .. }));
        complaints.extend(open.map(|(card, _)| format!("card {card} is open, and its task is over")));
        let asked = bench.questions.iter().filter(|(_, state)| matches!(state, QuestionState::Open(_)));
        complaints.extend(asked.map(|(question, _)| format!("question {question} is open, and its task is over")));
        let mut worktrees = court.history.worktrees.iter().filter(|_| !may_sleep);
        if worktrees.any(|name| bench.tasks.keys().any(|task| task.to_string() == *name)) {
            complaints.push(format!("{}: folders of attempts are left", bench.end.tenant));
        }
        if !bench.end.review.is_empty() || bench.end.timers > 0 {
            let (review, timers) = (bench.end.review.len(), bench.end.timers);
            complaints.push(format!("{}: {review} questions and {timers} timers are left", bench.end.tenant));
        }
    }
    complaints
}
