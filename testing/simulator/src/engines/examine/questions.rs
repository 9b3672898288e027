//! An answer to a question reaches the agent once, or still lies there because the task ended first; and a question has one answer.

use std::collections::BTreeMap;

use windlass_domain::execution::ExecutionEvent;
use windlass_domain::{RequestId, TaskId};

use super::court::{Bench, Court};
use crate::engines::history::EngineWhat;

pub fn check(court: &Court<'_>) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut answers: BTreeMap<RequestId, usize> = BTreeMap::new();
    for record in &court.history.records {
        let EngineWhat::Replied { task, question, words, counts } = &record.what else { continue };
        *answers.entry(*question).or_default() += usize::from(*counts);
        let Some(bench) = court.tenants.iter().find(|bench| bench.tasks.contains_key(task)) else { continue };
        complaints.extend(delivered(bench, *task, words));
    }
    let too_many = answers.into_iter().filter(|(_, answers)| *answers > 1);
    complaints.extend(too_many.map(|(question, answers)| format!("question {question} has {answers} answers")));
    complaints
}

/// Also what came too late to be the answer is heard as what a person says.
fn delivered(bench: &Bench<'_>, task: TaskId, words: &str) -> Option<String> {
    let end = bench.end.tasks.iter().find(|end| end.task == task)?;
    let waiting = end.mailbox.iter().filter(|message| message.data.contains(words)).count();
    let events = bench.executions(task).flat_map(|execution| &execution.events);
    let heard = events.filter(|(_, event)| {
        matches!(event, ExecutionEvent::InjectionReceived(received) if received.injection.content.contains(words))
    });
    let heard = heard.count();
    let is_over = bench.tasks[&task].is_over();
    (is_over && heard + waiting != 1)
        .then(|| format!("`{words}` to task {task} was heard {heard} times and waits {waiting} times"))
}
