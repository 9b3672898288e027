//! Each time that was due has one consequence: a limit of a task is up at most once and then it ends or rests; each look that a monitor
//! was told to is heard once, or still lies there because the task ended or rests; none comes after the monitor's end; and a
//! deadline that has come is not overlooked.

use std::collections::BTreeMap;
use std::time::Duration;

use windlass_domain::execution::ExecutionEvent;
use windlass_domain::monitor::MonitorEvent;
use windlass_domain::task::{Control, DeadlineAction, TaskEvent, TaskState, TimeLimit};
use windlass_domain::{TaskId, TaskResultStatus};
use windlass_store::StoredEvent;

use super::court::{Bench, Court};
use crate::engines::plan::Act;

/// What is in flight when it comes is heard to its end.
const LATE: Duration = Duration::from_secs(10);

pub fn check(court: &Court<'_>) -> Vec<String> {
    let mut complaints = Vec::new();
    for bench in &court.tenants {
        for (task, state) in &bench.tasks {
            complaints.extend(limits(bench, *task, state));
            complaints.extend(overlooked(court, bench, *task, state));
        }
        let mut monitors: BTreeMap<TaskId, Vec<MonitorEvent>> = BTreeMap::new();
        for row in bench.end.events.iter().filter(|row| row.stream.kind() == "monitor") {
            let Ok(task) = row.stream.id().parse() else { continue };
            match MonitorEvent::decode(&row.kind, row.version, &row.data) {
                Ok(event) => monitors.entry(task).or_default().push(event),
                Err(unreadable) => complaints.push(format!("the monitor of task {task}: {unreadable}")),
            }
        }
        for (task, events) in monitors {
            complaints.extend(looks(bench, task, &events));
        }
    }
    complaints
}

fn time_ups(bench: &Bench<'_>, task: TaskId) -> usize {
    let of_task = |row: &&StoredEvent| row.stream.kind() == "task" && row.stream.id() == task.to_string();
    let events = bench.end.events.iter().filter(of_task);
    let events = events.filter_map(|row| TaskEvent::decode(&row.kind, row.version, &row.data).ok());
    events.filter(|event| matches!(event, TaskEvent::TimeUp(up) if up.limit == TimeLimit::Deadline)).count()
}

fn limits(bench: &Bench<'_>, task: TaskId, state: &TaskState) -> Vec<String> {
    let mut complaints = Vec::new();
    let times = time_ups(bench, task);
    if times > 1 {
        complaints.push(format!("the deadline of task {task} came {times} times"));
    }
    let Some(result) = &state.result else { return complaints };
    let expected = match state.ends_by().map(|up| up.action) {
        Some(DeadlineAction::Fail) => TaskResultStatus::Failed,
        Some(DeadlineAction::CompletePartial) => TaskResultStatus::Completed,
        Some(DeadlineAction::PauseAndNotify) | None => return complaints,
    };
    // Somebody may give up what is about to end.
    if result.status != expected && result.status != TaskResultStatus::Cancelled {
        complaints.push(format!("the time of task {task} was up, and it ended as {:?}", result.status));
    }
    complaints
}

fn looks(bench: &Bench<'_>, task: TaskId, events: &[MonitorEvent]) -> Vec<String> {
    let mut complaints = Vec::new();
    let (mut firings, mut is_over) = (0_u32, false);
    for event in events {
        match event {
            MonitorEvent::Set(_) => is_over = false,
            MonitorEvent::Ended(_) if is_over => complaints.push(format!("the monitor of task {task} ended twice")),
            MonitorEvent::Ended(_) => is_over = true,
            MonitorEvent::Fired(fired) => {
                firings += 1;
                if is_over || fired.firing != firings {
                    complaints.push(format!("look {} of task {task} is one that nobody wants", fired.firing));
                }
                complaints.extend(heard(bench, task, fired.message_id));
            }
        }
    }
    let told = words_to_look(bench, task);
    if told != firings as usize {
        complaints.push(format!("task {task} has {told} words to look, and was told to {firings} times"));
    }
    complaints
}

/// Heard, or still in its mailbox.
fn words_to_look(bench: &Bench<'_>, task: TaskId) -> usize {
    let end = bench.end.tasks.iter().find(|end| end.task == task);
    let waiting = end.iter().flat_map(|end| &end.mailbox).filter(|mail| {
        let control = Control::decode(&mail.kind, mail.version, &mail.data);
        matches!(control, Ok(Control::Inject(injection)) if injection.is_check())
    });
    let events = bench.executions(task).flat_map(|execution| &execution.events);
    let heard = events
        .filter(|(_, event)| matches!(event, ExecutionEvent::InjectionReceived(told) if told.injection.is_check()));
    waiting.count() + heard.count()
}

/// Where nobody sets a clock, stops or sleeps, whoever is not done by its deadline hears of it soon.
fn overlooked(court: &Court<'_>, bench: &Bench<'_>, task: TaskId, state: &TaskState) -> Option<String> {
    let is_disturbed = court.history.plan.acts.iter().any(|act| matches!(act, Act::Jumps { .. } | Act::Befalls { .. }));
    let deadline = state.created.as_ref()?.command.execution_config.deadline()?;
    let of_task = |row: &&StoredEvent| row.stream.kind() == "task" && row.stream.id() == task.to_string();
    let last = bench.end.events.iter().filter(of_task).map(|row| row.at).max()?;
    let is_late = last > deadline.at + LATE || !state.is_over();
    (!is_disturbed && is_late && !state.is_up(TimeLimit::Deadline))
        .then(|| format!("the deadline of task {task} was overlooked"))
}

fn heard(bench: &Bench<'_>, task: TaskId, message: windlass_domain::MessageId) -> Option<String> {
    let end = bench.end.tasks.iter().find(|end| end.task == task)?;
    let waiting = end.mailbox.iter().filter(|mail| mail.message_id == message).count();
    let events = bench.executions(task).flat_map(|execution| &execution.events);
    let heard = events
        .filter(|(_, event)| matches!(event, ExecutionEvent::InjectionReceived(told) if told.message_id == message))
        .count();
    (heard + waiting != 1)
        .then(|| format!("a word to look was heard by task {task} {heard} times and waits {waiting} times"))
}
