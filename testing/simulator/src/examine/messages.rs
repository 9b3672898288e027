//! What the operator said is heeded once, or still waits because the task ended first; and nobody is deaf for long.

use std::time::Duration;

use windlass_domain::execution::ExecutionEvent;
use windlass_domain::task::{TaskEvent, TaskStatus};
use windlass_domain::{TaskResultStatus, Wall};

use super::folded::Folded;
use crate::history::History;
use crate::operator::Act;
use crate::witness::Accepted;

/// With every hint lost a mailbox is looked at every five seconds; the rest is what looking and heeding take.
const DEAF_FOR: Duration = Duration::from_secs(6);

pub fn examine(history: &History, folded: &Folded) -> Vec<String> {
    let mut complaints = Vec::new();
    for accepted in &history.testimony.accepted {
        let heeded = times_heeded(accepted, folded);
        let waiting = history.mailbox.len();
        if heeded + waiting != 1 {
            let act = &accepted.act;
            complaints.push(format!("{act:?} was heeded {heeded} times and waits {waiting} times in the mailbox"));
        }
        if heeded == 0 && went_on_regardless(accepted, folded, history) {
            complaints.push(format!("{:?} was not heard for more than {DEAF_FOR:?}", accepted.act));
        }
    }
    complaints
}

fn times_heeded(accepted: &Accepted, folded: &Folded) -> usize {
    match &accepted.act {
        Act::Pause => {
            let paused =
                |event: &TaskEvent| matches!(event, TaskEvent::Changed(change) if change.status == TaskStatus::Paused);
            folded.task_events.iter().filter(|(_, event)| paused(event)).count()
        }
        Act::Cancel => usize::from(folded.result().is_some_and(|result| result.status == TaskResultStatus::Cancelled)),
        Act::Say(content) => {
            let events = folded.executions.iter().flat_map(|execution| &execution.events);
            let heard = events.filter(|(_, event)| {
                matches!(event, ExecutionEvent::InjectionReceived(received) if received.injection.content == *content)
            });
            heard.count()
        }
    }
}

/// Whether a living process did something that it would not have done had it looked.
fn went_on_regardless(accepted: &Accepted, folded: &Folded, history: &History) -> bool {
    let too_late = |at: Wall| at > accepted.at + DEAF_FOR;
    // A process that stalls is deaf through no fault of its own.
    if history.plan.stalls() {
        return false;
    }
    match accepted.act {
        Act::Pause | Act::Cancel => too_late(folded.ended_at()),
        Act::Say(_) => {
            let events = folded.executions.iter().flat_map(|execution| &execution.events);
            let mut asked = events.filter(|(_, event)| matches!(event, ExecutionEvent::ModelRequested(_)));
            asked.any(|(at, _)| too_late(*at))
        }
    }
}
