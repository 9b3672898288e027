//! Every task that was submitted ends, within its attempts and iterations; what was accepted from outside is heeded once, or
//! still lies there because the task ended first. A task that did not end is told by what holds it up.

use windlass_domain::approval::{ApprovalState, CardId};
use windlass_domain::execution::ExecutionEvent;
use windlass_domain::task::{TaskState, TaskStatus};
use windlass_domain::{Awaited, QuestionState, RequestId, TaskId, TaskResultStatus};

use super::court::{Bench, Court};
use crate::engines::history::{EngineWhat, TaskEnd};
use crate::engines::plan::Wish;

/// Of one atom.
const MOST_INTERRUPTIONS: u32 = 20;

pub fn check(court: &Court<'_>) -> Vec<String> {
    let mut complaints = Vec::new();
    for record in &court.history.records {
        match &record.what {
            EngineWhat::Submitted { task, .. } if !court.tenants.iter().any(|bench| bench.tasks.contains_key(task)) => {
                complaints.push(format!("task {task} was accepted and is not in the store"));
            }
            EngineWhat::Told { task, wish, words } => complaints.extend(heeded(court, *task, *wish, words)),
            _ => {}
        }
    }
    for bench in &court.tenants {
        for end in &bench.end.tasks {
            let Some(state) = bench.tasks.get(&end.task) else { continue };
            complaints.extend(stuck(bench, end, state));
            complaints.extend(within_bounds(bench, end.task, state));
        }
    }
    complaints
}

fn stuck(bench: &Bench<'_>, end: &TaskEnd, state: &TaskState) -> Option<String> {
    let task = end.task;
    if state.is_over() {
        return None;
    }
    let is_open =
        |card: CardId| matches!(bench.approvals.get(&card).map(|it| &it.state), Some(ApprovalState::Requested { .. }));
    let is_asked = |question: RequestId| matches!(bench.questions.get(&question), Some(QuestionState::Open(_)));
    if state.waits_for.iter().copied().filter_map(Awaited::question).any(is_asked) && end.mailbox.is_empty() {
        return Some(format!("task {task} waits for an answer that nobody gives"));
    }
    if state.is_parked() && end.messages.is_empty() {
        return Some(match state.waits_for.iter().copied().filter_map(Awaited::card).any(is_open) {
            _ if state.status == Some(TaskStatus::Paused) => format!("task {task} is paused, and nobody resumes it"),
            true if !end.mailbox.is_empty() => format!("task {task} sleeps although somebody spoke to it"),
            true => format!("task {task} waits for a card whose time is up"),
            false => format!("task {task} sleeps although it was answered"),
        });
    }
    Some(match end.messages.is_empty() && !end.is_leased {
        true => format!("task {task} has nobody to drive it: {:?}", state.status),
        false => format!("task {task} did not end: {:?}", state.status),
    })
}

fn within_bounds(bench: &Bench<'_>, task: TaskId, state: &TaskState) -> Option<String> {
    let created = state.created.as_ref()?;
    let attempts = u32::try_from(state.attempts.len()).unwrap_or(u32::MAX);
    let most = created.command.execution_config.max_iterations;
    let asked = |event: &ExecutionEvent| matches!(event, ExecutionEvent::ModelRequested(_));
    let iterations =
        bench.executions(task).map(|execution| execution.events.iter().filter(|(_, event)| asked(event)).count());
    let too_many = iterations.max().unwrap_or_default() > most as usize;
    let is_out = attempts > created.budget.max_attempts || state.interruptions > MOST_INTERRUPTIONS || too_many;
    is_out.then(|| {
        format!("task {task} went beyond its bounds: {attempts} attempts, {} interruptions", state.interruptions)
    })
}

/// Words are heard once, or wait because the task failed first; who wanted an end has it, unless there was another first.
fn heeded(court: &Court<'_>, task: TaskId, wish: Wish, words: &str) -> Option<String> {
    let bench = court.tenants.iter().find(|bench| bench.tasks.contains_key(&task))?;
    let end = bench.end.tasks.iter().find(|end| end.task == task)?;
    let state = &bench.tasks[&task];
    let waiting = end.mailbox.iter().filter(|message| message.data.contains(words)).count();
    let heard = match wish {
        Wish::Say(_) => {
            let events = bench.executions(task).flat_map(|execution| &execution.events);
            let heard = events.filter(|(_, event)| {
                matches!(event, ExecutionEvent::InjectionReceived(received) if received.injection.content == words)
            });
            heard.count()
        }
        Wish::Cancel => {
            let result = state.result.as_ref().map(|result| result.status);
            usize::from(waiting == 0 && result == Some(TaskResultStatus::Cancelled))
        }
        // A cancel heeds it as well; that it went away says that it was heeded.
        Wish::Pause | Wish::Stop => usize::from(waiting == 0),
        // It is no message.
        Wish::Redirect(_) => return None,
    };
    let last = state.attempts.last().and_then(|attempt| attempt.ended.as_ref());
    let is_completed = state.result.as_ref().is_some_and(|result| result.status == TaskResultStatus::Completed);
    let is_done = is_completed && last.is_some_and(|ended| ended.error.is_none());
    if matches!(wish, Wish::Say(_)) && waiting > 0 && is_done {
        return Some(format!("an agent of task {task} was done before it had heard what was said to it"));
    }
    (heard + waiting != 1 && state.is_over())
        .then(|| format!("{wish:?} to task {task} was heeded {heard} times and waits {waiting} times"))
}
